// Pods are bound by schedulers and evicted under budgets, through real replicas in both spellings;
// and what stock kubectl makes of a drain.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestCluster } from './harness.ts';
import type { Reply } from './harness.ts';
import { hasKubectl, runKubectl } from './run-kubectl.ts';
import type { KubectlResult } from './run-kubectl.ts';

const pods = '/api/v1/namespaces/default/pods';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

describe.each(['svc', 'kubernetes'] as const)('replicas that spell %s', (naming) => {
  let cluster: TestCluster;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'apiserver-eviction-'));
    cluster = await TestCluster.start({ replicaCount: 3, naming });
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function send(method: string, path: string, body: object, at = 0): Promise<Reply> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const replica = cluster.replica(at % cluster.replicas.length);
    return replica.request(method, path, { body, headers: { 'content-type': type } });
  }
  async function sent(method: string, path: string, body: object, at = 0): Promise<void> {
    const reply = await send(method, path, body, at);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
  }

  /** Made, bound by a scheduler, and ready. */
  async function newPod(name: string, app: string, node: string, at = 0): Promise<void> {
    const containers = [{ name: 'c', image: 'i' }];
    const spec = { containers, terminationGracePeriodSeconds: 0 };
    await sent('POST', pods, { metadata: { name, labels: { app } }, spec }, at);
    const target = { kind: 'Node', name: node };
    await sent('POST', `${pods}/${name}/binding`, { metadata: { name }, target }, at + 1);
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await sent('PATCH', `${pods}/${name}/status`, { status }, at + 2);
  }

  async function newBudget(name: string, app: string, disruptionsAllowed: number): Promise<void> {
    const spec = { minAvailable: 1, selector: { matchLabels: { app } } };
    await sent('POST', budgets, { metadata: { name }, spec });
    await allow(name, disruptionsAllowed);
  }
  const allow = (name: string, disruptionsAllowed: number): Promise<void> =>
    sent('PATCH', `${budgets}/${name}/status`, {
      status: { observedGeneration: 1, disruptionsAllowed },
    });

  test('forty evictions at once take what the budget allows', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `p${String(at)}`);
    await Promise.all(names.map((name, at) => newPod(name, 'many', 'n', at)));
    await newBudget('many', 'many', 5);
    const replies = await Promise.all(
      names.map((name, at) => send('POST', `${pods}/${name}/eviction`, { metadata: { name } }, at)),
    );
    const evicted = names.filter((_, at) => replies[at]?.status === 201).sort();
    expect(evicted).toHaveLength(5);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(35);
    const left = await Promise.all(
      names.map(
        async (name) => (await cluster.replica(1).request('GET', `${pods}/${name}`)).status,
      ),
    );
    expect(names.filter((_, at) => left[at] === 404).sort()).toEqual(evicted);
    const budget = await cluster.replica(2).request('GET', `${budgets}/many`);
    const { status } = budget.json<{ status: { disruptedPods: object } }>();
    expect(status).toMatchObject({ disruptionsAllowed: 0 });
    expect(Object.keys(status.disruptedPods).sort()).toEqual(evicted);
  });

  const knowsSpelling = hasKubectl && naming === 'kubernetes';
  (knowsSpelling ? test : test.skip)('kubectl drains a node as far as budgets let it', async () => {
    const kubectl = (...args: readonly string[]): KubectlResult =>
      runKubectl({ kubeconfig: cluster.replica(0).kubeconfig, home: folder }, args);
    await sent('POST', '/api/v1/nodes', { metadata: { name: 'drained' } });
    await newPod('free', 'free', 'drained');
    await newPod('guarded', 'guarded', 'drained');
    await newBudget('guarded', 'guarded', 0);
    const drain = ['drain', 'drained', '--force'];
    const stopped = kubectl(...drain, '--timeout=1s');
    expect(stopped.code).toBe(1);
    expect(stopped.err).toContain(
      "Cannot evict pod as it would violate the pod's disruption budget.",
    );
    expect(stopped.out).toContain('pod/free evicted');
    await allow('guarded', 1);
    const { code, out } = kubectl(...drain, '--timeout=30s');
    expect([code, out]).toEqual([0, expect.stringContaining('pod/guarded evicted')]);
    expect((await cluster.replica(1).request('GET', `${pods}/guarded`)).status).toBe(404);
  });
});
