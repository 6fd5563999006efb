// The admission plugins of real replicas: what is on by default, and that what one replica has
// answered acts on the next request to another.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../lib/api/type-info.ts';
import { TestCluster } from './harness.ts';
import type { Reply } from './harness.ts';

let cluster: TestCluster;
const namespace = 'admitted';
const pods = `/api/v1/namespaces/${namespace}/pods`;

beforeAll(async () => {
  cluster = await TestCluster.start({
    replicaCount: 2,
    serverFlags: [
      '--enable-admission-plugins=DenyServiceExternalIPs',
      '--disable-admission-plugins=TaintNodesByCondition',
      '--default-not-ready-toleration-seconds=17',
    ],
  });
  await post('/api/v1/namespaces', { metadata: { name: namespace } });
  const account = { metadata: { name: 'default' } };
  const made = await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, account);
  expect([201, 409]).toContain(made.status); // a controller may have been there before
});
afterAll(() => cluster.stop());

const post = (path: string, body: object, replica = 0): Promise<Reply> =>
  cluster.replica(replica).request('POST', path, { body });
const pod = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const messageOf = (reply: Reply): string => reply.json<{ message: string }>().message;

describe('the plugins that are on', () => {
  test('complete a pod', async () => {
    const reply = await post(pods, pod('complete'));
    expect(reply.status).toBe(201);
    const { spec } = reply.json<{ spec: JsonObject }>();
    expect(spec).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
    });
    expect(spec['tolerations']).toMatchObject([
      { key: 'node.kubernetes.io/not-ready', tolerationSeconds: 17 },
      { key: 'node.kubernetes.io/unreachable', tolerationSeconds: 300 },
    ]);
    const [volume] = spec['volumes'] as JsonObject[];
    expect(volume?.['name']).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(spec['containers']).toMatchObject([{ volumeMounts: [{ name: volume?.['name'] }] }]);
  });

  test('are those of the flags', async () => {
    const service = {
      metadata: { name: 's' },
      spec: { externalIPs: ['192.0.2.1'], ports: [{ port: 1 }] },
    };
    const refused = await post(`/api/v1/namespaces/${namespace}/services`, service);
    expect([refused.status, messageOf(refused)]).toEqual([
      403,
      'services "s" is forbidden: Use of external IPs is denied by admission control',
    ]);
    const node = await post('/api/v1/nodes', { metadata: { name: 'untainted' } });
    expect(node.json<{ spec: JsonObject }>().spec['taints']).toBeUndefined();
  });

  test('know the classes of the system', async () => {
    const reply = await post(pods, pod('critical', { priorityClassName: 'system-node-critical' }));
    expect(reply.json<{ spec: JsonObject }>().spec['priority']).toBe(2_000_001_000);
  });
});

describe('what one replica has answered acts on the next request to another', () => {
  const rounds = Array.from({ length: 10 }, (_, round) => round);

  test('a limit range, made and deleted', async () => {
    const ranges = `/api/v1/namespaces/${namespace}/limitranges`;
    for (const round of rounds) {
      const [here, there] = [round % 2, (round + 1) % 2];
      const limits = [{ type: 'Container', max: { cpu: '1' } }];
      const made = await post(ranges, { metadata: { name: 'l' }, spec: { limits } }, here);
      expect(made.status).toBe(201);
      const asking = pod(`l${String(round)}`, {
        containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '2' } } }],
      });
      const refused = await post(pods, asking, there);
      expect(messageOf(refused)).toMatch(/maximum cpu usage per Container is 1, but limit is 2$/);
      await cluster.replica(here).request('DELETE', `${ranges}/l`);
      expect((await post(pods, asking, there)).status).toBe(201);
    }
  });

  test('a priority class', async () => {
    for (const round of rounds) {
      const [here, there] = [round % 2, (round + 1) % 2];
      const name = `class-${String(round)}`;
      const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
      expect((await post(classes, { metadata: { name }, value: round }, here)).status).toBe(201);
      const made = await post(pods, pod(name, { priorityClassName: name }), there);
      expect(made.json<{ spec: JsonObject }>().spec['priority']).toBe(round);
    }
  });

  test('the one class for all', async () => {
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    const body = (name: string): object => ({ metadata: { name }, value: 5, globalDefault: true });
    expect((await post(classes, body('first'), 0)).status).toBe(201);
    const refused = await post(classes, body('second'), 1);
    expect(messageOf(refused)).toMatch(/PriorityClass first is already marked as default/);
    await cluster.replica(0).request('DELETE', `${classes}/first`);
    expect((await post(classes, body('second'), 1)).status).toBe(201);
  });
});
