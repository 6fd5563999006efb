// What admission may not make of an object: another identity, or owners that nobody can read.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionPlugin } from '../admission/plugin.ts';
import type { JsonObject } from '../api/type-info.ts';
import { jsonCodec } from '../codec/json.ts';
import { parseWriteOptions } from './options.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { bytesOf, codeOf, fresh, params, scope, sent, VerbDriver } from './testing/verb-driver.ts';
import type { ResourceStore } from './resource-store.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let configMaps: ResourceStore;
let mutate: NonNullable<AdmissionPlugin['mutate']>;
const plugin: AdmissionPlugin = {
  name: 'Test',
  isConfigured: true,
  sideEffects: false,
  handles: () => true,
  mutate: (...args) => mutate(...args),
};

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ admission: admissionChain([plugin]) });
  verbs = new VerbDriver(replica);
  configMaps = replica.store('configmaps');
});
afterAll(() => registry.stop());
beforeEach(() => {
  mutate = () => false;
});

const changing =
  (metadata: JsonObject): typeof mutate =>
  (_request, object) => {
    Object.assign(object.metadata ?? {}, metadata);
    return true;
  };

const created = async (metadata: object) => {
  const request = scope();
  const { item } = await configMaps.create({
    ...request,
    path: { namespace: 'ns', name: '', subresource: '' },
    body: jsonCodec.decode(bytesOf({ metadata }), configMaps.resource.type),
    options: parseWriteOptions(params('fieldManager=m'), 'create', replica.naming),
  });
  return { item, warnings: request.warnings };
};

describe('w.managed-fields', () => {
  test.each([
    ['an entry without an operation', [{ manager: 'x' }]],
    ['no fields', [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'Other' }]],
  ])('%s: those from before, with a warning', async (_what, managedFields) => {
    mutate = changing({ managedFields });
    const { item, warnings } = await created({ name: fresh(), labels: { a: 'b' } });
    const [owner] = sent(item).metadata['managedFields'] as JsonObject[];
    expect(owner).toMatchObject({ manager: 'm', operation: 'Update' });
    expect(warnings).toEqual([expect.stringMatching(/^\.metadata\.managedFields was in an inval/)]);
  });
});

test('w.owner-dedup: owners that admission has doubled are one again, with a warning', async () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
  mutate = changing({ ownerReferences: [owner, owner] });
  const { item, warnings } = await created({ name: fresh() });
  expect(sent(item).metadata['ownerReferences']).toEqual([owner]);
  expect(warnings).toHaveLength(1);
});

test('another name, namespace or uid of a stored object is refused', async () => {
  const name = fresh();
  await verbs.create(configMaps, { metadata: { name } });
  for (const change of [{ name: 'other' }, { namespace: 'other' }, { uid: 'mine' }]) {
    mutate = changing(change);
    const update = verbs.update(configMaps, name, { metadata: { name }, data: { a: '1' } });
    expect(await codeOf(update)).toBeGreaterThanOrEqual(400);
  }
});

test('w.order: one that makes something of another shape is a failure of the server', async () => {
  mutate = (_request, object) => {
    object['data'] = 'text';
    return true;
  };
  expect(await codeOf(verbs.create(configMaps, { metadata: { name: fresh() } }))).toBe(500);
});
