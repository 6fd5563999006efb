// The plugin PodSecurity among the steps of real writes: subresources, dry runs, generated names,
// and namespaces that become stricter with pods in them.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionChain } from '../admission/chain.ts';
import { podSecurityPlugin } from '../admission/plugins/pod-security.ts';
import { parsePodSecurityConfiguration } from '../admission/pod-security/configuration.ts';
import { systemClock } from '../base/clock.ts';
import { jsonCodec } from '../codec/json.ts';
import { parseWriteOptions } from './options.ts';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { bytesOf, codeOf, failure, fresh, params, scope } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
/** Without the plugin, over the same store. */
let unguarded: Replica;

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
  });
  unguarded = await registry.replica();
  const viewOf = (name: string): ReturnType<Replica['cache']['view']> =>
    replica.cache.view(replica.store(name).resource);
  chain = admissionChain([
    podSecurityPlugin({
      namespaces: viewOf('namespaces'),
      lookUp: (name, signal) =>
        viewOf('namespaces').get({ namespace: '', name }, { mode: 'latest' }, signal),
      pods: viewOf('pods'),
      naming: replica.naming,
      clock: systemClock,
      configuration: parsePodSecurityConfiguration(undefined, replica.naming),
      observer: {
        onEvaluation: () => undefined,
        onExemption: () => undefined,
        onError: () => undefined,
      },
    }),
  ]);
});
afterAll(() => registry.stop());

interface Made {
  readonly warnings: readonly string[];
}

async function create(
  store: ResourceStore,
  namespace: string,
  body: object,
  query = '',
): Promise<Made> {
  const request = scope();
  await store.create({
    ...request,
    path: { namespace, name: '', subresource: '' },
    body: jsonCodec.decode(bytesOf(body), store.resource.type),
    options: parseWriteOptions(params(query), 'create', replica.naming),
  });
  return request;
}

async function patch(
  store: ResourceStore,
  path: { readonly namespace: string; readonly name: string; readonly subresource?: string },
  body: object,
  query = '',
): Promise<Made> {
  const request = scope();
  const { subresource = '' } = path;
  const target = subresource === '' ? store : store.subresources.get(subresource);
  if (target?.patch === undefined) throw new Error(`${subresource} cannot be patched`);
  await target.patch({
    ...request,
    path: { ...path, subresource },
    kind: 'strategic',
    patch: bytesOf(body),
    options: parseWriteOptions(params(query), 'strategic', replica.naming),
  });
  return request;
}

const labelled = (labels: Readonly<Record<string, string>>): object => ({
  labels: Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [`pod-security.svc.io/${key}`, value]),
  ),
});

/** The name of a new namespace. */
async function namespaceWith(labels: Readonly<Record<string, string>>): Promise<string> {
  const name = fresh();
  const store = replica.store('namespaces');
  await create(store, '', { metadata: { name, ...labelled(labels) } });
  return name;
}

const onHost = (name: string): object => ({
  metadata: { name },
  spec: { hostPID: true, containers: [{ name: 'c', image: 'i' }] },
});

const levelText = 'violates PodSecurity "baseline:latest": host namespaces (hostPID=true)';

describe('a pod', () => {
  test.each(['', 'dryRun=All'])('that violates what is enforced is 403 with %j', async (query) => {
    const namespace = await namespaceWith({ enforce: 'baseline' });
    const error = await failure(create(replica.store('pods'), namespace, onHost('p'), query));
    expect(error).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `pods "p" is forbidden: ${levelText}`,
      details: { name: 'p', kind: 'pods' },
    });
  });

  test('with a generated name is refused by it', async () => {
    const namespace = await namespaceWith({ enforce: 'baseline' });
    const body = { ...onHost(''), metadata: { generateName: 'web-' } };
    const { message } = await failure(create(replica.store('pods'), namespace, body));
    expect(message).toMatch(/^pods "web-\w+" is forbidden: violates PodSecurity/);
  });

  test('that was there before may change all but what runs in it', async () => {
    const namespace = await namespaceWith({ enforce: 'baseline' });
    await create(unguarded.store('pods'), namespace, onHost('p'));
    const pods = replica.store('pods');
    const at = { namespace, name: 'p' };
    const containers = [{ name: 'c', image: 'j' }];
    expect(await codeOf(patch(pods, at, { spec: { containers } }))).toBe(403);
    expect((await patch(pods, at, { metadata: { labels: { a: 'b' } } })).warnings).toEqual([]);
    const status = { ...at, subresource: 'status' };
    await patch(pods, status, { status: { phase: 'Running' } });
  });
});

test('a workload is warned of, and made', async () => {
  const namespace = await namespaceWith({ enforce: 'baseline', warn: 'baseline' });
  const podTemplate = { ...onHost(''), metadata: { labels: { app: 'a' } } };
  const selector = { matchLabels: { app: 'a' } };
  const deployment = { metadata: { name: 'd' }, spec: { selector, template: podTemplate } };
  const { warnings } = await create(replica.store('apps/deployments'), namespace, deployment);
  expect(warnings).toEqual([`would ${levelText.replace('violates', 'violate')}`]);
});

describe('a namespace', () => {
  test.each(['', 'dryRun=All'])(
    'that becomes stricter tells of its pods with %j',
    async (query) => {
      const name = await namespaceWith({});
      await create(replica.store('pods'), name, onHost('one'));
      await create(replica.store('pods'), name, onHost('two'));
      const metadata = labelled({ enforce: 'baseline' });
      const store = replica.store('namespaces');
      // Memory has the pods once it answers for a revision after theirs.
      await replica.cache
        .view(replica.store('pods').resource)
        .get({ namespace: name, name: 'two' }, { mode: 'latest' }, scope().signal);
      const { warnings } = await patch(store, { namespace: '', name }, { metadata }, query);
      expect(warnings).toEqual([
        `existing pods in namespace "${name}" violate the new PodSecurity enforce level ` +
          '"baseline:latest"',
        'one (and 1 other pod): host namespaces',
      ]);
    },
  );

  test('has labels that mean something', async () => {
    const metadata = { name: fresh(), ...labelled({ 'audit-version': 'v2' }) };
    const error = await failure(create(replica.store('namespaces'), '', { metadata }));
    const field = 'metadata.labels[pod-security.svc.io/audit-version]';
    expect(error).toMatchObject({
      code: 422,
      details: {
        causes: [
          {
            field,
            reason: 'FieldValueInvalid',
            message: 'Invalid value: "v2": must be "latest" or "v1.x"',
          },
        ],
      },
    });
  });

  test('with a label that says nothing may change elsewhere, and lets few pods in', async () => {
    const name = fresh();
    const metadata = { name, ...labelled({ enforce: 'strict' }) };
    await create(unguarded.store('namespaces'), '', { metadata });
    const store = replica.store('namespaces');
    await patch(store, { namespace: '', name }, { metadata: { annotations: { a: 'b' } } });
    const worse = { metadata: labelled({ enforce: 'stricter' }) };
    expect(await codeOf(patch(store, { namespace: '', name }, worse))).toBe(422);
    expect(await codeOf(create(replica.store('pods'), name, onHost('p')))).toBe(403);
  });
});
