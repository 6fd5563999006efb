// Rights among three replicas: one that is taken away at one of them is gone at the others from the
// moment that its event arrives there.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestCluster } from './harness.ts';
import type { Replica, Reply } from './harness.ts';

const group = 'rbac.authorization.k8s.io';
const namespaced = `/apis/${group}/v1/namespaces/default`;
const bindings = `${namespaced}/rolebindings`;
const roles = `${namespaced}/roles`;
const secrets = '/api/v1/namespaces/default/secrets';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start({
    replicaCount: 3,
    tokens: ['reader-token,reader,2', 'editor-token,editor,3'],
    serverFlags: ['--authorization-mode=RBAC'],
  });
  const rule = (apiGroup: string, resource: string, verbs: readonly string[]): object => ({
    apiGroups: [apiGroup],
    resources: [resource],
    verbs,
  });
  const writes = ['get', 'list', 'create'];
  const made = [
    await post(roles, { metadata: { name: 'secrets' }, rules: [rule('', 'secrets', ['list'])] }),
    await post(roles, {
      metadata: { name: 'edits' },
      rules: [rule(group, 'roles', writes), rule(group, 'rolebindings', writes)],
    }),
    await post(bindings, bindingOf('edits', 'edits', 'editor')),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  for (const replica of cluster.replicas) {
    while ((await as(replica, 'editor', 'GET', bindings)).status === 403) await nextTurn();
  }
});
afterAll(() => cluster.stop());

const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

const bindingOf = (name: string, role: string, user: string): object => ({
  metadata: { name },
  roleRef: { apiGroup: group, kind: 'Role', name: role },
  subjects: [{ apiGroup: group, kind: 'User', name: user }],
});

const post = (path: string, body: object, by = cluster.replica(0)): Promise<Reply> =>
  by.request('POST', path, { body });

const as = (
  replica: Replica,
  user: 'reader' | 'editor',
  method: string,
  path: string,
  body?: object,
): Promise<Reply> =>
  replica.request(method, path, {
    headers: { authorization: `Bearer ${user}-token` },
    ...(body === undefined ? {} : { body }),
  });

const uses = async (replica: Replica): Promise<number> =>
  (await as(replica, 'reader', 'GET', secrets)).status;

/** Where the cluster stands; not older than any write that was answered. */
async function revisionNow(): Promise<string> {
  const listed = await cluster.replica(0).request('GET', `${bindings}?limit=1`);
  return listed.json<{ metadata: { resourceVersion: string } }>().metadata.resourceVersion;
}

/** Once it is answered, the replica has all events up to the revision. */
async function arrived(replica: Replica, revision: string): Promise<void> {
  const at = `resourceVersion=${revision}&resourceVersionMatch=NotOlderThan&limit=1`;
  expect((await replica.request('GET', `${bindings}?${at}`)).status).toBe(200);
}

test('a binding is effective at each replica from its event on, under load', async () => {
  let isOver = false;
  const noise = [0, 1, 2].map(async (worker) => {
    for (let turn = 0; !isOver; turn++) {
      const name = `noise-${String(worker)}`;
      const by = cluster.replica((worker + turn) % 3);
      await post(bindings, bindingOf(name, 'secrets', `nobody-${String(turn)}`), by);
      await by.request('DELETE', `${bindings}/${name}`);
    }
  });
  const change = async (method: string, path: string, body?: object): Promise<string> => {
    const options = body === undefined ? {} : { body };
    const { status } = await cluster.replica(0).request(method, path, options);
    expect([method, status]).toEqual([method, method === 'POST' ? 201 : 200]);
    return revisionNow();
  };
  const becomes = async (status: number, revision: string): Promise<void> => {
    await Promise.all(
      cluster.replicas.map(async (replica) => {
        await arrived(replica, revision);
        const answered = [await uses(replica), await uses(replica)];
        expect([replica.url, ...answered]).toEqual([replica.url, status, status]);
      }),
    );
  };
  for (let round = 0; round < 8; round++) {
    await becomes(200, await change('POST', bindings, bindingOf('reader', 'secrets', 'reader')));
    await becomes(403, await change('DELETE', `${bindings}/reader`));
  }
  isOver = true;
  await Promise.all(noise);
});
