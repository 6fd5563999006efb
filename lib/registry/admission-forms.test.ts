// How admission is shown what is no object of the resource itself: a scale, a connection, options.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission/plugin.ts';
import type { JsonObject } from '../api/type-info.ts';
import { badRequest } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import { parseDeleteOptions, parseListOptions, parseWriteOptions } from './options.ts';
import type { ConnectRequest } from './requests.ts';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { fresh, params, scope, VerbDriver } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let pods: ResourceStore;
let configMaps: ResourceStore;

/** Set by each test. */
let mutate: NonNullable<AdmissionPlugin['mutate']>;
let validate: NonNullable<AdmissionPlugin['validate']>;
const plugin: AdmissionPlugin = {
  name: 'Test',
  sideEffects: false,
  handles: () => true,
  mutate: (...args) => mutate(...args),
  validate: (...args) => validate(...args),
};

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ admission: admissionChain([plugin]) });
  verbs = new VerbDriver(replica);
  pods = replica.store('pods');
  configMaps = replica.store('configmaps');
});
afterAll(() => registry.stop());
beforeEach(() => {
  mutate = () => false;
});

describe('a.kind: admission of what is no object of the resource itself', () => {
  const seen: [AdmissionRequest, Readonly<ApiObject> | undefined][] = [];
  beforeEach(() => {
    seen.length = 0;
    validate = (request, object) => void seen.push([request, object]);
  });

  test('a scale is shown as a Scale, before and after', async () => {
    const deployments = replica.store('apps/deployments');
    const name = fresh();
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [] as object[] } };
    template.spec.containers.push({ name: 'c', image: 'i' });
    const spec = { selector: { matchLabels: { a: 'b' } }, template, replicas: 2 };
    await verbs.create(deployments, { metadata: { name }, spec });
    seen.length = 0;
    mutate = (_request, object) => {
      (object['spec'] as JsonObject)['replicas'] = 5;
      return true;
    };
    const scale = deployments.subresources.get('scale');
    const answer = await scale?.patch?.({
      ...scope(),
      path: { namespace: 'ns', name, subresource: 'scale' },
      kind: 'merge',
      patch: Buffer.from('{"spec":{"replicas":3}}'),
      options: parseWriteOptions(params(''), 'merge', replica.naming),
    });
    const [request, object] = seen.at(-1) ?? [];
    expect(request).toMatchObject({
      operation: 'UPDATE',
      subresource: 'scale',
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      old: { kind: 'Scale', spec: { replicas: 2 } },
    });
    expect(object).toMatchObject({ apiVersion: 'autoscaling/v1', spec: { replicas: 5 } });
    expect(answer?.item.object()).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
  });

  test('a connection is shown as its options', async () => {
    const info = pods.subresources.get('exec')?.info;
    if (info === undefined) throw new Error('pods have exec');
    validate = (request, object) => {
      seen.push([request, object]);
      throw badRequest('no exec');
    };
    const connecting = pods.subresources.get('exec')?.connect?.({
      ...scope(),
      path: { namespace: 'n', name: 'p', subresource: 'exec' },
      rest: [],
      query: new URLSearchParams('command=ls&command=-l&container=c&stdout=true&tty=false'),
    } as unknown as ConnectRequest);
    await expect(connecting).rejects.toThrow('no exec');
    const [[request, object] = []] = seen;
    expect(request).toMatchObject({
      operation: 'CONNECT',
      kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
      name: 'p',
      namespace: 'n',
      dryRun: false,
      options: undefined,
      old: undefined,
    });
    expect(object).toEqual({
      kind: 'PodExecOptions',
      apiVersion: 'v1',
      command: ['ls', '-l'],
      container: 'c',
      stdout: true,
    });
  });

  test('a.options: options are shown as they were stated', async () => {
    const name = fresh();
    const options = parseWriteOptions(params('fieldManager=me'), 'create', replica.naming);
    await configMaps.create({
      ...scope(),
      path: { namespace: 'n', name: '', subresource: '' },
      body: { object: { metadata: { name } }, problems: [] },
      options,
    });
    const path = { namespace: 'n', name, subresource: '' };
    const wished = parseDeleteOptions(
      params('gracePeriodSeconds=0&propagationPolicy=Background&dryRun=All'),
      undefined,
      replica.naming,
    );
    await configMaps.delete({ ...scope(), path, options: wished });
    const stated = seen.map(([request]) => JSON.stringify(request.options));
    // An object that memory does not know yet is looked at twice.
    expect([...new Set(stated)].map((text) => JSON.parse(text) as unknown)).toEqual([
      { kind: 'CreateOptions', apiVersion: 'meta.svc.io/v1', fieldManager: 'me' },
      {
        kind: 'DeleteOptions',
        apiVersion: 'meta.svc.io/v1',
        gracePeriodSeconds: 0,
        propagationPolicy: 'Background',
        dryRun: ['All'],
      },
    ]);
  });

  test('a.objects: old is what the write compares, the new one is what will be stored', async () => {
    const name = fresh();
    const made = await verbs.create(configMaps, { metadata: { name } });
    await verbs.patch(configMaps, name, { data: { a: 'b' } });
    await verbs.remove(configMaps, name);
    const { uid, resourceVersion } = made.metadata;
    const lastOf = (operation: string) =>
      seen.findLast(([request]) => request.operation === operation);
    const [create, update, remove] = ['CREATE', 'UPDATE', 'DELETE'].map(lastOf);
    expect(create?.[0].old).toBeUndefined();
    expect(create?.[1]).toMatchObject({ metadata: { name, uid } });
    expect(update?.[0].old).toMatchObject({ metadata: { uid, resourceVersion } });
    expect(update?.[1]).toMatchObject({ metadata: { uid, resourceVersion }, data: { a: 'b' } });
    expect(remove?.[0].old).toMatchObject({ metadata: { uid }, data: { a: 'b' } });
    expect(remove?.[1]).toBeUndefined();
  });

  test('a.name: of a generated one it is there in the validating phase only', async () => {
    const names: string[] = [];
    mutate = (request) => {
      names.push(request.name);
      return false;
    };
    const made = await verbs.create(configMaps, { metadata: { generateName: 'g-' } });
    expect(names).toEqual(['']);
    expect(seen.map(([request]) => request.name)).toEqual([made.metadata.name]);
  });

  test('a.name: each object of a collection that is deleted has its own', async () => {
    const secrets = replica.store('secrets');
    const names = [fresh(), fresh()];
    for (const name of names) await verbs.create(secrets, { metadata: { name } });
    seen.length = 0;
    await secrets.deleteCollection({
      ...scope(),
      namespace: 'ns',
      list: parseListOptions(params('')),
      options: parseDeleteOptions(params(''), undefined, replica.naming),
    });
    const told = seen.map(([request]) => `${request.operation} ${request.name}`).sort();
    expect(told).toEqual(names.map((name) => `DELETE ${name}`).sort());
  });

  test('a.user, a.dryRun: who writes, and whether it is a rehearsal', async () => {
    await verbs.create(configMaps, { metadata: { name: fresh() } }, 'dryRun=All');
    expect(seen.map(([{ user, dryRun }]) => [user, dryRun])).toEqual([[scope().user, true]]);
  });
});
