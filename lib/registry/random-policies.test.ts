// Whatever a mutating policy does, what is stored passes strategy and schema. POLICY_SEED repeats
// a run.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionChain } from '../admission/chain.ts';
import { mutatingPolicies } from '../admission/policies/mutating-policies.ts';
import { scheme } from '../admission/testing/asked.ts';
import { partsOf } from '../admission/testing/cluster.ts';
import { mutatingPolicyObjects } from '../admission/testing/policies.ts';
import { cloneJson } from '../api/json-value.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { StatusError } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import { serverUser } from '../base/user.ts';
import type { ApiObject } from '../codec/codec.ts';
import { completeObject } from './complete-object.ts';
import { internalClient } from './internal-client.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';

const seed = Number(process.env['POLICY_SEED'] ?? Date.now() % 1_000_000);
const rounds = 150;
const { signal } = new AbortController();
const client = internalClient(serverUser);
const namespace = 'a';

let registry: RegistryOnEtcd;
let replica: Replica;
let chain: AdmissionChain = admissionChain([]);

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({
    admission: {
      mutates: (...args) => chain.mutates(...args),
      mutate: (...args) => chain.mutate(...args),
      beforeDelete: (...args) => chain.beforeDelete(...args),
      validate: (...args) => chain.validate(...args),
    },
  });
});
afterAll(() => registry.stop());

const ports: JsonObject[] = [{ containerPort: 80 }];
const pod: JsonObject = { containers: [{ name: 'c', image: 'i', ports }] };
const kinds: Readonly<Record<string, JsonObject>> = {
  configmaps: { data: { a: '1' } },
  pods: { spec: pod },
  services: { spec: { clusterIP: 'None', ports: [{ port: 80 }], selector: { a: 'b' } } },
  'apps/deployments': {
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: pod },
    },
  },
};

type Pick = (count: number) => number;
const picker = (from: number): Pick => {
  let state = from;
  return (count) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
};
const one = <T>(pick: Pick, of: readonly T[]): T => of[pick(of.length)] as T;

const names = [
  'metadata name namespace uid labels annotations finalizers generation resourceVersion',
  'deletionTimestamp managedFields ownerReferences creationTimestamp generateName kind apiVersion',
  'spec status data containers template replicas selector ports image env 0 - a __proto__ host',
]
  .join(' ')
  .split(' ');
const values: readonly JsonValue[] = [
  'x',
  'Not A Name!',
  '',
  -1,
  7,
  true,
  null,
  [],
  {},
  { a: 'b' },
  ['x', 'x'],
  [{ name: 'c' }],
  { name: 'other', namespace: 'other', uid: 'u' },
  '2026-01-01T00:00:00Z',
];

const literal = (value: JsonValue): string => JSON.stringify(value);
const pathIn = (pick: Pick): string =>
  Array.from({ length: 1 + pick(3) }, () => `/${one(pick, names)}`).join('');

function randomMutation(pick: Pick): string {
  if (pick(2) === 0) {
    const operations = Array.from({ length: 1 + pick(3) }, () => {
      const op = one(pick, ['add', 'add', 'replace', 'remove', 'copy', 'move', 'test']);
      const value = literal(one(pick, values));
      const [path, from] = [pathIn(pick), pathIn(pick)];
      return `JSONPatch{op: "${op}", path: "${path}", from: "${from}", value: ${value}}`;
    });
    return `[${operations.join()}]`;
  }
  const [part, field] = [one(pick, ['metadata', 'spec']), one(pick, names.slice(0, -6))];
  const data = `data: {"k": "v${String(pick(9))}"}`;
  if (pick(4) === 0) return `Object{${data}}`;
  return `Object{${part}: Object.${part}{${field}: ${literal(one(pick, values))}}}`;
}

/** What is wrong with what one random policy has left stored. */
async function findIn(at: number): Promise<string | undefined> {
  const pick = picker(at);
  const kind = one(pick, Object.keys(kinds));
  const mutations = Array.from({ length: 1 + pick(2) }, () => randomMutation(pick));
  const spec = { reinvocationPolicy: one(pick, ['Never', 'IfNeeded']) };
  const memory = mutatingPolicyObjects([{ name: 'p', mutations, spec }]);
  const parts = partsOf({ memory: { ...memory, namespaces: [{ metadata: { name: 'a' } }] } });
  const policies = admissionChain([mutatingPolicies(parts)]);
  const store = replica.store(kind);
  const name = `o-${String(at)}`;
  const object = { ...cloneJson(kinds[kind] ?? {}), metadata: { name } } as ApiObject;
  const isUpdate = pick(2) === 0;
  const said = (error: unknown): string =>
    `POLICY_SEED=${String(at)} ${kind} ${mutations.join(' | ')}: ${String(error)}`;
  let item: Item;
  try {
    chain = isUpdate ? admissionChain([]) : policies;
    item = await client.create(store, { namespace, object: cloneJson(object) }, signal);
    if (isUpdate) {
      chain = policies;
      const { uid } = item.object().metadata ?? {};
      item = await client.update(
        store,
        { path: { namespace, name, subresource: '' }, object },
        signal,
      );
      if (item.object().metadata?.uid !== uid) return said('another uid');
    }
  } catch (error) {
    // Nothing answers 500, whatever a policy does.
    return error instanceof StatusError && error.code < 500 ? undefined : said(error);
  }
  const stored = item.object();
  const { metadata = {} } = stored;
  if (metadata.namespace !== namespace) return said('another namespace');
  if (isUpdate && metadata.name !== name) return said('another name');
  if (!uidPattern.test(metadata.uid ?? '')) return said('another uid');
  if (metadata.deletionTimestamp !== undefined) return said('it is being deleted');
  const judged = cloneJson(stored);
  // Updates may set it to anything: no name comes of it any more.
  if (isUpdate) delete judged.metadata?.generateName;
  try {
    const record = scheme.storageResource(item.resource);
    await completeObject({ scheme, isOn: () => true }, record, judged);
    return undefined;
  } catch (error) {
    return said(error);
  }
}

const uidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test(`m.apply, m.json-patch: what is stored is valid (POLICY_SEED=${String(seed)})`, async () => {
  const found: string[] = [];
  for (let at = seed; at < seed + rounds; at += 1) {
    const finding = await findIn(at);
    if (finding !== undefined) found.push(finding);
  }
  expect(found).toEqual([]);
}, 60_000);
