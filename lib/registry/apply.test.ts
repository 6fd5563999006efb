import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { parseWriteOptions } from './options.ts';
import type { ResourceStore } from './resource-store.ts';
import { ownersOf } from './testing/owners.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import {
  bytesOf,
  codeOf,
  configMap,
  failure,
  fresh,
  params,
  scope,
  VerbDriver,
} from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let configMaps: ResourceStore;
let deployments: ResourceStore;
let secrets: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ canDeleteUnreadable: true });
  verbs = new VerbDriver(replica);
  configMaps = replica.store('configmaps');
  deployments = replica.store('apps/deployments');
  secrets = replica.store('secrets');
});

afterAll(async () => {
  await registry.stop();
});

const by = (manager: string, more = ''): { query: string } => ({
  query: `fieldManager=${manager}${more}`,
});
const data = (values: object): object => ({ data: values });
const applyData = (name: string, manager: string, values: object, more = ''): Promise<Sent> =>
  verbs.apply(configMaps, name, configMap(name, data(values)), by(manager, more));

const podTemplate = (ports: readonly object[]): object => ({
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i', ports }] },
});
const deployment = (name: string, spec: object = {}, ports: readonly object[] = []): object => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: 'a' } }, template: podTemplate(ports), ...spec },
});

describe('apply', () => {
  test('creates, changes, shares, gives up and removes', async () => {
    const name = fresh();
    const made = await applyData(name, 'm1', { a: '1', b: '2' });
    expect(ownersOf(made)).toEqual(['m1: .data.a .data.b']);
    const shared = await applyData(name, 'm2', { b: '2', c: '3' });
    expect(ownersOf(shared)).toEqual(['m1: .data.a .data.b', 'm2: .data.b .data.c']);
    const released = await applyData(name, 'm1', { a: '1' });
    expect(released['data']).toEqual({ a: '1', b: '2', c: '3' });
    expect(ownersOf(released)).toEqual(['m1: .data.a', 'm2: .data.b .data.c']);
    const removed = await applyData(name, 'm2', { c: '3' });
    expect(removed['data']).toEqual({ a: '1', c: '3' });
    const last = await verbs.apply(configMaps, name, configMap(name), by('m2'));
    expect(last['data']).toEqual({ a: '1' });
    expect(ownersOf(last)).toEqual(['m1: .data.a']);
  });

  test('twice is once', async () => {
    const name = fresh();
    await applyData(name, 'm1', { a: '1' });
    const once = await applyData(name, 'm2', { a: '1' });
    expect(await applyData(name, 'm2', { a: '1' })).toEqual(once);
  });

  test('names each field of others that it would change, and takes them by force', async () => {
    const name = fresh();
    await applyData(name, 'm1', { a: '1', b: '2' });
    await verbs.patch(configMaps, name, data({ c: '3' }), by('w'));
    const { code, details, message } = await failure(
      applyData(name, 'm2', { a: '9', b: '2', c: '9' }),
    );
    expect(code).toBe(409);
    expect(details?.causes).toEqual([
      { reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.data.a' },
      { reason: 'FieldManagerConflict', message: 'conflict with "w" using v1', field: '.data.c' },
    ]);
    expect(message).toMatch(/^Apply failed with 2 conflicts: conflicts with "m1":\n- \.data\.a\n/);
    const forced = await applyData(name, 'm2', { a: '9', c: '9' }, '&force=true');
    expect(forced['data']).toEqual({ a: '9', b: '2', c: '9' });
    expect(ownersOf(forced)).toEqual(['m1: .data.b', 'm2: .data.a .data.c']);
  });

  test('lets defaults come back where nobody owns a field any more', async () => {
    const name = fresh();
    const made = await verbs.apply(deployments, name, deployment(name, { replicas: 3 }), by('m'));
    expect(made['spec']).toMatchObject({ replicas: 3 });
    const without = await verbs.apply(deployments, name, deployment(name), by('m'));
    expect(without['spec']).toMatchObject({ replicas: 1 });
    expect(ownersOf(without).join()).not.toContain('.spec.replicas');
  });

  test('owns elements of lists by their keys, with what an absent key stands for', async () => {
    const name = fresh();
    const ports = (...list: object[]): object => deployment(name, {}, list);
    await verbs.apply(deployments, name, ports({ containerPort: 80 }), by('m1'));
    const udp = { containerPort: 80, protocol: 'UDP', name: 'u' };
    const both = await verbs.apply(deployments, name, ports(udp), by('m2'));
    expect(both['spec']).toMatchObject({
      template: podTemplate([{ containerPort: 80, protocol: 'TCP' }, udp]),
    });
    const element = '.ports[containerPort=80,protocol="TCP"]';
    expect(ownersOf(both)[0]).toContain(element);
    expect(ownersOf(both)[1]).not.toContain(element);
    const change = ports({ ...udp, name: 'v' });
    expect((await failure(verbs.apply(deployments, name, change, by('m1')))).details).toEqual({
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "m2"',
          field:
            '.spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="UDP"].name',
        },
      ],
    });
  });

  test('through a subresource owns what it sets there', async () => {
    const name = fresh();
    await verbs.apply(deployments, name, deployment(name), by('m'));
    const status = { metadata: { name }, spec: { replicas: 7 }, status: { observedGeneration: 1 } };
    const written = await verbs.apply(deployments, name, status, {
      ...by('ctl'),
      subresource: 'status',
    });
    expect(written).toMatchObject({ spec: { replicas: 1 }, status: { observedGeneration: 1 } });
    expect(ownersOf(written)).toContainEqual('ctl/status: .status.observedGeneration');
  });

  test('to a scale takes the replicas, which the object then cannot change', async () => {
    const name = fresh();
    await verbs.apply(deployments, name, deployment(name, { replicas: 2 }), by('m'));
    const scale = { metadata: { name }, spec: { replicas: 5 } };
    const body = { kind: 'Scale', apiVersion: 'autoscaling/v1', ...scale };
    const texts = { subresource: 'scale' };
    const refused = failure(
      verbs.apply(deployments, name, body, { ...texts, query: 'fieldManager=hpa' }),
    );
    expect((await refused).details?.causes).toHaveLength(1);
    await verbs.apply(deployments, name, body, { ...texts, query: 'fieldManager=hpa&force=true' });
    const scaled = await verbs.get(deployments, name);
    expect(scaled['spec']).toMatchObject({ replicas: 5 });
    expect(ownersOf(scaled)).toContainEqual('hpa/scale: .spec.replicas');
    const change = deployment(name, { replicas: 2 });
    expect(await codeOf(verbs.apply(deployments, name, change, by('m')))).toBe(409);
    const left = await verbs.apply(deployments, name, deployment(name), by('m'));
    expect(left['spec']).toMatchObject({ replicas: 5 });
  });

  test('of many at once is kept by all, also through another replica', async () => {
    const name = fresh();
    const other = await registry.replica();
    const drivers = [verbs, new VerbDriver(other)] as const;
    const stores = [configMaps, other.store('configmaps')] as const;
    const writers = Array.from({ length: 20 }, (_, index) => `w${String(index).padStart(2, '0')}`);
    await Promise.all(
      writers.map((writer, index) => {
        const at = index % 2 === 0 ? 0 : 1;
        const body = configMap(name, data({ [writer]: '1', all: '1' }));
        return drivers[at].apply(stores[at], name, body, by(writer));
      }),
    );
    const owners = ownersOf(await verbs.get(configMaps, name));
    // Who wrote in one second is in the order of names.
    expect(owners.sort()).toEqual(writers.map((writer) => `${writer}: .data.all .data.${writer}`));
  });

  test('that lost a race finds its conflict in what won', async () => {
    const name = fresh();
    await applyData(name, 'base', { k: '0' });
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        applyData(name, `m${String(index)}`, { one: String(index) }),
      ),
    );
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(9);
    for (const result of refused) expect(result).toMatchObject({ reason: { code: 409 } });
    expect(ownersOf(await verbs.get(configMaps, name))).toHaveLength(2);
  });

  test('makes an absent object only for who may create', async () => {
    const name = fresh();
    const answer = configMaps.patch({
      ...scope(),
      path: { namespace: 'ns', name, subresource: '' },
      kind: 'apply',
      patch: bytesOf({ kind: 'ConfigMap', apiVersion: 'v1', ...configMap(name) }),
      options: parseWriteOptions(params('fieldManager=m'), 'apply', replica.naming),
      authorizeCreate: () => Promise.reject(new StatusError(403, 'Forbidden', 'no')),
    });
    expect(await codeOf(answer)).toBe(403);
    expect(await codeOf(verbs.get(configMaps, name))).toBe(404);
  });

  test.each([
    ['another kind', { kind: 'Secret' }, 400],
    ['no kind', { kind: '' }, 400],
    ['another version', { apiVersion: 'v2' }, 400],
    ['another name', { metadata: { name: 'other' } }, 400],
    ['no name', { metadata: {} }, 400],
    ['managers', { metadata: { name: 'x', managedFields: [] } }, 400],
    ['a value of the wrong type', { metadata: { name: 'x' }, data: 'text' }, 400],
    ['a uid, and no object', { metadata: { name: 'x', uid: 'u' } }, 409],
    ['YAML that is none', 'a: [', 400],
    ['nothing', '', 400],
    ['a list', '- a', 400],
  ])('of a body with %s is refused', async (_what, body, code) => {
    expect(await codeOf(verbs.apply(configMaps, 'x', body, by('m')))).toBe(code);
  });

  test('refuses two elements with one key, and says where', async () => {
    const name = fresh();
    const body = deployment(name, {}, [{ containerPort: 80 }, { containerPort: 80 }]);
    const { code, message } = await failure(verbs.apply(deployments, name, body, by('m')));
    expect(code).toBe(400);
    expect(message).toContain(
      '.spec.template.spec.containers[name="c"].ports: duplicate entries for key',
    );
  });

  test('of a stale version is a conflict', async () => {
    const name = fresh();
    const { metadata } = await applyData(name, 'm', { a: '1' });
    const body = configMap(name, data({ a: '2' }), { resourceVersion: metadata.resourceVersion });
    await verbs.apply(configMaps, name, body, by('m'));
    expect(await codeOf(verbs.apply(configMaps, name, body, by('m')))).toBe(409);
  });

  test('goes on from what kubectl has applied on the client', async () => {
    const name = fresh();
    const note = 'kubectl.svc.io/last-applied-configuration';
    const noted = { apiVersion: 'v1', kind: 'ConfigMap', ...configMap(name, data({ a: '1' })) };
    const client = configMap(name, data({ a: '1' }), {
      annotations: { [note]: JSON.stringify(noted) },
    });
    await verbs.create(configMaps, client, 'fieldManager=kubectl-client-side-apply');
    expect(await codeOf(applyData(name, 'other', { a: '2' }))).toBe(409);
    const applied = await applyData(name, 'kubectl', { a: '2' });
    expect(applied['data']).toEqual({ a: '2' });
    const text = (applied.metadata['annotations'] as Record<string, string>)[note] ?? '';
    expect(JSON.parse(text)).toMatchObject({ data: { a: '2' } });
    await verbs.patch(configMaps, name, data({ a: '3' }), by('someone'));
    expect(await codeOf(applyData(name, 'kubectl', { a: '2' }))).toBe(409);
  });
});

describe('other writes', () => {
  test('own what they change', async () => {
    const name = fresh();
    const made = await verbs.create(
      configMaps,
      configMap(name, data({ a: '1' })),
      'fieldManager=c',
    );
    expect(ownersOf(made)).toEqual(['(c): .data .data.a']);
    const patched = await verbs.patch(configMaps, name, data({ b: '2' }), by('p'));
    expect(ownersOf(patched)).toEqual(['(c): .data .data.a', '(p): .data.b']);
    await verbs.update(configMaps, name, configMap(name, data({ b: '3' })), by('u'));
    const updated = await verbs.get(configMaps, name);
    expect(ownersOf(updated)).toEqual(['(c): .data', '(u): .data.b']);
  });

  test('of text to a secret own the data that it becomes', async () => {
    const name = fresh();
    const text = (value: string): object => configMap(name, { stringData: { a: value } });
    const made = await verbs.create(secrets, text('1'), 'fieldManager=c');
    expect(ownersOf(made)).toEqual(['(c): .data .type .data.a']);
    await verbs.patch(secrets, name, { stringData: { a: '2', b: '2' } }, by('p'));
    const applied = await verbs.apply(secrets, name, text('3'), by('m'));
    expect(applied['data']).toEqual({ a: 'Mw==', b: 'Mg==' });
    expect(ownersOf(applied)[0]).toBe('m: .stringData.a');
    expect(await verbs.apply(secrets, name, text('3'), by('m'))).toEqual(applied);
  });

  test('track nothing of an object that nobody manages, until it is applied', async () => {
    const name = fresh();
    await verbs.create(configMaps, configMap(name, data({ a: '1' })), 'fieldManager=c');
    const reset = { metadata: { managedFields: [{}] } };
    expect(ownersOf(await verbs.patch(configMaps, name, reset, by('r')))).toEqual([]);
    expect(ownersOf(await verbs.patch(configMaps, name, data({ b: '2' }), by('p')))).toEqual([]);
    expect(ownersOf(await applyData(name, 'm', { c: '3' }))).toEqual([
      'm: .data.c',
      '(before-first-apply): .data .data.a .data.b',
    ]);
  });

  test('that reset the managers own what they change besides', async () => {
    const name = fresh();
    await applyData(name, 'm', { a: '1' });
    const change = { metadata: { managedFields: [{}] }, ...data({ b: '2' }) };
    expect(ownersOf(await verbs.patch(configMaps, name, change, by('w')))).toEqual([
      '(w): .data.b',
    ]);
  });

  test.each([
    ['an empty list', []],
    ['an entry without fields', [{ manager: 'x', operation: 'Update', apiVersion: 'v1' }]],
    ['an unknown operation', [{ operation: 'X', apiVersion: 'v1', fieldsV1: {} }]],
    ['null', null],
  ])('with %s as managers keep those that are stored', async (_what, managedFields) => {
    const name = fresh();
    const made = await applyData(name, 'm', { a: '1' });
    expect(await verbs.patch(configMaps, name, { metadata: { managedFields } })).toEqual(made);
  });

  test('are taken from an object whose managers another server wrote wrongly', async () => {
    const name = fresh();
    const odd = {
      namespace: 'ns',
      managedFields: [{ manager: 'x', operation: 'Sometimes', apiVersion: 'v1' }],
    };
    const value = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      ...configMap(name, data({ a: '1' }), odd),
    };
    const key = `/registry/configmaps/ns/${name}`;
    await replica.storage.put(key, bytesOf(value), { expected: 0 }, AbortSignal.timeout(60_000));
    expect(ownersOf(await applyData(name, 'm', { b: '2' }))).toEqual([
      'm: .data.b',
      '(before-first-apply): .data .data.a',
    ]);
  });

  test('may set the managers, as clients do that go over to apply', async () => {
    const name = fresh();
    const made = await verbs.create(
      configMaps,
      configMap(name, data({ a: '1' })),
      'fieldManager=c',
    );
    const [entry] = made.metadata['managedFields'] as object[];
    const managedFields = [{ ...entry, manager: 'k', operation: 'Apply' }];
    const patched = await verbs.patch(configMaps, name, { metadata: { managedFields } });
    expect(ownersOf(patched)).toEqual(['k: .data .data.a']);
  });

  test('of the status own the status alone', async () => {
    const name = fresh();
    await verbs.create(deployments, deployment(name), 'fieldManager=c');
    const change = { spec: { replicas: 9 }, status: { replicas: 1 } };
    const texts = { ...by('ctl'), subresource: 'status' };
    const written = await verbs.patch(deployments, name, change, texts);
    expect(ownersOf(written)).toContainEqual('(ctl/status): .status.replicas');
    const both = await verbs.patch(deployments, name, change, by('u'));
    expect(ownersOf(both)).toContainEqual('(u): .spec.replicas');
  });

  test('beyond the tenth writer are ancient', async () => {
    const name = fresh();
    await verbs.create(configMaps, configMap(name, data({ w: '0' })), 'fieldManager=w00');
    for (let index = 1; index <= 12; index += 1) {
      const writer = `w${String(index).padStart(2, '0')}`;
      await verbs.patch(configMaps, name, data({ [writer]: '1' }), by(writer));
    }
    const owners = ownersOf(await verbs.get(configMaps, name));
    expect(owners).toHaveLength(10);
    expect(owners).toContainEqual('(ancient-changes): .data .data.w .data.w01 .data.w02 .data.w03');
  });

  test('that change nothing keep the managers with their times', async () => {
    const name = fresh();
    const made = await verbs.create(
      configMaps,
      configMap(name, data({ a: '1' })),
      'fieldManager=c',
    );
    expect(await verbs.patch(configMaps, name, data({ a: '1' }), by('other'))).toEqual(made);
  });
});
