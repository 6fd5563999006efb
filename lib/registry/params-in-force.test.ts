// Who writes what policies take as parameters is answered when this replica judges by it; other
// writes wait for nothing.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionChain } from '../admission/chain.ts';
import { refusal } from '../admission/refusal.ts';
import type { JsonObject } from '../api/type-info.ts';
import { serverUser } from '../base/user.ts';
import { recordAt } from '../api/json-access.ts';
import { internalClient } from './internal-client.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';

const { signal } = new AbortController();
const client = internalClient(serverUser);
const namespace = 'n';
const policies = 'admissionregistration.svc.io/validatingadmissionpolicies';

let registry: RegistryOnEtcd;
let replica: Replica;
/** What the parameters were for each write, by its name. */
const judgedBy = new Map<string, unknown>();

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  let chain: AdmissionChain = admissionChain([]);
  replica = await registry.replica({
    admission: {
      mutates: (...args) => chain.mutates(...args),
      mutate: (...args) => chain.mutate(...args),
      beforeDelete: (...args) => chain.beforeDelete(...args),
      validate: (...args) => chain.validate(...args),
    },
    onRulesChanged: () => undefined,
  });
  const { view } = replica.store('configmaps');
  chain = admissionChain([
    {
      name: 'ByParams',
      isConfigured: true,
      sideEffects: false,
      handles: ({ resource }) => resource.resource === 'secrets',
      validate(request, object) {
        // As policies read them: of memory.
        const item = view.peek({ namespace, name: 'params' });
        const said =
          item?.corrupted === false ? recordAt(item.object(), 'data')?.['allowed'] : undefined;
        judgedBy.set(String(object?.metadata?.name), said);
        if (said === 'no') throw refusal(request, object, 'not allowed');
      },
    },
  ]);
  await client.create(replica.store(policies), { namespace: '', object: policy() }, signal);
});
afterAll(() => registry.stop());

const policy = (): JsonObject => ({
  metadata: { name: 'by-params' },
  spec: {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: {
      resourceRules: [
        { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] },
      ],
    },
    validations: [{ expression: "params.data.allowed != 'no'" }],
  },
});

const create = (of: Replica, resource: string, name: string, more: JsonObject = {}) =>
  client.create(of.store(resource), { namespace, object: { metadata: { name }, ...more } }, signal);

test('a write is judged by the parameters that were acknowledged before', async () => {
  await create(replica, 'configmaps', 'params', { data: { allowed: '0' } });
  const path = { namespace, name: 'params', subresource: '' };
  const store = replica.store('configmaps');
  const wrong: string[] = [];
  for (let round = 1; round <= 200; round++) {
    const allowed = String(round);
    await client.patch(store, { path, kind: 'merge', patch: { data: { allowed } } }, signal);
    const name = `after-${allowed}`;
    await create(replica, 'secrets', name);
    if (judgedBy.get(name) !== allowed) wrong.push(`${name} by ${String(judgedBy.get(name))}`);
  }
  expect(wrong).toEqual([]);
  await client.delete(store, { path }, signal);
  await create(replica, 'secrets', 'after-the-end');
  expect(judgedBy.get('after-the-end')).toBeUndefined();
});

test('what no policy names waits for nothing, and a late memory fails no write', async () => {
  const frozen = await registry.replica({ isFrozen: true, onRulesChanged: () => undefined });
  let isAnswered = false;
  const late = create(frozen, 'configmaps', 'late').then(() => (isAnswered = true));
  for (let count = 0; count < 5; count++) {
    await create(frozen, 'secrets', `at-once-${String(count)}`);
  }
  expect(isAnswered).toBe(false);
  await late;
  expect(isAnswered).toBe(true);
});
