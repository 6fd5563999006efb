// Random writes through three replicas, of which some are given up, fail or are never answered: at
// each revision of the store quotas say what a naive model counts, and never more than they allow.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { requestTimeout, StatusError } from '../../base/status.ts';
import { intercept } from '../../cacher/testing/cache-fixture.ts';
import type { Storage, StorageEvent } from '../../storage-etcd/storage.ts';
import { create, makeQuota, patch, remove, soon } from '../testing/quotas.ts';
import { keyspace, RegistryOnEtcd } from '../testing/registry-on-etcd.ts';
import type { Replica } from '../testing/registry-on-etcd.ts';

const seed = Number(process.env['QUOTA_SEED'] ?? Math.floor(Math.random() * 1e9));
const namespace = 'counted';
const hards: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  objects: { configmaps: 60, 'count/configmaps': 80, services: 25 },
  ports: { 'services.nodeports': 30, services: 40 },
};
const writerCount = 24;
const stepCount = 14;
const services = { clusterIpRanges: ['10.0.0.0/16'], nodePortRange: { first: 30_000, count: 900 } };

let registry: RegistryOnEtcd;
const replicas: Replica[] = [];

/** Numbers that follow from a seed. */
function diceOf(start: number): (below: number) => number {
  let state = start | 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return ((state >>> 8) / 0x1_00_00_00) * below;
  };
}

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const roll = diceOf(seed);
  const through = (storage: Storage): Storage =>
    intercept(storage, {
      async transact(...of) {
        const fault = roll(20);
        if (fault < 1) throw requestTimeout('nothing was written');
        const result = await storage.transact(...of);
        if (fault < 2) throw requestTimeout('it may have been written');
        return result;
      },
    });
  for (const options of [{}, {}, { through }]) {
    const onQuotaTransaction = (): void => undefined;
    replicas.push(await registry.replica({ onQuotaTransaction, services, ...options }));
  }
  for (const [name, amounts] of Object.entries(hards)) {
    const hard = Object.fromEntries(Object.entries(amounts).map(([key, most]) => [key, `${most}`]));
    await makeQuota(replicas, { namespace, name, hard });
  }
});
afterAll(() => registry.stop());

test('q.delta: quotas are a naive count at each revision (seeded)', async () => {
  const [replica] = replicas;
  if (replica === undefined) throw new Error('there are replicas');
  const from = await replica.storage.currentRevision(soon());
  const codes = new Map<string, number>();
  await Promise.all(Array.from({ length: writerCount }, (_, at) => write(at, codes)));
  const to = await replica.storage.currentRevision(soon());
  const findings = await findIn(replica, from, to);
  expect({ seed, findings }).toEqual({ seed, findings: [] });
  expect([...codes.keys()].filter((code) => !expectedCodes.has(code))).toEqual([]);
  expect(codes.get('403') ?? 0).toBeGreaterThan(0);
});

const expectedCodes = new Set(['200', '403', '504', 'left']);

/** One after the other, on objects of its own. */
async function write(at: number, codes: Map<string, number>): Promise<void> {
  const roll = diceOf(seed + 1 + at);
  const pick = (): Replica => replicas[Math.floor(roll(replicas.length))] as Replica;
  for (let step = 0; step < stepCount; step++) {
    const name = `o${String(at)}-${String(Math.floor(roll(8)))}`;
    const leaving = new AbortController();
    const signal = roll(10) < 1 ? leaving.signal : soon();
    const run = randomWrite(pick(), name, roll, signal);
    if (signal === leaving.signal) setTimeout(() => leaving.abort(new Error('left')), roll(10));
    const code = await codeOf(run);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }
}

function randomWrite(
  replica: Replica,
  name: string,
  roll: (below: number) => number,
  signal: AbortSignal,
): Promise<unknown> {
  const ports = Array.from({ length: 1 + Math.floor(roll(3)) }, (_, at) => ({
    ...{ name: `p${String(at)}`, port: at + 1 },
  }));
  const type = roll(2) < 1 ? 'NodePort' : 'ClusterIP';
  const of = (resource: string) => ({ resource, namespace, name });
  const kind = roll(6);
  if (kind < 2) return create(replica, 'configmaps', { namespace, name }, signal);
  if (kind < 3) return remove(replica, of('configmaps'));
  if (kind < 4)
    return create(replica, 'services', { namespace, name, spec: { ports, type } }, signal);
  if (kind < 5) return patch(replica, of('services'), { spec: { ports, type } });
  return remove(replica, of('services'));
}

async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return '200';
  } catch (error) {
    if (!(error instanceof StatusError)) return (error as Error).message;
    // Of writes that were not answered the next one finds what became of them.
    return error.code === 404 || error.reason === 'AlreadyExists' ? '200' : String(error.code);
  }
}

/** What contradicts the model, in the order of revisions. */
async function findIn(replica: Replica, from: number, to: number): Promise<string[]> {
  const findings: string[] = [];
  const model = new Map<string, number>();
  const ending = new AbortController();
  for await (const { events, revision } of replica.storage.watch(
    keyspace.root,
    from,
    ending.signal,
  )) {
    const byRevision = Map.groupBy(events, (event) =>
      event.type === 'put' ? event.item.modRevision : event.revision,
    );
    for (const [at, together] of byRevision) {
      for (const event of together) charge(replica, event, model);
      findings.push(...checked(replica, together, model).map((text) => `${String(at)}: ${text}`));
    }
    if (revision >= to) break;
  }
  ending.abort();
  return findings;
}

const stored = new Map<string, number>();

/** Adds what the event takes; what it gives back is counted by nobody here. */
function charge(replica: Replica, event: StorageEvent, model: Map<string, number>): void {
  const key = event.type === 'put' ? event.item.key : event.key;
  const resource = ['configmaps', 'services'].find((one) =>
    key.startsWith(keyspace.namespacePrefix(replica.store(one).resource.storagePrefix, namespace)),
  );
  if (resource === undefined) return;
  const add = (name: string, count: number): void =>
    void model.set(name, (model.get(name) ?? 0) + count);
  const before = stored.get(key);
  if (event.type === 'delete') {
    stored.delete(key);
    return;
  }
  const spec = recordAt(replica.store(resource).view.itemOf(event.item).object(), 'spec');
  const count = textAt(spec, 'type') === 'NodePort' ? recordsAt(spec, 'ports').length : 0;
  stored.set(key, count);
  if (before === undefined) {
    add(resource, 1);
    if (resource === 'configmaps') add('count/configmaps', 1);
  }
  add('services.nodeports', Math.max(0, count - (before ?? 0)));
}

/** Of what was written at one revision. */
function checked(
  replica: Replica,
  together: readonly StorageEvent[],
  model: ReadonlyMap<string, number>,
): string[] {
  const { view, resource } = replica.store('resourcequotas');
  const prefix = keyspace.namespacePrefix(resource.storagePrefix, namespace);
  const findings: string[] = [];
  for (const event of together) {
    if (event.type !== 'put' || !event.item.key.startsWith(prefix)) continue;
    const item = view.itemOf(event.item);
    const used = recordAt(recordAt(item.object(), 'status'), 'used') ?? {};
    for (const [name, most] of Object.entries(hards[item.name] ?? {})) {
      const [says, is] = [Number(textAt(used, name)), model.get(name) ?? 0];
      if (says !== is) findings.push(`${item.name} says ${name}=${says}, there is ${is}`);
      if (says > most) findings.push(`${item.name} is above ${name}=${most}`);
    }
  }
  const isCharged = together.some(
    (event) => event.type === 'put' && event.item.key.startsWith(prefix),
  );
  const total = [...model.values()].reduce((sum, count) => sum + count, 0);
  if (total > lastTotal && !isCharged) findings.push('an object without its charge');
  lastTotal = total;
  return findings;
}
let lastTotal = 0;
