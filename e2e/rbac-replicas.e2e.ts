// Rights among three replicas: one that is taken away at one of them is gone at the others from the
// moment that its event arrives there, and from then on nobody gives it on.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EtcdStorage } from '../lib/storage-etcd/etcd-storage.ts';
import { TestCluster } from './harness.ts';
import type { Replica, Reply } from './harness.ts';

const group = 'rbac.authorization.k8s.io';
const namespaced = `/apis/${group}/v1/namespaces/default`;
const bindings = `${namespaced}/rolebindings`;
const roles = `${namespaced}/roles`;
const secrets = '/api/v1/namespaces/default/secrets';

let cluster: TestCluster;
let storage: EtcdStorage;

beforeAll(async () => {
  cluster = await TestCluster.start({
    replicaCount: 3,
    tokens: ['reader-token,reader,2', 'editor-token,editor,3'],
    serverFlags: ['--authorization-mode=RBAC'],
  });
  storage = new EtcdStorage(cluster.etcd.connection);
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
afterAll(async () => {
  storage.close();
  await cluster.stop();
});

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
  const at = `resourceVersion=${revision}&resourceVersionMatch=NotOlderThan`;
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

/** The life of what is stored under a key: from, and until it was deleted. */
interface Life {
  readonly from: number;
  until: number;
}

/** Of all roles and bindings, by kind and name, after a revision up to another one. */
async function livesOf(after: number, upTo: number): Promise<ReadonlyMap<string, Life[]>> {
  const lives = new Map<string, Life[]>();
  const ending = new AbortController();
  for await (const batch of storage.watch('/registry/', after, ending.signal)) {
    for (const event of batch.events) {
      const key = event.type === 'put' ? event.item.key : event.key;
      const found = /\/(roles|rolebindings)\/default\/(.*)$/.exec(key);
      if (found === null) continue;
      const name = `${found[1] ?? ''}/${found[2] ?? ''}`;
      const own = lives.get(name) ?? [];
      lives.set(name, own);
      const last = own.at(-1);
      if (event.type === 'put') own.push({ from: event.item.modRevision, until: Infinity });
      else if (last !== undefined) last.until = event.revision;
    }
    if (batch.revision >= upTo) break;
  }
  ending.abort();
  return lives;
}

test('an editor gives no right on from the event on that takes it away elsewhere', async () => {
  const [first, second] = [cluster.replica(0), cluster.replica(1)];
  const start = Number(await revisionNow());
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }];
  const give = async (name: string): Promise<readonly number[]> => {
    const replies = await Promise.all([
      as(second, 'editor', 'POST', bindings, bindingOf(name, 'secrets', 'somebody')),
      as(second, 'editor', 'POST', roles, { metadata: { name }, rules }),
    ]);
    return replies.map(({ status }) => status);
  };
  /** What was stored after the right was gone: all of it was asked for before that was known. */
  const during = new Set<number>();
  for (let round = 0; round < 50; round++) {
    expect((await post(bindings, bindingOf('held', 'secrets', 'editor'))).status).toBe(201);
    await arrived(second, await revisionNow());
    expect(await give(`before-${String(round)}`)).toEqual([201, 201]);
    const taking = first.request('DELETE', `${bindings}/held`);
    for (const status of await give(`during-${String(round)}`)) during.add(status);
    expect((await taking).status).toBe(200);
    await arrived(second, await revisionNow());
    expect(await give(`after-${String(round)}`)).toEqual([403, 403]);
  }
  for (const status of during) expect([201, 403]).toContain(status);
  const lives = await livesOf(start, Number(await revisionNow()));
  const held = lives.get('rolebindings/held') ?? [];
  expect(held).toHaveLength(50);
  const isHeldAt = (revision: number): boolean =>
    held.some(({ from, until }) => from < revision && revision < until);
  const given = [...lives].filter(([name]) => /\/(before|after)-/.test(name));
  expect(given).toHaveLength(100);
  const wrong = given.filter(([, [life]]) => !isHeldAt(life?.from ?? 0));
  expect(wrong).toEqual([]);
});
