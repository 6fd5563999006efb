// Policies are told in their status which of their expressions do not fit the types of what they
// match, of built-in and of custom kinds.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadResourceSchema } from '../api/load-schema.ts';
import type { JsonObject } from '../api/type-info.ts';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { keyspace, RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { scope, VerbDriver } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { controllerUser } from './controller-user.ts';
import { PolicyTypeCheckController } from './policy-type-check.ts';
import type { QueueObserver } from './controller.ts';
import { customStores } from './testing/custom-store.ts';
import { runController } from './testing/run-controller.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let policies: ResourceStore;
let stop: () => Promise<void>;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  policies = replica.store('admissionregistration.svc.io/validatingadmissionpolicies');
  stop = lead();
});

afterAll(async () => {
  await stop();
  await registry.stop();
});

/** Policies that wait for the controller, or that it works on. */
let pendingCount = 0;
const observer: QueueObserver = {
  onReady() {
    pendingCount++;
  },
  onRun: () => () => {
    pendingCount--;
  },
  onRetry: () => undefined,
  onEnd() {
    pendingCount = 0;
  },
};

function lead(release = 'this one'): () => Promise<void> {
  const account = 'validatingadmissionpolicy-status-controller';
  const { naming, storage } = replica;
  return runController(
    new PolicyTypeCheckController({
      policies,
      resources: replica.stores,
      client: internalClient(controllerUser(naming, account)),
      ...{
        storage,
        keyspace,
        release,
        naming,
        observer,
        clock: systemClock,
        log: createLogger('error'),
      },
    }),
  );
}

interface CheckedStatus {
  readonly observedGeneration?: number;
  readonly typeChecking?: {
    readonly expressionWarnings?: readonly {
      readonly fieldRef: string;
      readonly warning: string;
    }[];
  };
}

const on = (resource: string, group: string, more: JsonObject = {}): JsonObject => ({
  resourceRules: [
    {
      operations: ['CREATE'],
      apiGroups: [group],
      apiVersions: ['v1'],
      resources: [resource],
      ...more,
    },
  ],
});

async function make(name: string, spec: JsonObject): Promise<void> {
  await verbs.create(policies, { metadata: { name }, spec });
}

/** Once the status says what is wanted of it. */
async function checked(
  name: string,
  isThere: (status: CheckedStatus, sent: Sent) => boolean,
): Promise<CheckedStatus> {
  const { signal } = scope();
  for (;;) {
    const sent = await verbs.get(policies, name);
    const status = (sent['status'] ?? {}) as CheckedStatus;
    if (isThere(status, sent)) return status;
    await sleep(5, signal);
  }
}

const isObserved = ({ observedGeneration }: CheckedStatus, { metadata }: Sent): boolean =>
  observedGeneration === metadata['generation'];
const fieldsOf = ({ typeChecking }: CheckedStatus): string[] =>
  (typeChecking?.expressionWarnings ?? []).map(({ fieldRef }) => fieldRef);

test('v.type-check: expressions and messages against built-in kinds, each generation', async () => {
  const matchConstraints = on('deployments', 'apps');
  const validations = [
    { expression: 'object.spec.replica < variables.most' },
    { expression: 'oldObject == null', messageExpression: 'string(object.spec.nowhere)' },
  ];
  const variables = [{ name: 'most', expression: '5' }];
  await make('built-in', { matchConstraints, variables, validations });
  const status = await checked('built-in', isObserved);
  expect(status.typeChecking?.expressionWarnings).toEqual([
    {
      fieldRef: 'spec.validations[0].expression',
      warning: expect.stringMatching(
        /^apps\/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replica'/,
      ),
    },
    {
      fieldRef: 'spec.validations[1].messageExpression',
      warning: expect.stringContaining("undefined field 'nowhere'"),
    },
  ]);
  const fine = [{ expression: 'object.spec.replicas < 5' }];
  await verbs.patch(policies, 'built-in', { spec: { validations: fine } });
  const again = await checked('built-in', isObserved);
  expect([again.observedGeneration, fieldsOf(again)]).toEqual([2, []]);
  expect(again.typeChecking).toBeDefined();
  const { managedFields } = (await verbs.get(policies, 'built-in')).metadata;
  expect(managedFields).toContainEqual(
    expect.objectContaining({
      manager: 'validatingadmissionpolicy-status',
      operation: 'Apply',
      subresource: 'status',
    }),
  );
});

test('v.type-check: rules with a star, subresources and unknown kinds are left out', async () => {
  const validations = [{ expression: 'object.nowhere' + ' == 1' }];
  const wild = { apiVersions: ['*'] };
  await make('star', { matchConstraints: on('deployments', 'apps', wild), validations });
  await make('part', { matchConstraints: on('deployments/scale', 'apps'), validations });
  await make('unknown', { matchConstraints: on('others', 'example.com'), validations });
  for (const name of ['star', 'part', 'unknown']) {
    expect(fieldsOf(await checked(name, isObserved))).toEqual([]);
  }
});

test('n.typeCheckedKinds: ten kinds, in the order of their names', async () => {
  const names = ['pods', 'services', 'configmaps', 'secrets', 'nodes', 'events', 'endpoints'];
  const more = [
    'limitranges',
    'namespaces',
    'persistentvolumes',
    'resourcequotas',
    'serviceaccounts',
  ];
  const validations = [{ expression: 'object.nowhere == 1' }];
  const resourcesOfRule = { resources: [...names, ...more] };
  await make('many', { matchConstraints: on('', '', resourcesOfRule), validations });
  const { typeChecking } = await checked('many', isObserved);
  const kinds = [...(typeChecking?.expressionWarnings?.[0]?.warning ?? '').matchAll(/Kind=(\w+)/g)];
  const found = kinds.map(([, kind = '']) => kind);
  expect(found).toHaveLength(10);
  expect(found).toEqual([...found].sort());
});

/** Serves `gears` and the like, whose size is of the type. */
function gears(plural: string, kind: string): (type: string) => void {
  const [store] = customStores(replica, { group: 'example.com', plural, kind });
  if (store === undefined) throw new Error('there is a store');
  return (type) => {
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type } } } },
    };
    const objectMeta = replica.scheme.type('meta/v1.ObjectMeta');
    const { naming: profile } = replica;
    const loaded = loadResourceSchema(schema, {
      id: `example.com/v1.${kind}`,
      objectMeta,
      profile,
    });
    replica.stores.set(plural, [{ ...store, resource: { ...store.resource, type: loaded } }]);
  };
}

test('v.type-check: again when the schema of a definition changes, params too', async () => {
  const serve = gears('gears', 'Gear');
  const validations = [
    { expression: 'object.spec.size > 1' },
    { expression: 'params.spec.size > 1' },
  ];
  const paramKind = { apiVersion: 'example.com/v1', kind: 'Gear' };
  await make('custom', { paramKind, matchConstraints: on('gears', 'example.com'), validations });
  await checked('custom', isObserved);
  serve('string');
  const both = ['spec.validations[0].expression', 'spec.validations[1].expression'];
  const wrong = await checked('custom', (status) => fieldsOf(status).length > 0);
  expect(fieldsOf(wrong)).toEqual(both);
  serve('integer');
  await checked('custom', (status) => fieldsOf(status).length === 0);
});

/** Once the record says that all policies are checked. */
async function settled(): Promise<void> {
  const { signal } = scope();
  for (;;) {
    const { item } = await replica.storage.get(keyspace.internalKey('checked-types'), signal);
    if (Buffer.from(item?.value ?? '').includes('types')) return;
    await sleep(5, signal);
  }
}

/** What nobody would find, in place of what was: whoever checks anew takes it away. */
async function forge(name: string, warning: string): Promise<void> {
  const { status } = (await verbs.get(policies, name)) as { status?: JsonObject };
  const typeChecking = { expressionWarnings: [{ fieldRef: 'spec.validations[0]', warning }] };
  const patch = { status: { ...status, typeChecking } };
  await verbs.patch(policies, name, patch, { subresource: 'status' });
}

test('what is current is not checked again by the next leader', async () => {
  const serve = gears('wheels', 'Wheel');
  serve('integer');
  const validations = [{ expression: 'object.metadata.name != "x"' }];
  const kinds = { built: ['deployments', 'apps'], own: ['wheels', 'example.com'] } as const;
  for (const [name, [resource, group]] of Object.entries(kinds)) {
    await make(name, { matchConstraints: on(resource, group), validations });
    await checked(name, isObserved);
  }
  const findsForged = async (begin: () => () => Promise<void>): Promise<string[]> => {
    await settled();
    await stop();
    for (const name of Object.keys(kinds)) await forge(name, 'forged');
    stop = begin();
    // It comes after those that were there.
    await make('last', { matchConstraints: on('pods', ''), validations });
    await checked('last', isObserved);
    const { signal } = scope();
    while (pendingCount > 0) await sleep(5, signal);
    await verbs.remove(policies, 'last');
    const names = Object.keys(kinds);
    const said = await Promise.all(names.map((name) => verbs.get(policies, name)));
    return names.filter((_, at) => fieldsOf(said[at]?.['status'] as CheckedStatus).length > 0);
  };
  expect(await findsForged(lead)).toEqual(['built', 'own']);
  // The schema of one is another one now.
  const withOther = (): (() => Promise<void>) => {
    serve('string');
    return lead();
  };
  expect(await findsForged(withOther)).toEqual(['built']);
  // Its definition is gone.
  const without = (): (() => Promise<void>) => {
    replica.stores.set('wheels', []);
    return lead();
  };
  expect(await findsForged(without)).toEqual(['built']);
  expect(await findsForged(() => lead('a later one'))).toEqual([]);
});
