// CREATE and UPDATE of a ConfigMap and a Pod through the registry and the cache over a storage in
// memory: a write without HTTP and etcd, beside JSON.parse and JSON.stringify of the body.
// Run: node --min-semi-space-size=256 --max-semi-space-size=256 FILE [pods|configmaps]
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import type { JsonObject } from '../../lib/api/type-info.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { createLogger } from '../../lib/base/log.ts';
import { createCache } from '../../lib/cacher/cache.ts';
import { schemeTranscoder } from '../../lib/cacher/transcoder.ts';
import { jsonCodec } from '../../lib/codec/json.ts';
import { createStoredMedia } from '../../lib/codec/stored-media.ts';
import { builtInStores } from '../../lib/registry/built-in-stores.ts';
import { createKeyspace } from '../../lib/storage-etcd/keys.ts';
import type { Storage, StorageEvent, WatchBatch } from '../../lib/storage-etcd/storage.ts';
import { asSent, configMap, podIn } from '../support/objects.ts';
import { samplePod } from './sample-pod.ts';

const rounds = 15;
const perRound = 400;
const user = { name: 'u', uid: '', groups: [], extra: {} };
const health = { canRequestProgress: true, clusterId: '', versions: {} };

/** Each write is an event of its own, taken by the cache before the next write. */
class MemoryStorage implements Storage {
  readonly health = health;
  readonly epoch = { history: 1, replacedUpTo: 0 };
  #revision = 1;
  #queue: StorageEvent[] = [];
  #wake: (() => void) | undefined;

  get = (): ReturnType<Storage['get']> =>
    Promise.resolve({ item: undefined, revision: this.#revision });
  list = (): ReturnType<Storage['list']> =>
    Promise.resolve({ items: [], revision: this.#revision, remainingCount: 0 });
  delete = (): ReturnType<Storage['delete']> => Promise.reject(new Error('nothing is deleted'));
  transact = (): ReturnType<Storage['transact']> => Promise.reject(new Error('one key a write'));
  currentRevision = (): Promise<number> => Promise.resolve(this.#revision);
  requestProgress = (): void => undefined;
  close = (): void => undefined;

  put: Storage['put'] = (key, value) => {
    const revision = (this.#revision += 1);
    const item = { key, value, modRevision: revision, createRevision: revision };
    this.#queue.push({ type: 'put', item, previous: undefined });
    this.#wake?.();
    return Promise.resolve({ ok: true, revision });
  };

  async *watch(): AsyncGenerator<WatchBatch, void, undefined> {
    for (;;) {
      if (this.#queue.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      const events = this.#queue;
      this.#queue = [];
      yield { revision: this.#revision, events, epoch: this.epoch };
    }
  }
}

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const media = createStoredMedia('json', naming);
const keyspace = createKeyspace('/registry');
const storage = new MemoryStorage();
const cache = createCache({
  storage,
  health: () => health,
  prefix: keyspace.root,
  resources: scheme.storedResources.map((resource) => ({ resource })),
  transcoder: schemeTranscoder(scheme, media),
  budgetBytes: 64 * 1024 * 1024,
  canaryKey: keyspace.internalKey('canary'),
  logger: createLogger('error'),
});
await cache.start(AbortSignal.timeout(20_000));
const stores = builtInStores({
  scheme,
  keyspace,
  storage,
  media,
  viewOf: (stored) => cache.view(stored),
  naming,
  clock: systemClock,
  continueKey: Buffer.from('of a benchmark'),
  canStreamLists: true,
  canDeleteUnreadable: false,
  eventTtlSeconds: 3_600,
});
const { signal } = new AbortController();

type Make = (index: number) => JsonObject;
const textOf = (object: JsonObject): Buffer => Buffer.from(JSON.stringify(object));
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function relabelled(object: JsonObject): JsonObject {
  const labels = { app: 'web', round: String(Math.random()) };
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), labels } };
}

interface Cost {
  readonly micros: number;
  /** Of V8's heap; meaningless where a round has a collection, as without those flags. */
  readonly kilobytes: number;
}

/** Of a call, in the best quarter of the rounds: others slow the rest. */
async function measure(run: (index: number) => unknown, count = perRound): Promise<Cost> {
  const times: number[] = [];
  const allocated: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const heapBytes = process.memoryUsage().heapUsed;
    const before = process.cpuUsage();
    for (let at = 0; at < count; at += 1) {
      await run(round * count + at);
      if (at % 16 === 15) await settle();
    }
    const { user: own, system } = process.cpuUsage(before);
    times.push((own + system) / count);
    allocated.push((process.memoryUsage().heapUsed - heapBytes) / count / 1024);
  }
  const best = (of: number[]): number => of.sort((left, right) => left - right)[rounds >> 2] ?? NaN;
  const kilobytes = best(allocated.filter((one) => one > 0));
  return { micros: best(times), kilobytes };
}

async function writes(name: string, make: Make): Promise<void> {
  if (![undefined, name].includes(process.argv[2])) return;
  const store = stores.find(
    ({ resource }) => resource.resource === name && resource.kind.group === '',
  );
  if (store === undefined) throw new Error(`${name} are served`);
  const { type } = store.resource;
  const bodies = Array.from({ length: perRound * rounds }, (_, at) => textOf(make(at)));
  const body = (index: number): Buffer => bodies[index % bodies.length] ?? Buffer.alloc(0);
  const options = {
    dryRun: false,
    fieldManager: 'bench',
    fieldValidation: 'Warn',
    force: false,
  } as const;
  const request = { user, warnings: [], signal, options };
  const parse = await measure((index) =>
    JSON.stringify(JSON.parse(body(index).toString('latin1'))),
  );
  const decode = await measure((index) => jsonCodec.decode(body(index), type));
  const create = await measure((index) =>
    store.create({
      ...request,
      path: { namespace: 'bench', name: '', subresource: '' },
      body: jsonCodec.decode(body(index), type),
    }),
  );
  const changed = Array.from({ length: perRound * rounds }, (_, at) =>
    textOf(relabelled(make(at))),
  );
  const update = await measure((index) => {
    const decoded = jsonCodec.decode(changed[index] ?? Buffer.alloc(0), type);
    const path = { namespace: 'bench', name: decoded.object.metadata?.name ?? '', subresource: '' };
    return store.update({ ...request, path, body: decoded });
  });
  const show = (what: string, { micros, kilobytes }: Cost): void => {
    const ratio = (micros / parse.micros).toFixed(2);
    const cost = `${micros.toFixed(1).padStart(7)} CPU-µs  ${ratio}`;
    console.log(`${name} ${what.padEnd(28)} ${cost}  ${kilobytes.toFixed(1)} KB`);
  };
  show('JSON.parse + JSON.stringify', parse);
  show('decode of the body', decode);
  show('CREATE with decode', create);
  show('UPDATE with decode', update);
}

await writes('configmaps', (index) => configMap('bench', index));
await writes('pods', (index) => asSent(podIn(samplePod(index), 'bench', index)));
process.exit(0); // The cache and its watch would go on.
