// Three members over TLS: one is killed, paused, or loses the lead, while writes and a watch go on.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import type { EtcdTransport } from './endpoint.ts';
import { EtcdStorage } from './etcd-storage.ts';
import { eventually } from './testing/events.ts';
import type { Revision, StorageEvent } from './storage.ts';
import { EtcdCluster } from './testing/etcd-process.ts';
import { writeTlsFiles } from './testing/tls-files.ts';

let cluster: EtcdCluster;
const never = new AbortController().signal;

beforeAll(async () => {
  cluster = await EtcdCluster.start({ memberCount: 3, tls: true });
});
afterAll(async () => {
  await cluster.stop();
});

/** A storage that uses member `first` first. */
function open(first: number, transport: EtcdTransport = 'http2'): EtcdStorage {
  const endpoints = [...cluster.endpoints.slice(first), ...cluster.endpoints.slice(0, first)];
  return new EtcdStorage({
    ...cluster.connection,
    endpoints,
    transport,
    readAttemptMs: 1_000,
    writeTimeoutMs: 3_000,
    watchSilenceMs: 500,
  });
}

interface Traffic {
  /** Keys whose write was acknowledged, with the revision. */
  readonly written: Map<string, Revision>;
  /** Keys whose write may have happened. */
  readonly unknown: Set<string>;
  readonly events: StorageEvent[];
  /** Ends the writing; resolves when the watch has shown every acknowledged write. */
  finish(): Promise<void>;
}

function startTraffic(storage: EtcdStorage, prefix: string, after: Revision): Traffic {
  const ending = new AbortController();
  const written = new Map<string, Revision>();
  const unknown = new Set<string>();
  const events: StorageEvent[] = [];
  const watching = (async () => {
    for await (const batch of storage.watch(prefix, after, ending.signal)) {
      events.push(...batch.events);
    }
  })().catch((error: unknown) => error);
  let isWriting = true;
  const writing = (async () => {
    for (let index = 0; isWriting; index++) {
      const key = `${prefix}${String(index)}`;
      try {
        const result = await storage.put(key, Buffer.from('x'), { expected: 0 }, never);
        if (result.ok) written.set(key, result.revision);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        if (error.code === 504) unknown.add(key);
        else expect(error.code).toBe(503);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const finish = async (): Promise<void> => {
    isWriting = false;
    await writing;
    await eventually(() => {
      const seen = new Set(events.map((event) => (event.type === 'put' ? event.item.key : '')));
      expect([...written.keys()].filter((key) => !seen.has(key))).toEqual([]);
    });
    ending.abort(new Error('finished'));
    expect(await watching).toMatchObject({ message: 'finished' });
  };
  return { written, unknown, events, finish };
}

/**
 * Each acknowledged write once at its revision, nothing else but writes of unknown outcome, in
 * order.
 */
function expectWholeHistory(traffic: Traffic): void {
  let last = 0;
  for (const event of traffic.events) {
    if (event.type !== 'put') throw new Error('nothing was deleted');
    expect(event.item.modRevision).toBeGreaterThan(last);
    last = event.item.modRevision;
    const revision = traffic.written.get(event.item.key);
    if (revision === undefined) expect(traffic.unknown).toContain(event.item.key);
    else expect(event.item.modRevision).toBe(revision);
  }
  const keys = traffic.events.map((event) => (event.type === 'put' ? event.item.key : ''));
  expect(new Set(keys).size).toBe(keys.length);
}

const faults: Record<
  string,
  { break(index: number): Promise<void>; heal(index: number): Promise<void> }
> = {
  killed: {
    break: (index) => cluster.kill(index),
    heal: (index) => cluster.restart(index),
  },
  paused: {
    break: (index) => cluster.pause(index),
    heal: (index) => {
      cluster.resume(index);
      return Promise.resolve();
    },
  },
};

test.each<[string, string, EtcdTransport]>([
  ['killed', 'the member in use', 'http2'],
  ['killed', 'the leader', 'http2'],
  ['paused', 'the member in use', 'http2'],
  ['paused', 'the leader', 'http2'],
  ['killed', 'the leader', 'grpc-js'],
  ['paused', 'the member in use', 'grpc-js'],
])(
  '%s: %s by %s; all goes on with another one, nothing is lost',
  async (fault, which, transport) => {
    const leader = await cluster.leader();
    const used = which === 'the leader' ? leader : (leader + 1) % 3;
    const storage = open(used, transport);
    try {
      const after = await storage.currentRevision(never);
      const traffic = startTraffic(
        storage,
        `/registry/${fault}-${String(used)}-${transport}/`,
        after,
      );
      await eventually(() => {
        expect(traffic.events.length).toBeGreaterThan(20);
      });
      await faults[fault]?.break(used);
      const before = traffic.written.size;
      await eventually(() => {
        expect(traffic.written.size).toBeGreaterThan(before + 20);
        expect(traffic.events.length).toBeGreaterThan(before + 20);
      });
      expect(await storage.currentRevision(never)).toBeGreaterThan(after);
      await faults[fault]?.heal(used);
      await traffic.finish();
      expectWholeHistory(traffic);
    } finally {
      storage.close();
    }
  },
);

test('the lead moves: writes and the watch go on', async () => {
  const storage = open(await cluster.leader());
  try {
    const after = await storage.currentRevision(never);
    const traffic = startTraffic(storage, '/registry/moved/', after);
    for (let round = 0; round < 3; round++) {
      const before = traffic.written.size;
      await cluster.moveLeader();
      await eventually(() => {
        expect(traffic.written.size).toBeGreaterThan(before + 20);
      });
    }
    await traffic.finish();
    expectWholeHistory(traffic);
  } finally {
    storage.close();
  }
});

test('without a quorum calls end with 503 or 504 in time, and work again after', async () => {
  const storage = new EtcdStorage({
    ...cluster.connection,
    readAttemptMs: 500,
    readTimeoutMs: 2_000,
    writeTimeoutMs: 2_000,
  });
  try {
    await storage.currentRevision(never);
    await Promise.all([cluster.kill(0), cluster.kill(1)]);
    await expect(storage.currentRevision(never)).rejects.toMatchObject({ code: 503 });
    const failed = storage.put('/registry/quorum', Buffer.from('x'), { expected: 0 }, never);
    const error: unknown = await failed.catch((reason: unknown) => reason);
    expect([503, 504]).toContain(error instanceof StatusError ? error.code : 0);
    await Promise.all([cluster.restart(0), cluster.restart(1)]);
    await eventually(async () => {
      await storage.currentRevision(never);
    });
  } finally {
    storage.close();
  }
});

test('a client without its certificate is refused', async () => {
  const { caFile } = cluster.tlsFiles ?? {};
  const tls = caFile === undefined ? {} : { caFile };
  const storage = new EtcdStorage({ endpoints: cluster.endpoints, tls, readTimeoutMs: 1_000 });
  await expect(storage.currentRevision(never)).rejects.toMatchObject({ code: 503 });
  storage.close();
});

test('renewed certificate files are taken without a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-etcd-tls-'));
  const tls = await writeTlsFiles(folder);
  const storage = new EtcdStorage({ endpoints: cluster.endpoints, tls, readTimeoutMs: 500 });
  try {
    await expect(storage.currentRevision(never)).rejects.toMatchObject({ code: 503 });
    const good = cluster.tlsFiles;
    if (good === undefined) throw new Error('the cluster serves TLS');
    for (const file of ['caFile', 'certFile', 'keyFile'] as const) {
      copyFileSync(good[file], tls[file]);
    }
    await eventually(async () => {
      expect(await storage.currentRevision(never)).toBeGreaterThan(0);
    });
  } finally {
    storage.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
