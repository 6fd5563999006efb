// An object that is applied in several versions: owners state their fields in their own, conflicts
// are told in that of the owner, and what nobody states any more goes from every version.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ResourceStore } from './resource-store.ts';
import { ownersOf } from './testing/owners.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import { failure, fresh, VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let verbs: VerbDriver;
let first: ResourceStore;
let second: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const replica = await registry.replica({ canDeleteUnreadable: true });
  verbs = new VerbDriver(replica);
  first = replica.store('autoscaling/horizontalpodautoscalers', 'v1');
  second = replica.store('autoscaling/horizontalpodautoscalers', 'v2');
});

afterAll(async () => {
  await registry.stop();
});

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const metric = (name: string, averageUtilization: number): object => ({
  type: 'Resource',
  resource: { name, target: { type: 'Utilization', averageUtilization } },
});
/** In the order in which the first version gives them back. */
const metrics = (cpu: number): object => ({ metrics: [metric('memory', 60), metric('cpu', cpu)] });
const targetRef = '.spec.scaleTargetRef';
const targetOfSecond = `${targetRef}.apiVersion ${targetRef}.kind ${targetRef}.name`;

interface Scaling {
  readonly max: number;
  readonly cpu: number;
}

const applyFirst = (
  name: string,
  manager: string,
  { max, cpu }: Scaling,
  more = '',
): Promise<Sent> => {
  const spec = { scaleTargetRef, maxReplicas: max, targetCPUUtilizationPercentage: cpu };
  const query = `fieldManager=${manager}${more}`;
  return verbs.apply(first, name, { metadata: { name }, spec }, { query });
};
const applySecond = (
  name: string,
  manager: string,
  { max, cpu }: Scaling,
  more = '',
): Promise<Sent> => {
  const spec = { scaleTargetRef, minReplicas: 2, maxReplicas: max, ...metrics(cpu) };
  const query = `fieldManager=${manager}${more}`;
  return verbs.apply(second, name, { metadata: { name }, spec }, { query });
};
const conflictsOf = async (run: Promise<unknown>): Promise<string[]> =>
  ((await failure(run)).details?.causes ?? []).map(
    ({ field, message }) => `${message ?? ''}: ${field ?? ''}`,
  );

describe('an object that is applied in two versions', () => {
  test('has owners who each state the fields of their own version', async () => {
    const name = fresh();
    await applySecond(name, 'two', { max: 5, cpu: 50 });
    const both = await applyFirst(name, 'one', { max: 5, cpu: 50 });
    expect(ownersOf(both).sort()).toEqual([
      `one: .spec.maxReplicas ${targetRef} .spec.targetCPUUtilizationPercentage`,
      `two: .spec.maxReplicas .spec.metrics .spec.minReplicas ${targetOfSecond}`,
    ]);
    expect(await applyFirst(name, 'one', { max: 5, cpu: 50 })).toEqual(both);
    const { metadata } = await applySecond(name, 'two', { max: 5, cpu: 50 });
    expect(metadata.resourceVersion).toBe(both.metadata.resourceVersion);
  });

  test('conflicts over the field as its owner stated it', async () => {
    const name = fresh();
    await applySecond(name, 'two', { max: 5, cpu: 50 });
    expect(await conflictsOf(applyFirst(name, 'one', { max: 7, cpu: 70 }))).toEqual([
      'conflict with "two": .spec.maxReplicas',
      'conflict with "two": .spec.metrics',
    ]);
    await applyFirst(name, 'one', { max: 7, cpu: 70 }, '&force=true');
    expect(ownersOf(await verbs.get(second, name))).toContainEqual(
      `two: .spec.minReplicas ${targetOfSecond}`,
    );
    expect(await conflictsOf(applySecond(name, 'two', { max: 5, cpu: 50 }))).toEqual([
      'conflict with "one": .spec.maxReplicas',
      'conflict with "one": .spec.targetCPUUtilizationPercentage',
    ]);
    const forced = await applySecond(name, 'two', { max: 5, cpu: 50 }, '&force=true');
    expect(forced['spec']).toMatchObject({ maxReplicas: 5, ...metrics(50) });
    expect(ownersOf(forced)).toContainEqual(`one: ${targetRef}`);
  });

  test('by one manager has what that states last, in its order', async () => {
    const name = fresh();
    await applyFirst(name, 'one', { max: 5, cpu: 50 });
    const spec = {
      scaleTargetRef,
      maxReplicas: 6,
      metrics: [metric('cpu', 60), metric('memory', 60)],
    };
    const apply = (): Promise<Sent> =>
      verbs.apply(second, name, { metadata: { name }, spec }, { query: 'fieldManager=one' });
    const applied = await apply();
    expect(ownersOf(applied)).toEqual([`one: .spec.maxReplicas .spec.metrics ${targetOfSecond}`]);
    expect(applied['spec']).toMatchObject(spec);
    expect(await apply()).toEqual(applied);
  });

  test('loses what its manager states no more, in whichever version it did', async () => {
    const name = fresh();
    await applySecond(name, 'one', { max: 5, cpu: 50 });
    const applied = await applyFirst(name, 'one', { max: 5, cpu: 50 });
    expect(applied['spec']).toMatchObject({ minReplicas: 1, targetCPUUtilizationPercentage: 50 });
  });
});
