// Several replicas are one API: what one hands out, every other one takes; one leaves without a
// failed request.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createServer, connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { join } from 'node:path';
import { TestCluster, adminToken } from './harness.ts';
import type { Replica } from './harness.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string): unknown => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { k: 'v' },
});

interface ListBody {
  readonly metadata: { readonly continue?: string; readonly resourceVersion: string };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}
const namesOf = (list: ListBody): string[] => list.items.map((item) => item.metadata.name);

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start({
    replicaCount: 3,
    tls: true,
    serverFlags: ['--shutdown-delay-duration=1s'],
  });
});
afterAll(() => cluster.stop());

describe('three replicas on one etcd', () => {
  test('a write through one is read through the others at once', async () => {
    for (let round = 0; round < 20; round++) {
      const name = `seen-${String(round)}`;
      const writer = cluster.replica(round % 3);
      expect((await writer.request('POST', configMaps, { body: configMap(name) })).status).toBe(
        201,
      );
      for (const replica of cluster.replicas) {
        expect((await replica.request('GET', `${configMaps}/${name}`)).status).toBe(200);
        const list = (await replica.request('GET', configMaps)).json<ListBody>();
        expect(namesOf(list)).toContain(name);
      }
    }
  });

  test('a continue token works on every other replica and after a restart', async () => {
    const first = (
      await cluster.replica(0).request('GET', `${configMaps}?limit=3`)
    ).json<ListBody>();
    const token = encodeURIComponent(first.metadata.continue ?? '');
    const path = `${configMaps}?limit=3&continue=${token}`;
    const second = (await cluster.replica(1).request('GET', path)).json<ListBody>();
    await cluster.replica(0).kill();
    await cluster.replica(0).start();
    const again = (await cluster.replica(0).request('GET', path)).json<ListBody>();
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(namesOf(again)).toEqual(namesOf(second));
    expect(namesOf(second)).not.toContain(namesOf(first)[0]);
  });

  test("one replica's admin certificate is an administrator on every replica", async () => {
    const file = (name: string): Buffer => readFileSync(join(cluster.replica(0).dataDir, name));
    const agent = new Agent({
      ca: file('ca.crt'),
      cert: file('admin.crt'),
      key: file('admin.key'),
    });
    for (const replica of cluster.replicas) {
      expect(await statusOf(`${replica.url}/api/v1/secrets`, agent, {})).toBe(200);
    }
    agent.destroy();
  });

  test('a watch through one replica sees what the others write, in order', async () => {
    const list = (await cluster.replica(2).request('GET', configMaps)).json<ListBody>();
    const query = `watch=1&timeoutSeconds=3&resourceVersion=${list.metadata.resourceVersion}`;
    const watching = cluster.replica(2).request('GET', `${configMaps}?${query}`);
    const names = Array.from({ length: 12 }, (_, index) => `order-${String(index)}`);
    for (const [index, name] of names.entries()) {
      await cluster.replica(index % 3).request('POST', configMaps, { body: configMap(name) });
    }
    const lines = (await watching).text.trim().split('\n');
    const events = lines.map(
      (line) => JSON.parse(line) as { object: { metadata: { name: string } } },
    );
    expect(events.map((event) => event.object.metadata.name)).toEqual(names);
  });
});

test('a replica that is told to stop behind a load balancer fails no request', async () => {
  const balancer = await startBalancer(cluster.replicas);
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 8,
    ca: readFileSync(cluster.replica(1).caFile),
  });
  const statuses = new Map<number | string, number>();
  let isDone = false;
  let answered = 0;
  const untilAnswered = async (count: number): Promise<void> => {
    while (answered < count) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let round = 0; !isDone; round++) {
      const path = round % 2 === 0 ? configMaps : `${configMaps}/seen-${String(client)}`;
      const outcome = await statusOf(`${balancer.url}${path}`, agent, {
        authorization: `Bearer ${adminToken}`,
      }).catch((error: unknown) => (error as Error).message);
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
      answered += 1;
    }
  });
  await untilAnswered(40);
  const code = await cluster.replica(2).terminate();
  await untilAnswered(answered + 40);
  isDone = true;
  await Promise.all(clients);
  agent.destroy();
  await balancer.close();
  expect(code).toBe(0);
  expect([...statuses.keys()]).toEqual([200]);
});

function statusOf(
  url: string,
  agent: Agent,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, headers }, (incoming) => {
      incoming.resume().once('end', () => resolve(incoming.statusCode ?? 0));
      incoming.once('error', reject);
    });
    outgoing.once('error', reject).end();
  });
}

/**
 * Passes each new connection to a replica whose /readyz answers 200; asks every 50 ms, as balancers
 * do less often.
 */
async function startBalancer(
  replicas: readonly Replica[],
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const ready = new Set<Replica>(replicas);
  const sockets = new Set<Socket>();
  let turn = 0;
  const probing = setInterval(() => {
    for (const replica of replicas) {
      replica
        .request('GET', '/readyz')
        .then((reply) => (reply.status === 200 ? ready.add(replica) : ready.delete(replica)))
        .catch(() => ready.delete(replica));
    }
  }, 50);
  const server: Server = createServer((client) => {
    const choices = [...ready];
    const replica = choices[turn++ % choices.length];
    const backend = connect(Number(new URL(replica?.url ?? '').port), '127.0.0.1');
    for (const socket of [client, backend]) sockets.add(socket);
    client.pipe(backend).pipe(client);
    client.on('close', () => sockets.delete(client));
    backend.on('close', () => sockets.delete(backend));
    client.on('error', () => backend.destroy());
    backend.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close: () => {
      clearInterval(probing);
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
