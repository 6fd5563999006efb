// Quotas over real replicas: what is charged is what is there, whoever races, gives up or fails.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ResourceInfo } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import { requestEntityTooLarge, requestTimeout } from '../../base/status.ts';
import { intercept } from '../../cacher/testing/cache-fixture.ts';
import type { Companions } from '../companions.ts';
import type { Storage } from '../../storage-etcd/storage.ts';
import {
  countOf,
  create,
  known,
  makeQuota,
  outcomeOf,
  patch,
  remove,
  setStatus,
  soon,
  usedOf,
} from '../testing/quotas.ts';
import { RegistryOnEtcd } from '../testing/registry-on-etcd.ts';
import { VerbDriver } from '../testing/verb-driver.ts';
import type { Replica } from '../testing/registry-on-etcd.ts';

/** What becomes of the transactions of the third replica. */
let transact: (
  storage: Storage,
  ...of: Parameters<Storage['transact']>
) => ReturnType<Storage['transact']>;
const plainly: typeof transact = (storage, ...of) => storage.transact(...of);
const results = new Map<string, number>();
const onQuotaTransaction = (result: string): void => {
  results.set(result, (results.get(result) ?? 0) + 1);
};
/** Objects that the third replica is about to store. */
let aboutCount = 0;
let registry: RegistryOnEtcd;
let replicas: readonly [Replica, Replica, Replica];
let namespaceCount = 0;
let namespace = '';

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const through = (storage: Storage): Storage =>
    intercept(storage, { transact: (...of) => transact(storage, ...of) });
  const count = (): undefined => {
    aboutCount++;
  };
  const counting = (stored: ResourceInfo): Companions | undefined =>
    stored.resource === 'configmaps' ? { of: count } : undefined;
  const services = {
    clusterIpRanges: ['10.0.0.0/24'],
    nodePortRange: { first: 30_000, count: 80 },
  };
  replicas = [
    await registry.replica({ onQuotaTransaction, services }),
    await registry.replica({ onQuotaTransaction, services }),
    await registry.replica({ onQuotaTransaction, services, through, companionsOf: counting }),
  ];
});
afterAll(() => registry.stop());
beforeEach(() => {
  transact = plainly;
  results.clear();
  aboutCount = 0;
  namespace = `n${String(++namespaceCount)}`;
});

const configMap = (at: number, name: string, signal?: AbortSignal): Promise<unknown> =>
  create(replicas[at % 3] ?? replicas[0], 'configmaps', { namespace, name }, signal);
const used = (name: string) => usedOf(replicas[1], namespace, name);
const quota = (name: string, hard: Record<string, string>) =>
  makeQuota(replicas, { namespace, name, hard });
const exceeded = (name: string, of = 'q', hard = 1): string =>
  `403 configmaps "${name}" is forbidden: exceeded quota: ${of}, ` +
  `requested: configmaps=1, used: configmaps=${String(hard)}, limited: configmaps=${String(hard)}`;

test('a namespace without quotas: no transaction of theirs, and nothing waits', async () => {
  const companions = replicas[0].quotas?.of(replicas[0].store('configmaps').resource);
  const object = { metadata: { namespace, name: 'a' } };
  const context = { subresource: '' } as never; // all that is looked at
  expect(companions?.of({ object, old: undefined, context }, soon())).toBeUndefined();
  await configMap(0, 'a');
  expect(results.size).toBe(0);
});

test('q.all: all quotas that count a write are charged, or none', async () => {
  await quota('narrow', { configmaps: '1' });
  await quota('wide', { 'count/configmaps': '5', configmaps: '5' });
  await quota('other', { secrets: '5' });
  await configMap(0, 'a');
  const charged = [{ configmaps: '1' }, { configmaps: '1', 'count/configmaps': '1' }];
  expect([await used('narrow'), await used('wide')]).toEqual(charged);
  expect(await outcomeOf(configMap(1, 'b'))).toBe(exceeded('b', 'narrow'));
  expect([await used('narrow'), await used('wide')]).toEqual(charged);
  expect(await used('other')).toEqual({ secrets: '0' });
});

test('u.quota-conflict, q.reference-limits: of many all that fit, and no conflict', async () => {
  await quota('q', { configmaps: '100' });
  const writes = Array.from({ length: 240 }, (_, at) => outcomeOf(configMap(at, `m${String(at)}`)));
  const outcomes = await Promise.all(writes);
  const refused = outcomes.filter((outcome) => outcome !== 'written');
  expect(refused).toHaveLength(140);
  for (const outcome of refused) expect(outcome).toMatch(/^403 .* exceeded quota: q, requested/);
  expect(await countOf(replicas[0], 'configmaps', namespace)).toBe(100);
  expect(await used('q')).toEqual({ configmaps: '100' });
  expect(results.get('committed')).toBeLessThan(60); // they share
});

test('u.quota-exists: a name that is taken is told although the quota is full', async () => {
  await quota('q', { configmaps: '1' });
  await configMap(0, 'a');
  for (const at of [0, 1, 2]) {
    expect(await outcomeOf(configMap(at, 'a'))).toBe('409 configmaps "a" already exists');
    expect(await outcomeOf(configMap(at, 'b'))).toBe(exceeded('b'));
  }
});

test('u.quota-exists: of many who create one object none hears of the quota', async () => {
  await quota('q', { configmaps: '1' });
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, at) => outcomeOf(configMap(at, 'a'))),
  );
  expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(1);
  expect(new Set(outcomes)).toEqual(new Set(['written', '409 configmaps "a" already exists']));
  expect(await used('q')).toEqual({ configmaps: '1' });
});

describe('u.quota-leak: nothing is charged without its object', () => {
  test('of what is invalid, or taken, or a dry run', async () => {
    await quota('q', { configmaps: '5' });
    await configMap(0, 'a');
    expect(await outcomeOf(configMap(0, 'Not-A-Name'))).toMatch(/^422/);
    expect(await outcomeOf(configMap(1, 'a'))).toMatch(/^409/);
    const [replica] = replicas;
    const store = replica.store('configmaps');
    const body = { metadata: { name: 'b' } };
    await new VerbDriver(replica).create(store, body, 'dryRun=All', namespace);
    expect(await used('q')).toEqual({ configmaps: '1' });
  });

  test('of a write whose outcome its writer never learns', async () => {
    await quota('q', { configmaps: '5' });
    transact = async (storage, ...of) => {
      await storage.transact(...of);
      throw requestTimeout('nobody knows');
    };
    expect(await outcomeOf(configMap(2, 'a'))).toMatch(/^504/);
    transact = () => Promise.reject(requestTimeout('nobody knows'));
    expect(await outcomeOf(configMap(2, 'b'))).toMatch(/^504/);
    expect(await used('q')).toEqual({ configmaps: '1' });
    expect(await countOf(replicas[0], 'configmaps', namespace)).toBe(1);
  });
});

describe('writes that wait share the next transaction', () => {
  /** Holds the first transaction of the third replica; resolves when it has come. */
  function held(): { readonly come: Promise<undefined>; readonly release: () => void } {
    const come = Promise.withResolvers<undefined>();
    const go = Promise.withResolvers<undefined>();
    transact = async (storage, ...of) => {
      transact = plainly;
      come.resolve(undefined);
      await go.promise;
      return storage.transact(...of);
    };
    return { come: come.promise, release: () => go.resolve(undefined) };
  }

  /** Resolves once so many stand in line or are on their way. */
  async function inLine(count: number): Promise<void> {
    while (aboutCount < count) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }

  test('one on its way, and one for the forty that came meanwhile', async () => {
    await quota('q', { configmaps: '100' });
    const { come, release } = held();
    const first = configMap(2, 'first');
    await come;
    const others = Array.from({ length: 40 }, (_, at) => configMap(2, `m${String(at)}`));
    await inLine(41);
    release();
    await Promise.all([first, ...others]);
    expect(results).toEqual(new Map([['committed', 2]]));
    expect(await used('q')).toEqual({ configmaps: '41' });
  });

  test('who gives up, is refused or comes second is answered alone', async () => {
    await quota('q', { configmaps: '3' });
    await configMap(0, 'taken');
    const { come, release } = held();
    const first = configMap(2, 'first');
    await come;
    const leaving = new AbortController();
    const reason = new Error('gone');
    const left = configMap(2, 'left', leaving.signal);
    const rest = ['taken', 'fits', 'late'].map((name) => outcomeOf(configMap(2, name)));
    await inLine(5);
    leaving.abort(reason);
    await expect(left).rejects.toBe(reason);
    release();
    await first;
    expect(await Promise.all(rest)).toEqual([
      '409 configmaps "taken" already exists',
      'written',
      exceeded('late', 'q', 3),
    ]);
    expect(await countOf(replicas[0], 'configmaps', namespace)).toBe(3);
    expect(await used('q')).toEqual({ configmaps: '3' });
  });

  test('who leaves while it is stored does not take the others along', async () => {
    await quota('q', { configmaps: '5' });
    const { come, release } = held();
    const leaving = new AbortController();
    const left = configMap(2, 'left', leaving.signal);
    await come;
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    const next = configMap(2, 'next');
    release();
    await next;
    expect(await countOf(replicas[0], 'configmaps', namespace)).toBe(2);
    expect(await used('q')).toEqual({ configmaps: '2' });
  });

  test('where they are too much together each is written by itself', async () => {
    await quota('q', { configmaps: '100' });
    const { come, release } = held();
    const first = configMap(2, 'first');
    await come;
    const others = Array.from({ length: 5 }, (_, at) => configMap(2, `m${String(at)}`));
    await inLine(6);
    transact = (storage, transaction, signal) =>
      transaction.changes.length > 2
        ? Promise.reject(requestEntityTooLarge('too many'))
        : storage.transact(transaction, signal);
    release();
    await Promise.all([first, ...others]);
    expect(results.get('committed')).toBe(6);
    expect(await used('q')).toEqual({ configmaps: '6' });
  });
});

describe('a replica whose memory stands still', () => {
  test('refuses by what is stored: a limit was raised, a quota deleted', async () => {
    await quota('q', { configmaps: '1' });
    const frozen = await registry.replica({ onQuotaTransaction, isFrozen: true });
    const write = (name: string) => outcomeOf(create(frozen, 'configmaps', { namespace, name }));
    await configMap(0, 'a');
    expect(await write('b')).toBe(exceeded('b'));
    await setStatus(replicas, {
      ...{ namespace, name: 'q' },
      ...{ hard: { configmaps: '2' }, used: { configmaps: '1' } },
    });
    expect(await write('b')).toBe('written');
    expect(await write('c')).toBe(exceeded('c', 'q', 2));
    await remove(replicas[0], { resource: 'resourcequotas', namespace, name: 'q' });
    expect(await write('c')).toBe('written');
    expect(await write('d')).toBe('written');
  });

  test('asks the store where it knows nothing yet', async () => {
    await quota('q', { configmaps: '1' });
    const cold = await registry.replica({ onQuotaTransaction, isCold: true });
    const write = (name: string) => outcomeOf(create(cold, 'configmaps', { namespace, name }));
    expect(await write('a')).toBe('written');
    expect(await write('b')).toBe(exceeded('b'));
    expect(await used('q')).toEqual({ configmaps: '1' });
  });
});

describe('q.delta: what an update takes more is charged with it', () => {
  const ports = (...names: readonly string[]) =>
    names.map((name, at) => ({ name, port: at + 1, protocol: 'TCP' }));
  const service = (at: number, name: string, spec: { [key: string]: never } | object) =>
    create(replicas[at] ?? replicas[0], 'services', {
      ...{ namespace, name },
      spec: JSON.parse(JSON.stringify(spec)) as Record<string, never>,
    });

  test('nodePorts of services, together with the ports that they claim', async () => {
    await quota('q', { 'services.nodeports': '2', services: '3' });
    await service(0, 'a', { type: 'NodePort', ports: ports('x') });
    const at = { resource: 'services', namespace, name: 'a' };
    await patch(replicas[1], at, { spec: { ports: ports('x', 'y') } });
    expect(await used('q')).toEqual({ 'services.nodeports': '2', services: '1' });
    expect(await outcomeOf(patch(replicas[2], at, { spec: { ports: ports('x', 'y', 'z') } }))).toBe(
      '403 services "a" is forbidden: exceeded quota: q, requested: services.nodeports=1, ' +
        'used: services.nodeports=2, limited: services.nodeports=2',
    );
    await patch(replicas[2], at, { metadata: { labels: { a: 'b' } } });
    await patch(replicas[2], at, { spec: { ports: ports('x') } });
    expect(await used('q')).toEqual({ 'services.nodeports': '2', services: '1' });
  });

  test('of services that race for one address, who has lost is not charged', async () => {
    await quota('q', { services: '50' });
    const spec = { clusterIP: '10.0.0.77', ports: ports('x') };
    const outcomes = await Promise.all(
      Array.from({ length: 9 }, (_, at) => outcomeOf(service(at % 3, `s${String(at)}`, spec))),
    );
    expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome.startsWith('422'))).toHaveLength(8);
    const chosen = Array.from({ length: 30 }, (_, at) =>
      service(at % 3, `t${String(at)}`, { ports: ports('x') }),
    );
    await Promise.all(chosen);
    expect(await used('q')).toEqual({ services: '31' });
    expect(await countOf(replicas[0], 'services', namespace)).toBe(31);
  });

  test('a status is charged and never refused', async () => {
    await quota('q', { 'requests.storage': '2Gi' });
    const resources = { requests: { storage: '1Gi' } };
    const spec = { accessModes: ['ReadWriteOnce'], resources };
    await create(replicas[0], 'persistentvolumeclaims', { namespace, name: 'a', spec });
    const at = { resource: 'persistentvolumeclaims', namespace, name: 'a', subresource: 'status' };
    await patch(replicas[0], at, { status: { allocatedResources: { storage: '5Gi' } } });
    expect(await used('q')).toEqual({ 'requests.storage': '5Gi' });
  });
});

test('a write that more quotas count than it can be charged to is refused', async () => {
  const most = limits.quotasOfWriteMax;
  const names = Array.from({ length: most + 1 }, (_, at) => `q${String(at)}`);
  const hard = { configmaps: '5' };
  for (const name of names) {
    await create(replicas[0], 'resourcequotas', { namespace, name, spec: { hard } });
    const status = { hard, used: { configmaps: '0' } };
    const at = { resource: 'resourcequotas', namespace, name, subresource: 'status' };
    await patch(replicas[0], at, { status });
  }
  await known(replicas);
  expect(await outcomeOf(configMap(0, 'a'))).toBe(
    '403 configmaps "a" is forbidden: 101 quotas count it, more than the 100 that one write ' +
      'can be charged to',
  );
  await remove(replicas[0], { resource: 'resourcequotas', namespace, name: 'q0' });
  await Promise.all([0, 1, 2].map((at) => configMap(at, `m${String(at)}`)));
  expect(await used('q7')).toEqual({ configmaps: '3' });
});

test('quotas count quotas: none is charged while it is written itself', async () => {
  await quota('q', { resourcequotas: '3' });
  const make = (at: number): Promise<string> => {
    const name = `r${String(at)}`;
    const write = create(replicas[at % 3] ?? replicas[0], 'resourcequotas', { namespace, name });
    return outcomeOf(write);
  };
  const outcomes = await Promise.all(Array.from({ length: 8 }, (_, at) => make(at)));
  expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(3);
  expect(await used('q')).toEqual({ resourcequotas: '3' });
  expect(await countOf(replicas[0], 'resourcequotas', namespace)).toBe(4);
});
