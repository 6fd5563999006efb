// The manifests of deploy/kubernetes are taken by this server with strict field validation, their
// pods by Pod Security at its strictest level, and their flags by this product.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadAll } from 'js-yaml';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { TestCluster } from '../harness.ts';

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string }[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly [Container] };
    };
    readonly selector: object;
    readonly ports: readonly { readonly name: string; readonly targetPort: string }[];
    readonly endpoints: readonly { readonly port: string }[];
  };
}

const folder = fileURLToPath(new URL('../../deploy/kubernetes/', import.meta.url));
const read = (name: string): Manifest[] =>
  loadAll(readFileSync(`${folder}${name}`, 'utf8')) as Manifest[];
const manifests = read('apiserver.yaml');

const resources: Readonly<Record<string, string>> = {
  ServiceAccount: 'serviceaccounts',
  Service: 'services',
  PodDisruptionBudget: 'poddisruptionbudgets',
  Deployment: 'deployments',
  NetworkPolicy: 'networkpolicies',
};
const pathOf = ({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>): string => {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  return `${root}/namespaces/tenant/${resources[kind] ?? kind}`;
};
const strict = '?dryRun=All&fieldValidation=Strict';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
  const metadata = {
    name: 'tenant',
    labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
  };
  const made = await cluster
    .replica(0)
    .request('POST', '/api/v1/namespaces', { body: { metadata } });
  expect(made.status).toBe(201);
});
afterAll(() => cluster.stop());

const find = (kind: string): Manifest => {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found;
};

test.each(manifests.map((manifest) => [manifest.kind, manifest] as const))(
  'the %s is taken, without a warning',
  async (_kind, manifest) => {
    const path = `${pathOf(manifest)}${strict}`;
    const reply = await cluster.replica(0).request('POST', path, { body: manifest });
    expect([reply.status, reply.text]).toEqual([201, reply.text]);
    expect(reply.headers['warning']).toBeUndefined();
  },
);

test('strict validation is strict: a field that nobody knows is refused', async () => {
  const body = { ...find('Deployment'), surprise: true };
  const reply = await cluster.replica(0).request('POST', `${pathOf(body)}${strict}`, { body });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('surprise')]);
});

test('its pods are of the level restricted', async () => {
  const { template } = find('Deployment').spec;
  const base = '/api/v1/namespaces/tenant';
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'apiserver' } };
  const made = await cluster
    .replica(0)
    .request('POST', `${base}/serviceaccounts`, { body: account });
  expect(made.status).toBe(201);
  const body = { ...template, metadata: { ...template.metadata, name: 'one' } };
  const pods = `${base}/pods${strict}`;
  const taken = await cluster.replica(0).request('POST', pods, { body });
  expect([taken.status, taken.text]).toEqual([201, taken.text]);
  const loose = { ...body, spec: { ...body.spec, hostNetwork: true } };
  expect((await cluster.replica(0).request('POST', pods, { body: loose })).status).toBe(403);
});

test('its arguments are flags of this product, and name files that are mounted', () => {
  const [{ args, volumeMounts }] = find('Deployment').spec.template.spec.containers;
  const given = args.map((arg) => arg.replace('$(POD_IP)', '10.0.0.1'));
  expect(parseFlags(given).warnings).toEqual([]);
  const files = given.flatMap((arg) => /=(\/.*)$/.exec(arg)?.[1] ?? []);
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) {
    const isMounted = volumeMounts.some(({ mountPath }) => file.startsWith(mountPath));
    expect([file, isMounted]).toEqual([file, true]);
  }
});

test('Service and ServiceMonitor name ports that are there', () => {
  const [{ ports }] = find('Deployment').spec.template.spec.containers;
  const service = find('Service').spec;
  const names = ports.map(({ name }) => name);
  for (const { targetPort } of service.ports) expect(names).toContain(targetPort);
  const [monitor] = read('service-monitor.yaml');
  const served = service.ports.map(({ name }) => name);
  for (const { port } of monitor?.spec.endpoints ?? []) expect(served).toContain(port);
  expect(monitor?.spec.selector).toEqual(find('Deployment').spec.selector);
});
