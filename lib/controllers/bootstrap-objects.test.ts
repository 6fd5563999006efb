import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { codeOf, params, scope, VerbDriver } from '../registry/testing/verb-driver.ts';
import { parseDeleteOptions, parseListOptions } from '../registry/options.ts';
import { bootstrapPriorityClasses } from './bootstrap-objects.ts';
import { bootstrapNamespaces } from './system-namespaces.ts';

let registry: RegistryOnEtcd;
let replicas: Replica[];

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replicas = [await registry.replica(), await registry.replica()];
  const { signal } = scope();
  // As replicas do that start at once.
  await Promise.all(
    replicas.map(async (replica) => {
      await bootstrapNamespaces(replica.store('namespaces'), replica.naming, signal);
      await bootstrapPriorityClasses(classesOf(replica), signal);
    }),
  );
});

afterAll(async () => {
  await registry.stop();
});

const classesOf = (replica: Replica): ReturnType<Replica['store']> =>
  replica.store(replica.naming.resolve('scheduling.{v}/priorityclasses'));
const first = (): Replica => {
  const [replica] = replicas;
  if (replica === undefined) throw new Error('it has started');
  return replica;
};

test('there are the namespaces of the system', async () => {
  const { items } = await new VerbDriver(first()).list(first().store('namespaces'));
  expect(items.map(({ name }) => name)).toEqual([
    'default',
    'svc-node-lease',
    'svc-public',
    'svc-system',
  ]);
});

test.each([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
])('the priority class %s is there and cannot be deleted', async (name, value) => {
  const replica = first();
  const verbs = new VerbDriver(replica);
  const classes = classesOf(replica);
  const expected = { value, preemptionPolicy: 'PreemptLowerPriority' };
  expect(await verbs.get(classes, name)).toMatchObject(expected);
  for (const query of ['', 'dryRun=All']) {
    expect(await codeOf(verbs.remove(classes, name, { query }))).toBe(403);
  }
  const all = classes.deleteCollection({
    ...scope(),
    namespace: '',
    list: parseListOptions(params(`fieldSelector=metadata.name=${name}`)),
    options: parseDeleteOptions(params(''), undefined, replica.naming),
  });
  expect(await codeOf(all)).toBe(403);
  expect(await verbs.get(classes, name)).toMatchObject(expected);
});
