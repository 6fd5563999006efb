// Rules that deny come and go under traffic through three replicas, while replicas are killed and
// paused and etcd has new leaders: nothing is stored at a revision at which a rule denies it, and
// who is released is let through. CHAOS_CHANGES=1000 is the long form.

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawServer, answerText } from '../../lib/client/testing/raw-server.ts';
import { caBundle } from '../../lib/admission/webhooks/testing/calling.ts';
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import { TestCluster } from '../harness.ts';
import type { Reply } from '../harness.ts';
import { newSeed, Random } from '../history/random.ts';
import { findingsBetween } from './denied-writes.ts';
import { dead, lanes, standing } from './denying-rules.ts';
import type { Lane } from './denying-rules.ts';

const changesMin = Number(process.env['CHAOS_CHANGES'] ?? 100);
/** How old the log may be that a refusal rests on. */
const refusalAgeMs = 1_000;
const namespace = 'ruled';
const objects = `/api/v1/namespaces/${namespace}/configmaps`;

let cluster: TestCluster;
let denying: RawServer;
let hook: { readonly url: string; readonly caBundle: string };

beforeAll(async () => {
  cluster = await TestCluster.start({ replicaCount: 3, memberCount: 3 });
  denying = await RawServer.start(({ body, socket }) => {
    const { kind, apiVersion, request } = JSON.parse(body) as {
      request: { uid: string };
    } & object &
      Record<'kind' | 'apiVersion', string>;
    const response = { uid: request.uid, allowed: false, status: { message: 'no', code: 403 } };
    socket.write(answerText(JSON.stringify({ kind, apiVersion, response })));
  });
  hook = { url: denying.url, caBundle: await caBundle() };
  await post('/api/v1/namespaces', { metadata: { name: namespace } });
});
afterAll(async () => {
  await denying[Symbol.asyncDispose]();
  await cluster.stop();
});

const post = (path: string, body: object, replica = 0): Promise<Reply> =>
  cluster.replica(replica).request('POST', path, { body });

test('u.self-block: a rule for everything that asks a dead webhook can be removed', async () => {
  const paths = dead.map(({ path }) => path);
  for (const [at, { path, body }] of dead.entries()) {
    expect((await post(path, body, at % 3)).status).toBe(201);
  }
  for (const replica of [0, 1, 2]) {
    const refused = await post(objects, { metadata: { name: `dead-${String(replica)}` } }, replica);
    expect([refused.status, refused.text]).toEqual([500, expect.stringContaining('everything')]);
  }
  const [first] = standing(hook);
  if (first === undefined) throw new Error('there is no policy');
  expect((await post(first.path, first.body, 1)).status).toBe(201);
  for (const [at, path] of [...paths, first.path].entries()) {
    const name = path === first.path ? first.body.metadata.name : 'everything';
    const reply = await cluster.replica((at + 1) % 3).request('DELETE', `${path}/${name}`);
    expect([path, reply.status]).toEqual([path, 200]);
  }
  await sleep(refusalAgeMs);
  for (const replica of [0, 1, 2]) {
    const made = await post(objects, { metadata: { name: `alive-${String(replica)}` } }, replica);
    expect(made.status).toBe(201);
  }
});

test('u.effective: no write is stored while a rule denies it, and all are after it', async () => {
  const seed = process.env['HISTORY_SEED'] ?? newSeed();
  const storage = new EtcdStorage(cluster.etcd.connection);
  try {
    for (const { path, body } of standing(hook)) {
      expect((await post(path, body)).status).toBe(201);
    }
    const from = await storage.currentRevision(AbortSignal.timeout(10_000));
    const run = new Run(seed);
    const all = lanes(hook).flatMap((lane, at) => {
      const state = { lane, releasedAtMs: Infinity, changeCount: 0 };
      const writers = cluster.replicas.map((_replica, replica) => run.write(state, at, replica));
      return [run.change(state, at), ...writers];
    });
    const working = Promise.all(all);
    working.catch(() => undefined); // It is awaited below.
    await run.harm();
    await working;
    const to = await storage.currentRevision(AbortSignal.timeout(10_000));
    const { findings, storedCount, changeCount } = await findingsBetween(storage, {
      from,
      to,
      objectPrefix: `/registry/configmaps/${namespace}/`,
    });
    process.stdout.write(
      `seed ${seed}: ${String(changeCount)} changes, ${String(storedCount)} stored, ` +
        `answers ${JSON.stringify([...run.statuses])}, released ${String(run.releasedCount)}\n`,
    );
    expect({ seed, findings, strange: run.strange }).toEqual({ seed, findings: [], strange: [] });
    expect(changeCount).toBeGreaterThanOrEqual(changesMin);
    for (const status of [403, 422]) {
      expect(run.statuses.get(status) ?? 0).toBeGreaterThan(changesMin / 10);
    }
    expect(run.releasedCount).toBeGreaterThan(0);
    expect(storedCount).toBeGreaterThan(changesMin);
  } finally {
    storage.close();
  }
});

interface LaneState {
  readonly lane: Lane;
  /** When it was acknowledged that nothing denies; Infinity: something may. */
  releasedAtMs: number;
  changeCount: number;
}

class Run {
  /** Of all writes; 0: no answer came. */
  readonly statuses = new Map<number, number>();
  readonly strange: string[] = [];
  /** Writes that had to be let through, and were. */
  releasedCount = 0;
  readonly #seed: string;
  #changeCount = 0;
  #isHarmed = false;

  constructor(seed: string) {
    this.#seed = seed;
  }

  get isOver(): boolean {
    return this.#isHarmed && this.#changeCount >= changesMin;
  }

  /** Denies and releases in turn, each until it is so. */
  async change(state: LaneState, at: number): Promise<void> {
    const random = new Random(this.#seed, 'change', at);
    while (!this.isOver) {
      state.releasedAtMs = Infinity;
      state.changeCount += 1;
      const isDenied = await this.#until(random, state.lane.deny);
      await sleep(random.below(150));
      const isReleased = await this.#until(random, state.lane.release);
      // What was cut off may still come: only what was answered at once is sure.
      if (isDenied && isReleased) state.releasedAtMs = performance.now();
      await sleep(random.chance(0.3) ? 2 * refusalAgeMs : random.below(150));
    }
  }

  /** @returns whether the first try was answered */
  async #until(random: Random, change: Lane['deny']): Promise<boolean> {
    for (let count = 1; ; count += 1) {
      const replica = random.pick(cluster.replicas);
      const reply = await change(replica).catch(() => undefined);
      const status = reply?.status ?? 0;
      // Who comes second finds it done.
      if ([200, 201].includes(status) || (count > 1 && [404, 409].includes(status))) {
        this.#changeCount += 1;
        return count === 1;
      }
      if (status !== 0 && status < 429) this.strange.push(`${String(status)} ${reply?.text ?? ''}`);
      await sleep(50);
    }
  }

  /** Creates, changes and deletes objects of a lane. */
  async write(state: LaneState, at: number, replica: number): Promise<void> {
    const random = new Random(this.#seed, 'write', at, replica);
    const names: string[] = [];
    const { label } = state.lane;
    while (!this.isOver) {
      const { changeCount, releasedAtMs } = state;
      const isFree = performance.now() - releasedAtMs > refusalAgeMs;
      const fresh = `${label}-${String(replica)}-${String(random.below(1e9))}`;
      const name = random.chance(0.6) ? undefined : names.at(-1);
      const method = name === undefined ? 'POST' : random.pick(['PUT', 'DELETE']);
      const metadata = { name: name ?? fresh, labels: { lane: label } };
      const body = { metadata, data: { at: String(random.below(1e9)) } };
      const path = name === undefined ? objects : `${objects}/${name}`;
      const reply = await cluster
        .replica(replica)
        .request(method, path, method === 'DELETE' ? {} : { body })
        .catch(() => undefined);
      const status = reply?.status ?? 0;
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      if (status === 201 && method === 'POST') names.push(fresh);
      if (method === 'DELETE' && (status === 200 || status === 404)) names.pop();
      const isRefused = state.lane.isRefusal(reply);
      const wasFree = isFree && state.changeCount === changeCount;
      if (wasFree && isRefused) this.strange.push(`refused though released: ${reply?.text ?? ''}`);
      if (wasFree && (status === 200 || status === 201)) this.releasedCount += 1;
      if (!isRefused && !isExpected(status)) {
        this.strange.push(`${method} ${String(status)} ${reply?.text.slice(0, 300) ?? ''}`);
      }
      await sleep(status === 0 || status >= 429 ? 50 : random.below(20));
    }
  }

  async harm(): Promise<void> {
    const random = new Random(this.#seed, 'harm');
    const { replicas, etcd } = cluster;
    while (!this.isOver) {
      await sleep(1_000);
      const killed = random.pick(replicas);
      await killed.kill();
      await sleep(500);
      await killed.start();
      await etcd.moveLeader();
      await sleep(500);
      const paused = random.pick(replicas);
      paused.pause();
      await sleep(500 + random.below(2_500));
      paused.resume();
      await sleep(500);
      const leader = await etcd.leader();
      await etcd.kill(leader);
      await sleep(1_500);
      await etcd.restart(leader);
      this.#isHarmed = true;
    }
  }
}

/** 404, 409: what a cut-off write did to an object. */
const isExpected = (status: number): boolean =>
  [0, 200, 201, 404, 409, 429, 503, 504].includes(status);
