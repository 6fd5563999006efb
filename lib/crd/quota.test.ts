// Custom objects under quotas: counted by the name of their resource, with the object.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { create, makeQuota, outcomeOf, usedOf } from '../registry/testing/quotas.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import { definingReplica } from './testing/definitions-on-etcd.ts';
import type { ServingDefinitions } from './testing/definitions-on-etcd.ts';

let registry: RegistryOnEtcd;
let serving: ServingDefinitions;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  serving = await definingReplica(registry, { onQuotaTransaction: () => undefined });
});
afterAll(async () => {
  serving.end();
  await registry.stop();
});

test('q.all: custom objects beside built-in ones are charged to one quota', async () => {
  await serving.define({ plural: 'widgets', versions: [{ name: 'v1' }] });
  const { replica } = serving;
  const namespace = 'n';
  const hard = { 'count/widgets.example.com': '3', configmaps: '100' };
  await makeQuota([replica], { namespace, name: 'q', hard });
  const writes = Array.from({ length: 12 }, (_, at) => {
    const resource = at % 2 === 0 ? 'example.com/widgets' : 'configmaps';
    return outcomeOf(create(replica, resource, { namespace, name: `o${String(at)}` }));
  });
  const outcomes = await Promise.all(writes);
  const refused = outcomes.filter((outcome) => outcome !== 'written');
  expect(refused).toHaveLength(3);
  for (const outcome of refused) {
    expect(outcome).toMatch(/^403 widgets\.example\.com .* exceeded quota: q, requested: count\//);
  }
  expect(await usedOf(replica, namespace, 'q')).toEqual({
    ...{ 'count/widgets.example.com': '3', configmaps: '6' },
  });
});
