// Rules of the API hold for all that is committed after they were, at every replica, and no longer
// than they are there.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionChain } from '../admission/chain.ts';
import type { RulesInForce } from '../admission/in-force.ts';
import type { AdmissionPlugin } from '../admission/plugin.ts';
import { provenPlugin } from '../admission/proven-plugin.ts';
import { refusal } from '../admission/refusal.ts';
import type { JsonObject } from '../api/type-info.ts';
import { StatusError } from '../base/status.ts';
import { serverUser } from '../base/user.ts';
import type { ResourceView } from '../cacher/resource-view.ts';
import { internalClient } from './internal-client.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';

const { signal } = new AbortController();
const client = internalClient(serverUser);
const namespace = 'n';

/** A replica where no ConfigMap may be written while there is a configuration `closed`. */
interface Judging extends Replica {
  readonly anewCount: () => number;
}

let registry: RegistryOnEtcd;
let here: Judging;
let there: Judging;
/** Happens while a write is judged. */
let meanwhile = async (): Promise<unknown> => undefined;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  here = await judging();
  there = await judging();
});
afterAll(() => registry.stop());

async function judging(): Promise<Judging> {
  let anewCount = 0;
  let chain: AdmissionChain = admissionChain([]);
  const replica = await registry.replica({
    admission: {
      mutates: (...args) => chain.mutates(...args),
      mutate: (...args) => chain.mutate(...args),
      beforeDelete: (...args) => chain.beforeDelete(...args),
      validate: (...args) => chain.validate(...args),
    },
    onRulesChanged: () => anewCount++,
  });
  const { view } = replica.store(configurations);
  chain = admissionChain([closing(view, replica)]);
  return { ...replica, anewCount: () => anewCount };
}

const configurations = 'admissionregistration.svc.io/validatingwebhookconfigurations';

function closing(view: ResourceView, { rulesInForce, scheme }: Replica): AdmissionPlugin {
  const plugin: AdmissionPlugin = {
    name: 'Closing',
    isConfigured: true,
    sideEffects: false,
    // As those of the product, it is not asked where it has no rules.
    handles: ({ resource }) =>
      ['configmaps', 'events'].includes(resource.resource) && view.all().length > 0,
    async validate(request, object) {
      const isClosed = view.all().some(({ name }) => name === 'closed');
      await new Promise((resolve) => setImmediate(resolve)); // as a call would
      await meanwhile();
      if (isClosed) throw refusal(request, object, 'closed');
    },
  };
  return provenPlugin(plugin, rulesInForce as RulesInForce, ({ storagePrefix }) =>
    scheme.resources.filter((one) => one.storagePrefix === storagePrefix),
  );
}

const webhook = (resource: string, group = ''): JsonObject => ({
  name: 'closed.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [{ operations: ['*'], apiGroups: [group], apiVersions: ['*'], resources: [resource] }],
});

const close = (replica: Replica, ...of: Parameters<typeof webhook> | []) => {
  const [resource = 'configmaps', group] = of;
  const object = { metadata: { name: 'closed' }, webhooks: [webhook(resource, group)] };
  return client.create(replica.store(configurations), { namespace: '', object }, signal);
};
const closedPath = { namespace: '', name: 'closed', subresource: '' };
const open = (replica: Replica) =>
  client.delete(replica.store(configurations), { path: closedPath }, signal);

const write = (replica: Replica, name: string) =>
  client.create(replica.store('configmaps'), { namespace, object: { metadata: { name } } }, signal);
/** When what rules say was last changed. */
async function movedAt(): Promise<number> {
  const { item } = await here.storage.get(here.rulesInForce?.key ?? '', signal);
  return item?.modRevision ?? 0;
}

const messageOf = async (answer: Promise<unknown>): Promise<string> => {
  try {
    await answer;
    return 'written';
  } catch (error) {
    return error instanceof StatusError ? error.message : String(error);
  }
};

describe('u.effective: what is committed after a rule was acknowledged was judged by it', () => {
  test('from the next write on, at the replica that took it and at another one', async () => {
    for (let round = 0; round < 25; round++) {
      await close(here);
      const [one, other] = [`here-${String(round)}`, `there-${String(round)}`];
      expect(await messageOf(write(there, other))).toBe(
        `configmaps "${other}" is forbidden: closed`,
      );
      expect(await messageOf(write(here, one))).toBe(`configmaps "${one}" is forbidden: closed`);
      await open(here);
      expect(await messageOf(write(there, other))).toBe('written');
      expect(await messageOf(write(here, one))).toBe('written');
    }
  });

  test('where the rule names another group of what is written', async () => {
    const event = (name: string) => {
      const object = { metadata: { name, namespace }, involvedObject: { namespace } };
      return client.create(there.store('events'), { namespace, object }, signal);
    };
    for (let round = 0; round < 25; round++) {
      const name = `other-group-${String(round)}`;
      await close(here, 'events', 'events.svc.io');
      expect(await messageOf(event(name))).toBe(`events "${name}" is forbidden: closed`);
      await open(here);
      expect(await messageOf(event(name))).toBe('written');
    }
  });

  test('through writes that are under way while rules come and go', async () => {
    let isOver = false;
    const names: string[] = [];
    const writers = [here, there].flatMap((replica, at) =>
      [0, 1, 2, 3].map(async (writer) => {
        for (let count = 0; !isOver; count++) {
          const name = `w-${String(at)}-${String(writer)}-${String(count)}`;
          if ((await messageOf(write(replica, name))) === 'written') names.push(name);
        }
      }),
    );
    const closed: { readonly from: number; to: number }[] = [];
    for (let round = 0; round < 40; round++) {
      const from = (await close(round % 2 === 0 ? here : there)).revision;
      const time = { from, to: Infinity };
      closed.push(time);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await open(round % 3 === 0 ? here : there);
      time.to = await movedAt();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    isOver = true;
    await Promise.all(writers);
    const { items } = await here
      .store('configmaps')
      .view.list({ namespace }, { mode: 'latest' }, { limitCount: 0 }, signal);
    const written = items.filter(({ name }) => names.includes(name));
    expect(written).toHaveLength(names.length);
    const slipped = written.filter(({ revision }) =>
      closed.some(({ from, to }) => revision > from && revision < to),
    );
    expect(slipped.map(({ name }) => name)).toEqual([]);
    expect(here.anewCount() + there.anewCount()).toBeGreaterThan(0);
    expect(names.length).toBeGreaterThan(0);
  });
});

test('a change of labels moves nothing, one of what a rule says does', async () => {
  const store = here.store(configurations);
  await close(here);
  const before = await movedAt();
  const path = closedPath;
  const patch = async (change: object): Promise<number> => {
    await client.patch(store, { path, kind: 'merge', patch: change as JsonObject }, signal);
    return movedAt();
  };
  expect(await patch({ metadata: { labels: { a: 'b' } } })).toBe(before);
  expect(await patch({ webhooks: [webhook('configmaps')] })).toBe(before);
  await open(here);
  expect(await movedAt()).toBeGreaterThan(before);
});

test('n.configurationAge: a dry run, an update and a deletion meet what is in force', async () => {
  await write(here, 'kept');
  await close(there);
  const store = here.store('configmaps');
  const path = { namespace, name: 'kept', subresource: '' };
  const patch = { data: { a: 'b' } };
  const refused = 'configmaps "kept" is forbidden: closed';
  expect(await messageOf(client.patch(store, { path, kind: 'merge', patch }, signal))).toBe(
    refused,
  );
  expect(await messageOf(client.delete(store, { path }, signal))).toBe(refused);
  await open(there);
  const dryRun = { path, options: { dryRun: true } };
  expect(await messageOf(client.delete(store, dryRun, signal))).toBe('written');
  await close(there);
  expect(await messageOf(client.delete(store, dryRun, signal))).toBe(refused);
  await open(there);
  expect(await messageOf(client.delete(store, { path }, signal))).toBe('written');
});

test('rules for others that come meanwhile are no reason to be judged anew', async () => {
  const before = here.anewCount() + there.anewCount();
  let isOver = false;
  const writer = async (replica: Judging, at: number): Promise<void> => {
    for (let count = 0; !isOver; count++) {
      const name = `other-${String(at)}-${String(count)}`;
      expect(await messageOf(write(replica, name))).toBe('written');
    }
  };
  const writers = [writer(here, 0), writer(there, 1)];
  const store = here.store(configurations);
  const own = { matchLabels: { own: 'yes' } };
  for (let round = 0; round < 20; round++) {
    const name = `others-${String(round)}`;
    const others = [webhook('secrets'), { ...webhook('configmaps'), objectSelector: own }];
    const object = { metadata: { name }, webhooks: others.slice(round % 2, (round % 2) + 1) };
    await client.create(store, { namespace: '', object }, signal);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  isOver = true;
  await Promise.all(writers);
  expect(here.anewCount() + there.anewCount()).toBe(before);
});

test('rules for other labels that come meanwhile are no reason to refuse anew', async () => {
  await close(here);
  const before = here.anewCount();
  const store = here.store(configurations);
  const comes = (objectSelector: JsonObject) => async () => {
    meanwhile = async () => undefined;
    const webhooks = [{ ...webhook('configmaps'), objectSelector }];
    const object = { metadata: { generateName: 'meanwhile-' }, webhooks };
    await client.create(store, { namespace: '', object }, signal);
  };
  meanwhile = comes({ matchLabels: { own: 'yes' } });
  expect(await messageOf(write(here, 'a'))).toBe('configmaps "a" is forbidden: closed');
  expect(here.anewCount()).toBe(before);
  meanwhile = comes({});
  expect(await messageOf(write(here, 'a'))).toBe('configmaps "a" is forbidden: closed');
  expect(here.anewCount()).toBe(before + 1);
  await open(here);
});

test('who wrote a rule is answered when memory has it', async () => {
  const { view } = here.store(configurations);
  await close(here);
  expect(view.peek({ namespace: '', name: 'closed' })).toBeDefined();
  expect(here.rulesInForce?.revision).toBe(await movedAt());
  await open(here);
  expect(view.peek({ namespace: '', name: 'closed' })).toBeUndefined();
});
