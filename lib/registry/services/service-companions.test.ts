import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StatusError } from '../../base/status.ts';
import { parseDeleteOptions, parseListOptions } from '../options.ts';
import type { ResourceStore } from '../resource-store.ts';
import { keyspace, RegistryOnEtcd } from '../testing/registry-on-etcd.ts';
import type { Replica } from '../testing/registry-on-etcd.ts';
import {
  causesOf,
  failure,
  fresh,
  params,
  scope,
  sent,
  VerbDriver,
} from '../testing/verb-driver.ts';
import type { Sent } from '../testing/verb-driver.ts';

const portPrefix = keyspace.resourcePrefix('ranges/servicenodeports');
const dryRun = { query: 'dryRun=All' };
let registry: RegistryOnEtcd;
let replicas: readonly Replica[];

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const services = {
    clusterIpRanges: ['10.0.0.0/26', 'fd00::/112'],
    nodePortRange: { first: 30_000, count: 80 },
  };
  const replica = (): Promise<Replica> => registry.replica({ services });
  replicas = [await replica(), await replica(), await replica()];
});

afterAll(async () => {
  await registry.stop();
});

function replicaAt(at: number): Replica {
  const replica = replicas[at % replicas.length];
  if (replica === undefined) throw new Error('there are three');
  return replica;
}
const on = (at = 0): VerbDriver => new VerbDriver(replicaAt(at));
const services = (at = 0): ResourceStore => replicaAt(at).store('services');
const named = (resource: string): ResourceStore =>
  replicaAt(0).store(`networking.svc.io/${resource}`);

const service = (name: string, spec: object = {}, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  spec: { ports: [{ port: 80 }], ...spec },
});
const make = (spec: object = {}, query = '', at = 0): Promise<Sent> =>
  on(at).create(services(at), service(fresh(), spec), query);
const change = (made: Sent, spec: object, texts = {}): Promise<Sent> =>
  on().patch(services(), made.metadata.name, { spec }, texts);
const remove = (made: Sent, at = 0): Promise<unknown> =>
  on(at).remove(services(at), made.metadata.name);

const port = (number: number, nodePort: number): object => ({
  name: `p${String(number)}`,
  port: number,
  nodePort,
});

interface Given {
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ports: readonly { readonly nodePort?: number }[];
  readonly healthCheckNodePort?: number;
}
const specOf = (made: Sent): Given => made['spec'] as Given;
const addressOf = (made: Sent): string => specOf(made).clusterIP ?? '';
const portsOf = (made: Sent): number[] => specOf(made).ports.map((port) => port.nodePort ?? 0);

async function keysBelow(prefix: string): Promise<string[]> {
  const { signal } = scope();
  const { items } = await replicaAt(0).storage.list({ prefix, limitCount: 0 }, signal);
  return items.map(({ key }) => key.slice(prefix.length)).sort();
}

/** Addresses and ports that the store has as taken. */
const taken = async (): Promise<string[]> => [
  ...(await keysBelow(keyspace.resourcePrefix('ipaddresses'))),
  ...(await keysBelow(portPrefix)),
];

async function removeAll(): Promise<void> {
  await services().deleteCollection({
    ...scope(),
    namespace: 'ns',
    list: parseListOptions(params('')),
    options: parseDeleteOptions(params(''), undefined, replicaAt(0).naming),
  });
  expect(await taken()).toEqual([]);
}

describe('a service', () => {
  test('has an IPAddress for each address, and a claim for each port, until it goes', async () => {
    const made = await make({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ipFamilyPolicy: 'RequireDualStack',
      ports: [
        { name: 'tcp', port: 53, protocol: 'TCP' },
        { name: 'udp', port: 53, protocol: 'UDP' },
        { name: 'other', port: 54 },
      ],
    });
    const { clusterIPs = [], healthCheckNodePort = 0 } = specOf(made);
    const [tcp, udp, other] = portsOf(made);
    expect(tcp).toBe(udp);
    expect(await taken()).toEqual([
      ...clusterIPs,
      ...[tcp, other, healthCheckNodePort].map(String).sort(),
    ]);
    const [first = '', second = ''] = clusterIPs;
    expect(await on().get(named('ipaddresses'), second)).toMatchObject({
      metadata: {
        labels: {
          'ipaddress.svc.io/ip-family': 'IPv6',
          'ipaddress.svc.io/managed-by': 'ipallocator.svc.io',
        },
        resourceVersion: made.metadata.resourceVersion,
      },
      spec: { parentRef: { resource: 'services', namespace: 'ns', name: made.metadata.name } },
    });
    await change(made, { type: 'ClusterIP', externalTrafficPolicy: null }, dryRun);
    expect(await taken()).toHaveLength(5);
    await change(made, { type: 'ClusterIP', externalTrafficPolicy: null });
    expect(await taken()).toEqual([first, second]);
    await change(made, { ipFamilyPolicy: 'SingleStack' });
    expect(await taken()).toEqual([first]);
    const name = { type: 'ExternalName', externalName: 'x.example.com', clusterIP: null };
    await change(made, { ...name, clusterIPs: null });
    expect(await taken()).toEqual([]);
    await change(made, { type: 'NodePort', externalName: null });
    expect(await taken()).toHaveLength(4); // A change shares no ports.
    await remove(made);
    expect(await taken()).toEqual([]);
  });

  test('whose deletion waits for a finalizer keeps what it has until then', async () => {
    const name = fresh();
    const finalizers = ['example.com/wait'];
    const body = service(name, { type: 'NodePort' }, { finalizers });
    await on().create(services(), body);
    await on().remove(services(), name);
    expect(await taken()).toHaveLength(2);
    await on().patch(services(), name, { metadata: { finalizers: null } });
    expect(await taken()).toEqual([]);
  });

  test('that is refused, or only tried, takes nothing', async () => {
    const shown = await make({ type: 'NodePort' }, 'dryRun=All');
    expect(addressOf(shown)).toMatch(/^10\.0\.0\./);
    expect(portsOf(shown)[0]).toBeGreaterThanOrEqual(30_000);
    const invalid = { type: 'NodePort', sessionAffinity: 'Other' };
    expect(await causesOf(make(invalid))).toEqual(['spec.sessionAffinity FieldValueNotSupported']);
    expect(await taken()).toEqual([]);
  });

  test('gets what another one just gave back, and is refused what another one has', async () => {
    const made = await make({ type: 'NodePort' });
    const clusterIP = addressOf(made);
    const ports = [{ port: 1, nodePort: portsOf(made)[0] }];
    for (const at of [0, 1, 2]) {
      const spec = { clusterIP };
      expect(await causesOf(make(spec, '', at))).toEqual(['spec.clusterIPs FieldValueInvalid']);
      expect(await causesOf(make({ type: 'NodePort', ports }, 'dryRun=All', at))).toEqual([
        'spec.ports[0].nodePort FieldValueInvalid',
      ]);
    }
    await remove(made);
    const next = await make({ type: 'NodePort', clusterIP, ports }, '', 1);
    expect(addressOf(next)).toBe(clusterIP);
    await remove(next, 2);
    expect(await taken()).toEqual([]);
  });

  test.each<[string, object, string]>([
    ['outside of all ranges', { clusterIP: '10.1.0.1' }, 'spec.clusterIPs'],
    ["that is the range's own", { clusterIP: '10.0.0.0' }, 'spec.clusterIPs'],
    ['for broadcasts', { clusterIP: '10.0.0.63' }, 'spec.clusterIPs'],
    ['that is none', { clusterIP: 'x' }, 'spec.clusterIPs[0]'],
  ])('cannot have an address %s', async (_what, spec, field) => {
    expect(await causesOf(make(spec))).toEqual([`${field} FieldValueInvalid`]);
  });

  test('cannot have an address that somebody made an IPAddress of', async () => {
    const name = '10.0.0.5';
    const parentRef = { resource: 'gateways', group: 'example.com', name: 'x' };
    await on(1).create(named('ipaddresses'), { metadata: { name }, spec: { parentRef } });
    for (const at of [0, 1, 2]) {
      const wanted = make({ clusterIP: name }, '', at);
      expect(await causesOf(wanted)).toEqual(['spec.clusterIPs FieldValueInvalid']);
    }
    await on().remove(named('ipaddresses'), name);
  });

  test('of a balancer that asks for no ports on nodes has those that it states', async () => {
    const balanced = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false };
    const ports = [
      { name: 'a', port: 1 },
      { name: 'b', port: 2, nodePort: 30_020 },
    ];
    const made = await make({ ...balanced, ports });
    expect(portsOf(made)).toEqual([0, 30_020]);
    expect(await keysBelow(portPrefix)).toEqual(['30020']);
    const changed = await change(made, { allocateLoadBalancerNodePorts: true });
    expect(await keysBelow(portPrefix)).toEqual(portsOf(changed).map(String).sort());
    await remove(made);
  });

  test.each<[string, object, string]>([
    ['a port on nodes', { type: 'NodePort', ports: [port(1, 30_021)] }, 'ports[0].nodePort'],
    [
      'a port of health checks',
      { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_021 },
      'healthCheckNodePort',
    ],
  ])('may be changed to state %s, unless it is taken', async (_what, spec, field) => {
    const other = await make({ type: 'NodePort', ports: [{ port: 1, nodePort: 30_021 }] });
    const made = await make();
    const wanted = change(made, spec);
    expect(await causesOf(wanted)).toEqual([`spec.${field} FieldValueInvalid`]);
    await remove(other);
    await change(made, spec);
    expect(await keysBelow(portPrefix)).toContain('30021');
    await remove(made);
    expect(await taken()).toEqual([]);
  });

  test('is not given a port that it states elsewhere', async () => {
    const only = 30_050;
    const all = Array.from({ length: 80 }, (_, at) => 30_000 + at);
    const stated = all.filter((one) => one !== only).map((one, at) => port(at + 2, one));
    const made = await make({ type: 'NodePort', ports: [{ name: 'any', port: 1 }, ...stated] });
    expect(portsOf(made)[0]).toBe(only);
    await remove(made);
  });

  test.each<[string, object, string]>([
    ['twice', { ports: [port(1, 30_030), port(2, 30_030)] }, 'ports[1].nodePort'],
    ['outside of the range', { ports: [port(1, 30_080)] }, 'ports[0].nodePort'],
  ])('cannot have a port on nodes %s', async (_what, spec, field) => {
    const wanted = make({ type: 'NodePort', ...spec });
    expect(await causesOf(wanted)).toEqual([`spec.${field} FieldValueInvalid`]);
  });

  test('that was stored without an address gets one with its next change', async () => {
    const older = await registry.replica();
    const name = fresh();
    await new VerbDriver(older).create(older.store('services'), service(name));
    const made = await on().update(services(), name, service(name, { type: 'NodePort' }));
    expect(addressOf(sent(made.item))).toMatch(/^10\.0\.0\./);
    expect(await taken()).toHaveLength(2);
    await on().remove(services(), name);
    expect(await taken()).toEqual([]);
  });

  test('leaves alone an IPAddress that has become another one’s', async () => {
    const made = await make();
    const name = addressOf(made);
    await on().remove(named('ipaddresses'), name);
    const parentRef = { resource: 'services', namespace: 'else', name: 'where' };
    await on().create(named('ipaddresses'), { metadata: { name }, spec: { parentRef } });
    await remove(made, 1);
    expect(await taken()).toEqual([name]);
    await on().remove(named('ipaddresses'), name);
  });

  test('releases an IPAddress whose labels were changed a moment ago', async () => {
    const made = await make();
    const labels = { more: 'x' };
    await on(1).patch(named('ipaddresses'), addressOf(made), { metadata: { labels } });
    await remove(made);
    expect(await taken()).toEqual([]);
  });
});

describe('ranges', () => {
  const range = (name: string, ...cidrs: string[]): object => ({
    metadata: { name },
    spec: { cidrs },
  });

  test('count as soon as they are there, and no more while they are being deleted', async () => {
    const [name, free] = [fresh(), { clusterIP: '192.0.2.9' }];
    expect(await causesOf(make(free))).toEqual(['spec.clusterIPs FieldValueInvalid']);
    const body = { ...range(name, '192.0.2.0/28'), metadata: { name, finalizers: ['x.com/y'] } };
    await on().create(named('servicecidrs'), body);
    for (const at of [0, 1, 2]) await remove(await make(free, '', at), at);
    await on().remove(named('servicecidrs'), name);
    // Its last answer was of before: the transaction says no, or the store when it is asked.
    for (const at of [0, 1, 2]) {
      expect(await causesOf(make(free, '', at))).toEqual(['spec.clusterIPs FieldValueInvalid']);
    }
    await on().patch(named('servicecidrs'), name, { metadata: { finalizers: null } });
  });

  test('that are not ready do not count', async () => {
    const name = fresh();
    await on().create(named('servicecidrs'), range(name, '192.0.2.16/28'));
    const status = {
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'x',
          message: '',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    const texts = { subresource: 'status' };
    await on().patch(named('servicecidrs'), name, { status }, texts);
    const wanted = make({ clusterIP: '192.0.2.20' });
    expect(await causesOf(wanted)).toEqual(['spec.clusterIPs FieldValueInvalid']);
    await on().remove(named('servicecidrs'), name);
  });
});

test('three replicas give every address and port once, and get all of them back', async () => {
  const counted = { ok: 0, refused: 0 };
  const spec = { type: 'NodePort' };
  const work = Array.from({ length: 60 }, async (_none, at) => {
    const [verbs, store] = [on(at), services(at)];
    if (at % 4 === 1) await verbs.create(store, service(`dry-${String(at)}`, spec), 'dryRun=All');
    if (at % 4 === 2) {
      const refused = service(`bad-${String(at)}`, { ...spec, sessionAffinity: 'Other' });
      await failure(verbs.create(store, refused));
      counted.refused++;
    }
    const made = await verbs.create(store, service(`race-${String(at)}`, spec));
    counted.ok++;
    return made;
  });
  const made = await Promise.all(work);
  const addresses = made.map(addressOf);
  const ports = made.flatMap(portsOf);
  expect(new Set(addresses).size).toBe(60);
  expect(new Set(ports).size).toBe(60);
  expect(await taken()).toEqual([...addresses.sort(), ...ports.map(String).sort()]);
  // The last two of 62, then none.
  const rest = [await make(spec, '', 1), await make({}, '', 2)];
  expect(new Set([...addresses, ...rest.map(addressOf)]).size).toBe(62);
  const full = await failure(make());
  expect([full.code, full.reason]).toEqual([500, 'InternalError']);
  expect(full.message).toMatch(/failed to allocate a serviceIP: range is full/);
  expect(full).toBeInstanceOf(StatusError);
  const [one] = made;
  if (one === undefined) throw new Error('there are sixty');
  await remove(one, 1);
  const again = await make({}, '', 2);
  expect(addressOf(again)).toBe(addressOf(one));
  await Promise.all(made.slice(1, 20).map((each, at) => remove(each, at)));
  await removeAll();
  expect(counted).toEqual({ ok: 60, refused: 15 });
});

test('applied by two managers, a service keeps its address and its ports', async () => {
  const name = fresh();
  const whole = { ...service(name, { type: 'NodePort', selector: { app: 'a' } }) };
  const one = { query: 'fieldManager=one' };
  const made = await on().apply(services(), name, whole, one);
  const ports = [{ port: 80, name: 'web' }];
  const more = { metadata: { name }, spec: { internalTrafficPolicy: 'Local' } };
  const both = await on().apply(services(), name, more, { query: 'fieldManager=two' });
  expect(specOf(both)).toMatchObject({
    clusterIP: addressOf(made),
    ports: [{ nodePort: portsOf(made)[0] }],
  });
  const renamed = await on().patchAnswer(
    services(),
    name,
    { spec: { ports } },
    { kind: 'strategic' },
  );
  expect(specOf(sent(renamed.item)).ports).toHaveLength(1);
  const status = { loadBalancer: {} };
  await on().patch(services(), name, { status }, { subresource: 'status' });
  await remove(made);
  expect(await taken()).toEqual([]);
});
