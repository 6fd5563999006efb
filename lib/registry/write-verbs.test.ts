import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { jsonCodec } from '../codec/json.ts';
import { parseWriteOptions } from './options.ts';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import {
  bytesOf,
  causesOf,
  codeOf,
  configMap,
  failure,
  fresh,
  leaseBody,
  params,
  scope,
  sent,
  VerbDriver,
} from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

const namespace = 'ns';
let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let configMaps: ResourceStore;
let leases: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ canDeleteUnreadable: true });
  verbs = new VerbDriver(replica);
  configMaps = replica.store('configmaps');
  leases = replica.store(`coordination.${replica.naming.resolve('{v}')}/leases`);
});

afterAll(async () => {
  await registry.stop();
});

describe('create', () => {
  test('answers what is stored, with everything the server owns', async () => {
    const name = fresh();
    const made = await verbs.create(configMaps, configMap(name, { data: { k: 'v' } }));
    expect(made).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name,
        namespace,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        resourceVersion: expect.stringMatching(/^\d+$/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        managedFields: [expect.objectContaining({ manager: 'unknown', operation: 'Update' })],
      },
      data: { k: 'v' },
    });
    expect(await verbs.get(configMaps, name)).toEqual(made);
  });

  test('replaces what the client says about members of the server', async () => {
    const uid = '11111111-2222-3333-4444-555555555555';
    const time = '2001-02-03T04:05:06Z';
    const { metadata } = await verbs.create(
      configMaps,
      configMap(
        fresh(),
        {},
        {
          uid,
          creationTimestamp: time,
          deletionTimestamp: time,
          generation: 7,
          selfLink: '/x',
          deletionGracePeriodSeconds: 5,
          resourceVersion: '0',
        },
      ),
    );
    expect(metadata.uid).not.toBe(uid);
    expect(metadata['creationTimestamp']).not.toBe(time);
    expect(Object.keys(metadata).sort()).toEqual([
      'creationTimestamp',
      'generation',
      'managedFields',
      'name',
      'namespace',
      'resourceVersion',
      'uid',
    ]);
    expect(metadata['generation']).toBe(7); // the kind counts none
  });

  test('makes names from a prefix, cut to 63 characters', async () => {
    const body = { metadata: { generateName: 'x'.repeat(80) } };
    const [one, two] = [await verbs.create(configMaps, body), await verbs.create(configMaps, body)];
    expect(one.metadata.name).toMatch(/^x{58}[a-z0-9]{5}$/);
    expect(two.metadata.name).not.toBe(one.metadata.name);
  });

  test.each([
    ['no name', { metadata: {} }, 422],
    ['a stated version', configMap('v', {}, { resourceVersion: '12' }), 400],
    ['another namespace', configMap('n', {}, { namespace: 'elsewhere' }), 400],
    ['another kind', { ...configMap('k'), kind: 'Secret', apiVersion: 'v1' }, 400],
    ['another version', { ...configMap('k'), kind: 'ConfigMap', apiVersion: 'v2' }, 400],
    ['a bad name', configMap('Bad_Name'), 422],
    ['a bad label', configMap('l', {}, { labels: { 'bad key': 'v' } }), 422],
  ])('with %s is refused', async (_what, body, code) => {
    expect(await codeOf(verbs.create(configMaps, body))).toBe(code);
  });

  test('of a taken name is a 409', async () => {
    const name = fresh();
    await verbs.create(configMaps, configMap(name));
    expect(await failure(verbs.create(configMaps, configMap(name)))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      details: { name, kind: 'configmaps' },
    });
  });

  test('dry run answers the object without version and stores nothing', async () => {
    const name = fresh();
    const made = await verbs.create(configMaps, configMap(name), 'dryRun=All');
    expect(made.metadata).not.toHaveProperty('resourceVersion');
    expect(made.metadata.uid).toBeTruthy();
    expect(await codeOf(verbs.get(configMaps, name))).toBe(404);
    await verbs.create(configMaps, configMap(name));
    expect(await codeOf(verbs.create(configMaps, configMap(name), 'dryRun=All'))).toBe(409);
  });

  test('unknown fields are warnings, errors or nothing', async () => {
    const body = (): object => ({ ...configMap(fresh()), nosuch: 1 });
    const answer = async (query: string): Promise<string[]> => {
      const request = scope();
      await configMaps.create({
        ...request,
        path: { namespace, name: '', subresource: '' },
        body: jsonCodec.decode(bytesOf(body()), configMaps.resource.type),
        options: parseWriteOptions(params(query), 'create', replica.naming),
      });
      return request.warnings;
    };
    expect(await answer('')).toEqual(['unknown field "nosuch"']);
    expect(await answer('fieldValidation=Ignore')).toEqual([]);
    expect(await failure(answer('fieldValidation=Strict'))).toMatchObject({
      code: 400,
      message: expect.stringContaining('strict decoding error: unknown field "nosuch"'),
    });
  });

  test('events are stored for a limited time', async () => {
    const events = replica.store('events');
    const name = fresh();
    expect(await registry.etcd.etcdctl('lease', 'list')).toMatch(/found 0 leases/);
    await verbs.create(events, { metadata: { name }, involvedObject: { namespace }, reason: 'R' });
    await verbs.patch(events, name, { count: 2 });
    expect(await registry.etcd.etcdctl('lease', 'list')).toMatch(/found 1 leases/);
    const key = `/registry/events/${namespace}/${name}`;
    const stored = await registry.etcd.etcdctl('get', key, '--write-out=json');
    expect(JSON.parse(stored)).toMatchObject({ kvs: [{ lease: expect.any(Number) }] });
  });

  test('any key of a map is data', async () => {
    const name = fresh();
    const data = JSON.parse('{"__proto__":"p","constructor":"c","toString":"t"}') as object;
    const made = await verbs.create(configMaps, configMap(name, { data }));
    expect(JSON.stringify(made['data'])).toBe(JSON.stringify(data));
    const patched = await verbs.patch(
      configMaps,
      name,
      '{"data":{"__proto__":"q","hasOwnProperty":"h"}}',
    );
    expect(Object.entries(patched['data'] as object)).toEqual([
      ['__proto__', 'q'],
      ['constructor', 'c'],
      ['hasOwnProperty', 'h'],
      ['toString', 't'],
    ]);
  });

  test('an object larger than etcd takes is a 413 and not stored', async () => {
    const name = fresh();
    const revisions = replica.store('apps/controllerrevisions');
    const data = { k: 'x'.repeat(1.6 * 1024 * 1024) };
    const body = { metadata: { name }, revision: 1, data };
    expect(await codeOf(verbs.create(revisions, body))).toBe(413);
    expect(await codeOf(verbs.get(revisions, name))).toBe(404);
  });

  test('all failures of an object are told at once', async () => {
    const data = { 'no key': 'x', ok: 'y' };
    const error = await failure(verbs.create(configMaps, configMap('Bad', { data })));
    expect(error.code).toBe(422);
    expect(error.details?.causes?.map((cause) => cause.field)).toEqual([
      'metadata.name',
      'data[no key]',
    ]);
  });
});

describe('update', () => {
  test('keeps what belongs to the server', async () => {
    const name = fresh();
    const made = await verbs.create(configMaps, configMap(name, { data: { k: '1' } }));
    const put = await verbs.update(
      configMaps,
      name,
      configMap(
        name,
        { data: { k: '2' } },
        {
          creationTimestamp: '2001-02-03T04:05:06Z',
          uid: made.metadata.uid,
        },
      ),
    );
    expect(put.created).toBe(false);
    const now = sent(put.item);
    expect(now['data']).toEqual({ k: '2' });
    expect({ ...now.metadata, resourceVersion: '' }).toEqual({
      ...made.metadata,
      resourceVersion: '',
    });
    expect(now.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
  });

  test('that changes nothing keeps the version, whatever the form of the body', async () => {
    const name = fresh();
    const made = await verbs.create(configMaps, configMap(name, { data: { k: '1' } }));
    const { resourceVersion } = made.metadata;
    const same = [
      configMap(name, { data: { k: '1' } }),
      configMap(name, { data: { k: '1' } }, { resourceVersion, labels: {}, finalizers: [] }),
    ];
    for (const body of same) {
      const put = await verbs.update(configMaps, name, body);
      expect(sent(put.item).metadata.resourceVersion).toBe(resourceVersion);
    }
  });

  test('with a stale version is a 409 at once', async () => {
    const name = fresh();
    const made = await verbs.create(configMaps, configMap(name, { data: { k: '1' } }));
    await verbs.update(configMaps, name, configMap(name, { data: { k: '2' } }));
    const stale = configMap(name, {}, { resourceVersion: made.metadata.resourceVersion });
    expect(await failure(verbs.update(configMaps, name, stale))).toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
  });

  test.each([
    ['another name', (_name: string) => configMap('other'), 400],
    ['no name', (_name: string) => ({ metadata: {} }), 400],
    ['another namespace', (name: string) => configMap(name, {}, { namespace: 'x' }), 400],
    ['another uid', (name: string) => configMap(name, {}, { uid: 'other' }), 409],
    ['a malformed version', (name: string) => configMap(name, {}, { resourceVersion: 'abc' }), 400],
    [
      'a deletion time',
      (name: string) => configMap(name, {}, { deletionTimestamp: '2001-02-03T04:05:06Z' }),
      422,
    ],
  ])('with %s is refused', async (_what, bodyOf, code) => {
    const name = fresh();
    await verbs.create(configMaps, configMap(name));
    expect(await codeOf(verbs.update(configMaps, name, bodyOf(name)))).toBe(code);
  });

  test('of an absent object is a 404, or makes it where the kind allows', async () => {
    const name = fresh();
    expect(await codeOf(verbs.update(configMaps, name, configMap(name)))).toBe(404);
    const made = await verbs.update(leases, name, leaseBody(name));
    expect(made.created).toBe(true);
    expect(await verbs.get(leases, name)).toEqual(sent(made.item));
  });

  test('of an absent object makes it whatever version it states, but not with a uid', async () => {
    const name = fresh();
    expect(await codeOf(verbs.update(leases, name, leaseBody(name, { uid: 'u' })))).toBe(409);
    const stating = (resourceVersion: string): object => leaseBody(name, { resourceVersion });
    expect(await codeOf(verbs.update(leases, name, stating('abc')))).toBe(400);
    expect((await verbs.update(leases, name, stating('5'))).created).toBe(true);
  });

  test('that creates asks for the permission to create', async () => {
    const name = fresh();
    const refused = leases.update({
      ...scope(),
      path: { namespace, name, subresource: '' },
      body: jsonCodec.decode(bytesOf(leaseBody(name)), leases.resource.type),
      options: parseWriteOptions(params(''), 'update', replica.naming),
      authorizeCreate: () => Promise.reject(new StatusError(403, 'Forbidden', 'no')),
    });
    expect(await codeOf(refused)).toBe(403);
    expect(await codeOf(verbs.get(leases, name))).toBe(404);
  });

  test('without version is refused where the kind demands one', async () => {
    const name = fresh();
    await verbs.create(leases, leaseBody(name));
    expect(await causesOf(verbs.update(leases, name, leaseBody(name)))).toEqual([
      'metadata.resourceVersion FieldValueInvalid',
    ]);
  });

  test('dry run shows the change with the stored version', async () => {
    const name = fresh();
    const made = await verbs.create(configMaps, configMap(name, { data: { k: '1' } }));
    const body = configMap(name, { data: { k: '2' } });
    const { item } = await verbs.update(configMaps, name, body, { query: 'dryRun=All' });
    expect(sent(item)).toEqual({ ...made, data: { k: '2' } });
    expect(await verbs.get(configMaps, name)).toEqual(made);
    const lease = fresh();
    const dry = await verbs.update(leases, lease, leaseBody(lease), { query: 'dryRun=All' });
    expect(dry.created).toBe(true);
    expect(await codeOf(verbs.get(leases, lease))).toBe(404);
  });
});

describe('status and generation', () => {
  const body = (name: string): object => ({
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      },
    },
    status: { replicas: 7 },
  });
  const seen = (object: Sent): unknown[] => {
    const spec = object['spec'] as { replicas?: number };
    const status = object['status'] as { replicas?: number };
    return [object.metadata['generation'], spec.replicas, status.replicas ?? null];
  };

  test('each writes its own part; only the spec counts', async () => {
    const deployments = replica.store('apps/deployments');
    const name = fresh();
    expect(seen(await verbs.create(deployments, body(name)))).toEqual([1, 1, null]);
    const label = { metadata: { labels: { x: 'y' } } };
    expect(seen(await verbs.patch(deployments, name, label))).toEqual([1, 1, null]);
    expect(seen(await verbs.patch(deployments, name, { spec: { replicas: 2 } }))).toEqual([
      2,
      2,
      null,
    ]);
    const status = { subresource: 'status' };
    const both = { spec: { replicas: 9 }, status: { replicas: 2 } };
    expect(seen(await verbs.patch(deployments, name, both, status))).toEqual([2, 2, 2]);
    expect(seen(await verbs.patch(deployments, name, { status: { replicas: 5 } }))).toEqual([
      2, 2, 2,
    ]);
  });
});
