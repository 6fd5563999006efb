// What people do to workloads and nodes with stock kubectl, against a replica in the kubernetes
// profile; what controllers and kubelets would do, a script does. Skipped where there is no
// kubectl.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hasKubectl, KubectlCluster } from './run-kubectl.ts';
import type { Reply } from './harness.ts';

const image = 'registry.example/i:1';
let kube: KubectlCluster;

const request = (method: string, path: string, body?: object): Promise<Reply> =>
  kube.cluster.replica(0).request(method, path, body === undefined ? {} : { body });

const setStatus = (path: string, status: object): Promise<Reply> =>
  kube.cluster.replica(0).request('PATCH', `${path}/status`, {
    body: { status },
    headers: { 'content-type': 'application/merge-patch+json' },
  });

(hasKubectl ? describe : describe.skip)('stock kubectl', () => {
  beforeAll(async () => {
    kube = await KubectlCluster.start();
  });
  afterAll(() => kube.stop());

  test('creates a deployment and waits for its rollout, which a script reports', async () => {
    const path = '/apis/apps/v1/namespaces/default/deployments/web';
    kube.told('create', 'deployment', 'web', `--image=${image}`, '--replicas=2');
    const waiting = kube.start('rollout', 'status', 'deployment/web', '--timeout=60s');
    const replicas = { replicas: 2, updatedReplicas: 2, observedGeneration: 1 };
    await setStatus(path, { ...replicas, unavailableReplicas: 2 });
    await setStatus(path, { ...replicas, availableReplicas: 2, readyReplicas: 2 });
    const { code, out } = await waiting;
    expect([code, out]).toEqual([0, expect.stringMatching(/successfully rolled out\n$/)]);
    kube.told('set', 'image', 'deployment/web', 'i=registry.example/i:2');
    expect(kube.run('rollout', 'status', 'deployment/web', '--watch=false').out).toMatch(
      /^Waiting for deployment spec update to be observed/,
    );
    kube.told('scale', 'deployment/web', '--replicas=3');
    expect(kube.told('get', 'deployment', 'web', '-o', 'jsonpath={.metadata.generation}')).toBe(
      '3',
    );
  });

  test('runs a pod and exposes it: the service gets an address', () => {
    kube.told('run', 'alone', `--image=${image}`, '--port=80', '--labels=app=alone');
    kube.told('expose', 'pod', 'alone', '--port=8080', '--target-port=80', '--type=NodePort');
    const address = kube.told('get', 'service', 'alone', '-o', 'jsonpath={.spec.clusterIP}');
    const port = kube.told('get', 'service', 'alone', '-o', 'jsonpath={.spec.ports[0].nodePort}');
    expect([address, port]).toEqual([
      expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/),
      expect.stringMatching(/^3[0-2]\d{3}$/),
    ]);
    expect(kube.told('get', 'ipaddresses', address, '-o', 'name')).toMatch(/^ipaddress/);
    kube.told('delete', 'service/alone', 'pod/alone', '--now');
    expect(kube.run('get', 'ipaddresses', address).err).toMatch(/NotFound/);
  });

  test('taints, cordons and uncordons a node', async () => {
    await request('POST', '/api/v1/nodes', { metadata: { name: 'n0' } });
    kube.told('taint', 'nodes', 'n0', 'only=me:NoSchedule');
    kube.told('cordon', 'n0');
    const shown = [
      'get',
      'node',
      'n0',
      '-o',
      'jsonpath={.spec.unschedulable} {.spec.taints[*].key}',
    ];
    expect(
      kube
        .told(...shown)
        .split(' ')
        .sort(),
    ).toEqual(['node.kubernetes.io/not-ready', 'only', 'true'].sort());
    kube.told('uncordon', 'n0');
    kube.told('taint', 'nodes', 'n0', 'only-');
    expect(kube.told(...shown)).toBe('node.kubernetes.io/not-ready');
  });

  test('is told that there are no metrics', () => {
    expect(kube.run('top', 'nodes')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Metrics API not available/),
    });
  });
});
