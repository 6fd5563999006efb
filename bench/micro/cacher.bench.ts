// The cache by itself, over a store that only counts: memory an object, filling, reads, fan-out to
// cursors. Run: node --expose-gc bench/micro/cacher.bench.ts [number of Pods]
import type { JsonObject } from '../../lib/api/type-info.ts';
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { createLogger } from '../../lib/base/log.ts';
import { createCache } from '../../lib/cacher/cache.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import type { Selection, WatchCursor } from '../../lib/cacher/resource-view.ts';
import { schemeTranscoder } from '../../lib/cacher/transcoder.ts';
import { encodeStored } from '../../lib/codec/stored-form.ts';
import { createStoredMedia } from '../../lib/codec/stored-media.ts';
import type { Storage, StoredItem, WatchBatch } from '../../lib/storage-etcd/storage.ts';
import { samplePod } from './sample-pod.ts';

const scheme = builtInScheme({ profile: namingProfile('svc') });
const found = scheme.resource({ group: '', version: 'v1', resource: 'pods' });
if (found === undefined) throw new Error('pods are served');
const pods = found;
const { signal } = new AbortController();
const prefix = '/registry/';
const epoch = { history: 1, replacedUpTo: 0 };

/** Values are made when they are read: none is kept here. */
class CountingStore {
  revision = 1_000_000;
  #push: (batch: WatchBatch) => void = () => undefined;
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  stored(index: number): StoredItem {
    const pod = samplePod(index);
    const number = String(index).padStart(6, '0');
    const metadata = pod['metadata'] as JsonObject;
    const spec = pod['spec'] as JsonObject;
    metadata['name'] = `pod-${number}`;
    metadata['namespace'] = `team-${String(index % 10)}`;
    spec['nodeName'] = `node-${String(index % 1_000)}`;
    const key = `${prefix}pods/team-${String(index % 10)}/pod-${number}`;
    const value = encodeStored(pod, pods).value;
    return { key, value, modRevision: this.revision, createRevision: 1 };
  }

  write(indexes: readonly number[]): void {
    this.#push(this.made(indexes));
  }

  push(batch: WatchBatch): void {
    this.#push(batch);
  }

  made(indexes: readonly number[]): WatchBatch {
    const events = indexes.map((index) => {
      this.revision++;
      return { type: 'put', item: this.stored(index), previous: undefined } as const;
    });
    return { revision: this.revision, events, epoch };
  }

  get storage(): Storage {
    const unused = (): never => {
      throw new Error('not part of this benchmark');
    };
    return {
      epoch,
      get: unused,
      put: unused,
      delete: unused,
      transact: unused,
      list: ({ afterKey }) => {
        const start = afterKey === undefined ? 0 : Number(afterKey.slice(-6)) + 1;
        const end = Math.min(this.#count, start + 50); // making values must not be what stalls
        const items = Array.from({ length: end - start }, (_, i) => this.stored(start + i));
        return Promise.resolve({
          items,
          revision: this.revision,
          remainingCount: this.#count - end,
        });
      },
      watch: (_prefix, _after, abort) => this.#batches(abort),
      currentRevision: () => Promise.resolve(this.revision),
      requestProgress: () => undefined,
    };
  }

  async *#batches(abort: AbortSignal): AsyncGenerator<WatchBatch> {
    const queue: WatchBatch[] = [];
    let wake = (): void => undefined;
    this.#push = (batch) => {
      queue.push(batch);
      wake();
    };
    abort.addEventListener('abort', () => wake());
    while (!abort.aborted) {
      const batch = queue.shift();
      if (batch !== undefined) yield batch;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
}

const collect = (): void => {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error('run with --expose-gc');
  gc();
  gc();
};
const line = (name: string, value: number, unit: string, note = ''): void => {
  console.log(`${name.padEnd(56)} ${value.toFixed(2).padStart(9)} ${unit} ${note}`);
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function cacheOver(store: CountingStore): Cache {
  return createCache({
    storage: store.storage,
    health: () => ({ canRequestProgress: true, clusterId: 'bench', versions: {} }),
    prefix,
    resources: [{ resource: pods, indexedFields: ['spec.nodeName'] }],
    transcoder: schemeTranscoder(scheme, createStoredMedia('json', scheme.profile)),
    budgetBytes: 512 * 1024 * 1024,
    canaryKey: `${prefix}svc-internal/canary`,
    logger: createLogger('error'),
  });
}

async function memoryAndFill(count: number): Promise<void> {
  const store = new CountingStore(count);
  const jsonBytes = JSON.stringify(samplePod(1)).length;
  await cacheOver(new CountingStore(10)).stop();
  collect();
  const before = process.memoryUsage();
  const cache = cacheOver(store);
  let longestMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  }, 1);
  const startedMs = performance.now();
  await cache.start(signal);
  const tookMs = performance.now() - startedMs;
  clearInterval(timer);
  await turn();
  collect();
  const after = process.memoryUsage();
  const heap = after.heapUsed - before.heapUsed;
  const external = after.external - before.external;
  const [use] = cache.resourceUse();
  console.log(`\n${String(count)} Pods of ${String(jsonBytes)} bytes JSON`);
  line('heap and external an object', (heap + external) / count, 'B');
  line('of that heap', heap / count, 'B');
  line('ratio to JSON bytes', (heap + external) / count / jsonBytes, 'x', '(reach: 1.60)');
  line('own estimate an object', (use?.bytes ?? 0) / count, 'B');
  line('fill, with making the values', tookMs / 1_000, 's');
  line('longest stall while filling, making included', longestMs, 'ms');
  await reads(cache, count);
  await cache.stop();
}

async function timed(name: string, count: number, run: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < Math.min(count, 20); i++) await run();
  const started = process.cpuUsage();
  for (let i = 0; i < count; i++) await run();
  const { user, system } = process.cpuUsage(started);
  line(name, (user + system) / count, 'µs');
}

async function reads(cache: Cache, count: number): Promise<void> {
  const view = cache.view(pods);
  const all = { limitCount: 0 };
  const key = { namespace: 'team-5', name: 'pod-000005' };
  await timed('get, any', 20_000, () => view.get(key, { mode: 'any' }, signal));
  await timed('get, most recent, 64 at once (each 64)', 1_000, () =>
    Promise.all(Array.from({ length: 64 }, () => view.get(key, { mode: 'latest' }, signal))),
  );
  await timed(`list all ${String(count)}`, 50, () => view.list({}, { mode: 'any' }, all, signal));
  await timed('list a namespace (a tenth)', 50, () =>
    view.list({ namespace: 'team-3' }, { mode: 'any' }, all, signal),
  );
  const labels = (of: Readonly<Record<string, string>>): boolean => of['app'] === 'none';
  await timed('list by labels that match none', 50, () =>
    view.list({ labels }, { mode: 'any' }, all, signal),
  );
  const fields = [{ path: 'spec.nodeName', operator: '=', value: 'node-7' }] as const;
  await timed('list by indexed field', 2_000, () =>
    view.list({ fields }, { mode: 'any' }, all, signal),
  );
}

async function fanOut(name: string, selects: readonly Selection[], writes: number): Promise<void> {
  const store = new CountingStore(1_000);
  const cache = cacheOver(store);
  await cache.start(signal);
  const view = cache.view(pods);
  const cursors: WatchCursor[] = [];
  const start = { from: 'revision', revision: store.revision } as const;
  for (const select of selects) {
    cursors.push(await view.watch(select, start, { bookmarks: true }, signal));
  }
  let delivered = 0;
  for (const cursor of cursors) {
    void (async () => {
      for (;;) {
        const events = await cursor.next(signal);
        if (events === undefined) return;
        delivered += events.length;
      }
    })();
  }
  const run = async (count: number): Promise<number> => {
    const started = process.cpuUsage();
    for (let i = 0; i < count; i++) {
      store.write([i % 1_000]);
      await turn();
    }
    const { user, system } = process.cpuUsage(started);
    return (user + system) / count;
  };
  await run(100);
  delivered = 0;
  const micros = await run(writes);
  line(name, micros, 'µs an event', `${String(delivered / writes)} deliveries`);
  if (delivered >= writes * 10)
    line('  a delivery', micros / (delivered / writes), 'µs', '(reach: 1-2)');
  await cache.stop();
}

/** What the log itself costs: the values were made before. */
async function apply(): Promise<void> {
  const store = new CountingStore(1_000);
  const cache = cacheOver(store);
  await cache.start(signal);
  const batches = Array.from({ length: 20_000 }, (_, i) => store.made([i % 1_000]));
  const last = batches.at(-1)?.revision ?? 0;
  const started = process.cpuUsage();
  for (let i = 0; i < batches.length; i += 100) {
    for (const batch of batches.slice(i, i + 100)) store.push(batch);
    await turn();
  }
  while (cache.health().revision < last) await turn();
  const { user, system } = process.cpuUsage(started);
  line('apply one event, no watcher', (user + system) / batches.length, 'µs', '(reach: 50)');
  await cache.stop();
}

await memoryAndFill(Number(process.argv[2] ?? 20_000));
await apply();
console.log('\nfan-out, one event a batch, making the value included');
const watchers = 1_000;
const list = (make: (index: number) => Selection): Selection[] =>
  Array.from({ length: watchers }, (_, index) => make(index));
await fanOut('no watcher', [], 2_000);
await fanOut(
  '1,000 watchers of everything',
  list(() => ({})),
  500,
);
await fanOut(
  '1,000 watchers of everything with labels',
  list(() => ({ labels: (labels) => labels['app'] !== 'none' })),
  500,
);
await fanOut(
  '1,000 watchers, each of its own node',
  list((index) => ({
    fields: [{ path: 'spec.nodeName', operator: '=', value: `node-${String(index)}` }],
  })),
  2_000,
);
process.exit(0);
