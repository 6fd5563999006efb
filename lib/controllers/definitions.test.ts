import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { serverUser } from '../base/user.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { codeOf, failure, objectOf, scope, VerbDriver } from '../registry/testing/verb-driver.ts';
import { DefinitionController } from './definitions.ts';
import { during } from './testing/run-controller.ts';

const name = 'widgets.example.com';
const finalizer = 'customresourcecleanup.apiextensions.svc.io';
let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let definitions: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  definitions = replica.store('apiextensions.svc.io/customresourcedefinitions');
});

afterAll(async () => {
  await registry.stop();
});

const make = (): Promise<unknown> =>
  verbs.create(definitions, {
    metadata: { name },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  });

test('a definition is held, whatever the policy, until the controller lets it go', async () => {
  await make();
  const wrong = verbs.remove(definitions, name, { body: { preconditions: { uid: 'x' } } });
  expect((await failure(wrong)).details?.kind).toBe('customresourcedefinitions');
  const query = 'propagationPolicy=Orphan';
  const ending = await objectOf(verbs.remove(definitions, name, { query }));
  expect(ending.metadata).toMatchObject({ finalizers: [finalizer], generation: 1 });
  expect(ending.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
  expect(ending['status']).toMatchObject({
    conditions: [{ type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending' }],
  });
  expect(await objectOf(verbs.remove(definitions, name))).toEqual(ending);
  const controller = new DefinitionController({
    definitions,
    naming: replica.naming,
    client: internalClient(serverUser),
    clock: systemClock,
    log: createLogger('error'),
  });
  await during(controller, async () => {
    const { signal } = scope();
    while ((await verbs.list(definitions)).items.length > 0) await sleep(20, signal);
  });
  await make();
  expect(await codeOf(make())).toBe(409);
});
