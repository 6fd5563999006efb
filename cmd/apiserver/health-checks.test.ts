// What /livez says while the cache is filled: at a start with much in etcd, and again when its
// position is gone.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '../../lib/base/clock.ts';
import type { Clock } from '../../lib/base/clock.ts';
import { expired } from '../../lib/base/status.ts';
import { CacheFixture, intercept } from '../../lib/cacher/testing/cache-fixture.ts';
import type { Storage } from '../../lib/storage-etcd/storage.ts';
import { EtcdCluster } from '../../lib/storage-etcd/testing/etcd-process.ts';
import { Health } from '../../lib/telemetry/health.ts';
import { healthChecks } from './health-checks.ts';

let cluster: EtcdCluster;
let fixture: CacheFixture;
beforeAll(async () => {
  cluster = await EtcdCluster.start();
  fixture = new CacheFixture(cluster);
});
afterAll(async () => {
  await fixture.close();
  await cluster.stop();
});

const livenessTimeoutMs = 15_000;
const pageCount = 6;
let nowMs = 0;
const roles = { failure: undefined };
const definitions = { isWhole: true };
const clock: Clock = { ...systemClock, monotonicMs: () => nowMs };

/** Lists come in small pages, each after `passes`; a watch can be told to lose its position. */
class SlowStorage {
  readonly storage: Storage;
  pages = 0;
  #lose: (() => void) | undefined;

  constructor(below: Storage, passes: () => Promise<void>) {
    this.storage = intercept(below, {
      list: async (range, signal) => {
        await passes();
        this.pages++;
        return below.list({ ...range, limitCount: 2 }, signal);
      },
      watch: (prefix, after, signal) => this.#watch(below, prefix, after, signal),
    });
  }

  losePosition(): void {
    this.#lose?.();
  }

  async *#watch(...[below, prefix, after, signal]: WatchArguments): ReturnType<Storage['watch']> {
    const lost = new Promise<never>((_resolve, reject) => {
      this.#lose = () => reject(expired('the position was compacted'));
    });
    lost.catch(() => undefined);
    const batches = below.watch(prefix, after, signal)[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([batches.next(), lost]);
      if (next.done === true) return;
      yield next.value;
    }
  }
}
type WatchArguments = [below: Storage, ...Parameters<Storage['watch']>];

test('/livez holds while pages come, however long all of them take', async () => {
  for (let index = 0; index < pageCount * 2; index++) await fixture.put(`n/${String(index)}`);
  const said: string[] = [];
  let stuck = Promise.resolve();
  const slow = new SlowStorage(fixture.storage, async () => {
    await stuck;
    await new Promise(setImmediate); // it takes time: the page before has come
    nowMs += livenessTimeoutMs - 1_000;
    said.push(`${String(status('livez'))} ${String(status('readyz'))}`);
  });
  const cache = fixture.cache({
    storage: slow.storage,
    clock,
    times: { livenessTimeoutMs, probeIntervalMs: Number.MAX_SAFE_INTEGER },
  });
  const lifecycle = { isDraining: false };
  const health = new Health(
    healthChecks({ cache, lifecycle, clock, startedAtMs: 0, graceMs: 0, roles, definitions }),
  );
  const status = (endpoint: 'livez' | 'readyz'): number =>
    health.answer(endpoint, { verbose: false, exclude: [] }).status;

  await cache.start(fixture.signal);
  expect(slow.pages).toBeGreaterThanOrEqual(pageCount);
  expect(new Set(said)).toEqual(new Set(['200 500']));
  expect([status('livez'), status('readyz')]).toEqual([200, 200]);

  said.length = 0;
  const again = Promise.withResolvers<undefined>();
  stuck = again.promise.then(() => undefined);
  slow.losePosition();
  while (cache.health().state !== 'loading') await new Promise(setImmediate);
  expect([status('livez'), status('readyz')]).toEqual([200, 500]);
  nowMs += livenessTimeoutMs + 1_000; // nothing comes any more
  expect([status('livez'), status('readyz')]).toEqual([500, 500]);
  nowMs -= livenessTimeoutMs + 1_000;
  again.resolve(undefined);
  while (cache.health().state === 'loading') await new Promise(setImmediate);
  expect(said.length).toBeGreaterThanOrEqual(pageCount);
  expect(new Set(said)).toEqual(new Set(['200 500']));
  expect([status('livez'), status('readyz')]).toEqual([200, 200]);
});

test('/readyz waits for the definitions of custom resources, /livez does not', async () => {
  const cache = fixture.cache({});
  await cache.start(fixture.signal);
  const reading = { isWhole: false };
  const lifecycle = { isDraining: false };
  const times = { clock, startedAtMs: 0, graceMs: 0 };
  const checks = healthChecks({ cache, lifecycle, ...times, roles, definitions: reading });
  const health = new Health(checks);
  const answers = (): unknown =>
    (['livez', 'readyz'] as const).map((endpoint) => {
      const { status, failures } = health.answer(endpoint, { verbose: false, exclude: [] });
      return [status, failures.map(({ name }) => name)];
    });
  expect(answers()).toEqual([
    [200, []],
    [500, ['poststarthook/crd-informer-synced']],
  ]);
  reading.isWhole = true;
  expect(answers()).toEqual([
    [200, []],
    [200, []],
  ]);
});
