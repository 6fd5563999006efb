// The subresources of every built-in kind: each is served with the verbs that its record names.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';

let registry: RegistryOnEtcd;
let replica: Replica;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
});
afterAll(() => registry.stop());

test('every subresource has what its verbs need', () => {
  const faults: string[] = [];
  let count = 0;
  for (const { resource, subresources } of replica.stores.all) {
    for (const { name, verbs } of resource.subresources) {
      const id = `${resource.resource}/${name}`;
      const served = subresources.get(name);
      count++;
      if (served === undefined) {
        faults.push(`${id} is not served`);
        continue;
      }
      expect(served.info.verbs).toEqual(verbs);
      const missing = verbs.filter((verb) => !(verb in served));
      if (served.connect === undefined) faults.push(...missing.map((verb) => `${id}: no ${verb}`));
    }
    const declared = resource.subresources.map(({ name }) => name);
    const others = [...subresources.keys()].filter((name) => !declared.includes(name));
    faults.push(...others.map((name) => `${resource.resource}/${name} is not declared`));
  }
  expect(faults).toEqual([]);
  expect(count).toBeGreaterThan(40);
});
