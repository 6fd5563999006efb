// Stock kubectl against a replica in the kubernetes profile, on kinds of ten sorts. Skipped where
// there is no kubectl.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasKubectl, KubectlCluster, kubectlEnvironment } from './run-kubectl.ts';
import type { KubectlResult } from './run-kubectl.ts';

const inNamespace = { namespace: 'default' };
const labels = { app: 'x' };
const podSpec = { containers: [{ name: 'c', image: 'registry.example/i:1' }] };
const template = { metadata: { labels }, spec: podSpec };

interface Sample {
  readonly resource: string;
  readonly object: Readonly<Record<string, unknown>>;
}

const samples: readonly Sample[] = [
  sample('configmaps', 'v1', 'ConfigMap', { data: { a: 'b' } }),
  sample('secrets', 'v1', 'Secret', { stringData: { a: 'b' } }),
  sample('serviceaccounts', 'v1', 'ServiceAccount', {}),
  sample('pods', 'v1', 'Pod', { spec: podSpec }),
  sample('services', 'v1', 'Service', { spec: { selector: labels, ports: [{ port: 80 }] } }),
  sample('deployments', 'apps/v1', 'Deployment', {
    spec: { selector: { matchLabels: labels }, template },
  }),
  sample('jobs', 'batch/v1', 'Job', {
    spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } },
  }),
  sample('leases', 'coordination.k8s.io/v1', 'Lease', { spec: { holderIdentity: 'x' } }),
  sample('roles', 'rbac.authorization.k8s.io/v1', 'Role', {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  }),
  sample('networkpolicies', 'networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: {} } }),
  {
    resource: 'nodes',
    object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'sample' } },
  },
];

function sample(
  resource: string,
  apiVersion: string,
  kind: string,
  rest: Readonly<Record<string, unknown>>,
): Sample {
  const metadata = { name: 'sample', ...inNamespace };
  return { resource, object: { apiVersion, kind, metadata, ...rest } };
}

let kube: KubectlCluster;

const kubectl = (...args: readonly string[]): KubectlResult => kube.run(...args);

(hasKubectl ? describe : describe.skip)('stock kubectl', () => {
  beforeAll(async () => {
    kube = await KubectlCluster.start();
  });
  afterAll(() => kube.stop());

  test('lists every resource that can be listed', () => {
    const { code, out } = kubectl('api-resources', '--verbs=list', '-o', 'name');
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual(
      expect.arrayContaining(['pods', 'deployments.apps', 'leases.coordination.k8s.io']),
    );
  });

  test.each(samples)('$resource: create, get, patch, replace, delete', ({ resource, object }) => {
    const file = join(kube.folder, `${resource}.json`);
    writeFileSync(file, JSON.stringify(object));
    expect(kubectl('create', '--validate=false', '-f', file)).toMatchObject({ code: 0, err: '' });
    expect(kubectl('get', resource, 'sample')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^NAME.*\nsample /),
    });
    const merge = kubectl(
      'patch',
      resource,
      'sample',
      '--type=merge',
      '-p',
      '{"metadata":{"labels":{"l":"1"}}}',
    );
    expect(merge).toMatchObject({ code: 0, err: '' });
    const operations = '[{"op":"add","path":"/metadata/annotations","value":{"n":"2"}}]';
    expect(kubectl('patch', resource, 'sample', '--type=json', '-p', operations)).toMatchObject({
      code: 0,
      err: '',
    });
    const got = JSON.parse(kubectl('get', resource, 'sample', '-o', 'json').out) as {
      metadata: { labels: Record<string, string>; annotations: Record<string, string> };
    };
    expect([got.metadata.labels['l'], got.metadata.annotations['n']]).toEqual(['1', '2']);
    delete got.metadata.labels['l'];
    writeFileSync(file, JSON.stringify(got));
    expect(kubectl('replace', '--validate=false', '-f', file)).toMatchObject({ code: 0, err: '' });
    expect(kubectl('get', resource, '-l', 'l=1', '-o', 'name').out).toBe('');
    const removed = kubectl('delete', resource, 'sample', '--now', '--timeout=10s');
    expect(removed.code).toBe(0);
    expect(kubectl('get', resource, 'sample').err).toMatch(/NotFound/);
  });

  test('lists in chunks', () => {
    const items = Array.from({ length: 25 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `chunk-${String(index)}`, labels: { chunked: 'yes' }, ...inNamespace },
    }));
    const file = join(kube.folder, 'list.json');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    expect(kubectl('create', '--validate=false', '-f', file).code).toBe(0);
    const { out } = kubectl('get', 'configmaps', '-l', 'chunked', '--chunk-size=4', '-o', 'name');
    expect(out.trim().split('\n')).toHaveLength(25);
    expect(kubectl('delete', 'configmaps', '-l', 'chunked').code).toBe(0);
  });

  test('watches', async () => {
    const env = kubectlEnvironment(kube.home);
    const child = spawn('kubectl', ['get', 'configmaps', '-w', '-o', 'name'], { env });
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString('utf8')));
    const closed = new Promise((resolve) => child.once('close', resolve));
    const giveUpAt = Date.now() + 60_000;
    for (let count = 0; !seen.includes('configmap/watched') && Date.now() < giveUpAt; count++) {
      const name = `watched-${String(count)}`;
      await kube.cluster.replica(0).request('POST', '/api/v1/namespaces/default/configmaps', {
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
      });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    child.kill('SIGINT');
    await closed;
    expect(seen).toMatch(/configmap\/watched/);
  });

  test('raw paths and a namespace that goes away with its content', () => {
    expect(JSON.parse(kubectl('get', '--raw', '/version').out)).toMatchObject({ major: '1' });
    const made = join(kube.folder, 'ns.json');
    writeFileSync(
      made,
      JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'gone' } }),
    );
    expect(kubectl('create', '--validate=false', '-f', made).code).toBe(0);
    expect(kubectl('delete', 'namespace', 'gone', '--timeout=15s').code).toBe(0);
  });
});
