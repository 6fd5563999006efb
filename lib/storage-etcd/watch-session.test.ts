// What a watch makes of streams that a healthy etcd would not send: a member that plays a script
// over gRPC.
import { afterEach, describe, expect, test } from '@jest/globals';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { handleBidiStreamingCall, handleUnaryCall, ServerDuplexStream } from '@grpc/grpc-js';
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { EtcdStorage } from './etcd-storage.ts';
import { eventually } from './testing/events.ts';
import type { WatchBatch } from './storage.ts';

type Message = Record<string, unknown>;
type Stream = ServerDuplexStream<Message, Message>;
/** Plays the n-th watch stream; called with its create request. */
type Script = (stream: Stream, create: Message, index: number) => void;

const proto = readFileSync(new URL('./proto/etcd.proto', import.meta.url), 'utf8');
const { root } = protobuf.parse(proto, { keepCase: true });
const header = (revision: number): Message => ({ cluster_id: 7, member_id: 1, revision });
interface Stored {
  readonly create_revision?: number;
  readonly version?: number;
  readonly value?: string;
}
const put = (key: string, revision: number, { value = key, ...stored }: Stored = {}): Message => ({
  type: 0,
  kv: {
    key,
    mod_revision: revision,
    create_revision: revision,
    version: 1,
    value: Buffer.from(value),
    ...stored,
  },
});
const remove = (key: string, revision: number): Message => ({
  type: 1,
  kv: { key, mod_revision: revision },
});
const created = { header: header(100), watch_id: 0, created: true };
const events = (revision: number, ...list: readonly Message[]): Message => ({
  header: header(revision),
  watch_id: 0,
  events: list,
});

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const codec = (
  type: string,
): { encode: (m: Message) => Buffer; decode: (b: Buffer) => Message } => ({
  encode: (message) => root.lookupType(`etcdserverpb.${type}`).encode(message).finish() as Buffer,
  decode: (bytes) => root.lookupType(`etcdserverpb.${type}`).decode(bytes),
});
const definition = (path: string, request: string, response: string, stream: boolean) => ({
  path: `/etcdserverpb.${path}`,
  requestStream: stream,
  responseStream: stream,
  requestSerialize: codec(request).encode,
  requestDeserialize: codec(request).decode,
  responseSerialize: codec(response).encode,
  responseDeserialize: codec(response).decode,
});

interface Member {
  readonly version?: string;
  /** Reads whose connection is cut in place of an answer, counted from 0. */
  readonly cutsRead?: number;
}

async function scriptedMember(script: Script, member: Member = {}): Promise<EtcdStorage> {
  const { version = '3.5.30', cutsRead } = member;
  const server = new Server();
  let index = 0;
  let readCount = 0;
  let address = '';
  const watch: handleBidiStreamingCall<Message, Message> = (stream) => {
    stream.on('error', () => undefined);
    stream.on('data', (request: { create_request?: Message | null }) => {
      if (request.create_request) script(stream, request.create_request, index++);
    });
  };
  const status: handleUnaryCall<Message, Message> = (_call, answer) => {
    answer(null, { header: header(100), version });
  };
  const range: handleUnaryCall<Message, Message> = (call, answer) => {
    if (readCount++ === cutsRead) {
      server.drain(address, 0);
      return;
    }
    const { revision, key } = call.request as { revision: protobuf.Long; key: string };
    const found = Number(revision) > 0 ? [(put(key, Number(revision)) as { kv: Message }).kv] : [];
    answer(null, { header: header(100), kvs: found, count: found.length });
  };
  server.addService(
    {
      watch: definition('Watch/Watch', 'WatchRequest', 'WatchResponse', true),
      status: definition('Maintenance/Status', 'StatusRequest', 'StatusResponse', false),
      range: definition('KV/Range', 'RangeRequest', 'RangeResponse', false),
    },
    { watch, status, range },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  address = `127.0.0.1:${String(port)}`;
  const storage = new EtcdStorage({ endpoints: [`http://${address}`] });
  closing.push(() => {
    storage.close();
    server.forceShutdown();
  });
  return storage;
}

/** `key@revision` of the first `count` events, or the code that ended the watch. */
async function watched(storage: EtcdStorage, after: number, count: number): Promise<unknown[]> {
  const seen: unknown[] = [];
  const limit = AbortSignal.timeout(60_000);
  try {
    for await (const batch of storage.watch('/registry/', after, limit)) {
      for (const event of batch.events) {
        if (event.type === 'put') seen.push(`${event.item.key}@${String(event.item.modRevision)}`);
      }
      if (seen.length >= count) break;
    }
  } catch (error) {
    seen.push((error as { code?: number }).code);
  }
  return seen;
}

describe('a watch', () => {
  test('ignores events from before its position', async () => {
    const storage = await scriptedMember((stream) => {
      stream.write(created);
      stream.write(events(100, put('old', 9), put('at', 10), put('new', 11)));
    });
    expect(await watched(storage, 10, 1)).toEqual(['new@11']);
  });

  test('ends with 410 when a revision comes again or goes back', async () => {
    const storage = await scriptedMember((stream) => {
      stream.write(created);
      stream.write(events(100, put('a', 11), put('b', 12)));
      stream.write(events(100, put('b', 12)));
    });
    expect(await watched(storage, 10, 9)).toEqual(['a@11', 'b@12', 410]);
  });

  test('ends with 410 when an event comes below the progress', async () => {
    const storage = await scriptedMember((stream) => {
      stream.write(created);
      stream.write({ header: header(50), watch_id: 0 });
      stream.write(events(100, put('a', 40)));
    });
    expect(await watched(storage, 10, 9)).toEqual([410]);
  });

  test('joins fragments before a revision is delivered, and drops an unfinished one', async () => {
    const starts: number[] = [];
    const storage = await scriptedMember((stream, create, index) => {
      starts.push(Number(create.start_revision));
      stream.write(created);
      if (index === 0) {
        stream.write(events(100, put('a', 11)));
        stream.write({ ...events(100, put('b', 12)), fragment: true });
        stream.end();
      } else {
        stream.write(events(100, put('a', 11)));
        stream.write({ ...events(100, put('b', 12)), fragment: true });
        stream.write({ ...events(100, put('c', 12)), fragment: true });
        stream.write(events(100, put('d', 12)));
      }
    });
    const batches: WatchBatch[] = [];
    for await (const batch of storage.watch('/registry/', 10, AbortSignal.timeout(60_000))) {
      batches.push(batch);
      if (batch.revision === 12) break;
    }
    expect(batches.map((batch) => [batch.revision, batch.events.length])).toEqual([
      [11, 1],
      [12, 3],
    ]);
    expect(starts).toEqual([10, 11]);
  });

  test('delivers the whole revisions of a fragment without waiting for its last', async () => {
    const storage = await scriptedMember((stream) => {
      stream.write(created);
      stream.write({ ...events(100, put('a', 11), put('b', 12)), fragment: true });
    });
    expect(await watched(storage, 10, 1)).toEqual(['a@11']);
  });

  test('resumes from the revisions of events, not from the header of their message', async () => {
    const starts: number[] = [];
    const storage = await scriptedMember((stream, create, index) => {
      starts.push(Number(create.start_revision));
      stream.write(created);
      stream.write(events(90, put('a', 11)));
      if (index === 1) stream.write({ header: header(30), watch_id: 0 });
      if (index === 2) stream.write(events(100, put('b', 31)));
      stream.write({ header: header(100), watch_id: 0, canceled: true, cancel_reason: 'scripted' });
    });
    expect(await watched(storage, 10, 2)).toEqual(['a@11', 'b@31']);
    expect(starts).toEqual([10, 11, 11]);
  });

  test('ends with 410 when its position was compacted', async () => {
    const storage = await scriptedMember((stream) => {
      stream.write(created);
      stream.write({ header: header(100), watch_id: 0, canceled: true, compact_revision: 60 });
    });
    expect(await watched(storage, 10, 1)).toEqual([410]);
  });

  test('opened again goes on once its tail was repeated, which it keeps to itself', async () => {
    const storage = await scriptedMember((stream, _create, index) => {
      stream.write(created);
      stream.write(events(100, put('old', 9), put('at', 10), put('a', 11), remove('b', 12)));
      if (index === 0) stream.end();
      else stream.write(events(100, put('c', 13)));
    });
    expect(await watched(storage, 10, 2)).toEqual(['a@11', 'c@13']);
  });

  test.each<[string, Message[]]>([
    ['an event is not there', [put('at', 10), put('a', 11)]],
    ['there is one that was not', [put('at', 10), put('a', 11), remove('b', 12), put('c', 20)]],
    ['another object was deleted', [put('at', 10), put('a', 11), remove('c', 12)]],
    ['an object was put instead', [put('at', 10), put('a', 11), put('b', 12)]],
    ['a value is another one', [put('at', 10), put('a', 11, { value: 'A' }), remove('b', 12)]],
    ['an object is older', [put('at', 10), put('a', 11, { create_revision: 5 }), remove('b', 12)]],
    ['an object was put before', [put('at', 10), put('a', 11, { version: 2 }), remove('b', 12)]],
    ['its own position is another one', [put('AT', 10), put('a', 11), remove('b', 12)]],
  ])('opened again ends with 410 where %s', async (_what, instead) => {
    const first = [put('at', 10), put('a', 11), remove('b', 12)];
    const storage = await scriptedMember((stream, _create, index) => {
      stream.write(created);
      stream.write(events(100, ...(index === 0 ? first : instead)));
      stream.write({ header: header(30), watch_id: 0 });
      if (index === 0) stream.end();
      else stream.write(events(100, put('d', 31)));
    });
    const { history } = storage.epoch;
    expect(await watched(storage, 10, 9)).toEqual(['a@11', 410]);
    expect(storage.epoch.history).not.toBe(history);
    expect(storage.epoch.replacedUpTo).toBe(100);
  });

  test('is of the connection over which its store was looked at', async () => {
    const known = events(100, put('at', 10), put('a', 11));
    const storage = await scriptedMember(
      (stream, _create, index) => {
        stream.write(created);
        stream.write(known);
        if (index === 0) stream.end();
        else stream.write(events(100, put('b', 12)));
      },
      { cutsRead: 1 },
    );
    const epochs: unknown[] = [];
    for await (const batch of storage.watch('/registry/', 10, AbortSignal.timeout(30_000))) {
      epochs.push(batch.epoch);
      if (batch.revision === 12) break;
    }
    expect(epochs).toHaveLength(2);
    expect(epochs[0]).not.toBe(storage.epoch);
    expect(epochs[1]).toBe(storage.epoch);
  });

  test('begins with the part of its tail that is not compacted', async () => {
    const starts: number[] = [];
    const storage = await scriptedMember((stream, create, index) => {
      starts.push(Number(create.start_revision));
      stream.write(created);
      if (index === 0) stream.write(events(100, put('a', 11), put('b', 12), put('c', 13)));
      if (index === 2) stream.write(events(100, put('c', 13), put('d', 14)));
      const compacted = { canceled: true, compact_revision: 12 };
      if (index === 1) stream.write({ header: header(100), watch_id: 0, ...compacted });
      if (index === 0) stream.end();
    });
    expect(await watched(storage, 10, 4)).toEqual(['a@11', 'b@12', 'c@13', 'd@14']);
    expect(starts).toEqual([10, 11, 13]);
  });

  test('ends with 410 when its whole tail was compacted', async () => {
    const storage = await scriptedMember((stream, _create, index) => {
      stream.write(created);
      if (index === 0) stream.write(events(100, put('a', 11)));
      if (index === 0) stream.write({ header: header(30), watch_id: 0 });
      const compacted = { canceled: true, compact_revision: 20 };
      if (index === 1) stream.write({ header: header(100), watch_id: 0, ...compacted });
      if (index === 0) stream.end();
    });
    expect(await watched(storage, 10, 9)).toEqual(['a@11', 410]);
  });

  test('takes no progress of a stream from a member that is too old to be trusted', async () => {
    const storage = await scriptedMember(
      (stream) => {
        stream.write(created);
        stream.write({ header: header(80), watch_id: -1 });
        stream.write(events(100, put('a', 11)));
      },
      { version: '3.4.23' },
    );
    await eventually(() => {
      expect(storage.health.versions).not.toEqual({});
    });
    expect(await watched(storage, 10, 1)).toEqual(['a@11']);
  });
});
