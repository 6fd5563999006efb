// Members of etcd are killed, moved and paused under traffic. Replicas keep their caches, so no
// watch may be told that its position is gone.

import { afterAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { judge, SharedClusters, type Scene } from './truth.ts';

const shared = new SharedClusters();
afterAll(() => shared.stop());

const three = { memberCount: 3 } as const;
const one = { memberCount: 1 } as const;

const harms: readonly (readonly [
  string,
  typeof one | typeof three,
  (s: Scene) => Promise<void>,
])[] = [
  [
    'a member killed and started again',
    three,
    async ({ cluster: { etcd }, random, flow }) => {
      for (let count = 0; count < 2; count += 1) {
        const member = random.below(3);
        await etcd.kill(member);
        await flow();
        await etcd.restart(member);
        await flow();
      }
    },
  ],
  [
    'the leader killed and started again',
    three,
    async ({ cluster: { etcd }, flow }) => {
      const leader = await etcd.leader();
      await etcd.kill(leader);
      await flow();
      await etcd.restart(leader);
    },
  ],
  [
    'the leader moved',
    three,
    async ({ cluster: { etcd }, flow }) => {
      for (let count = 0; count < 3; count += 1) {
        await etcd.moveLeader();
        await flow();
      }
    },
  ],
  [
    'the leader paused',
    three,
    async ({ cluster: { etcd }, flow }) => {
      const leader = await etcd.leader();
      await etcd.pause(leader);
      await sleep(4_000);
      etcd.resume(leader);
      await flow();
    },
  ],
  [
    'the only member paused',
    one,
    async ({ cluster: { etcd }, flow }) => {
      await etcd.pause(0);
      await sleep(3_000);
      etcd.resume(0);
      await flow();
    },
  ],
  [
    'the only member killed and started again',
    one,
    async ({ cluster: { etcd }, flow }) => {
      await etcd.kill(0);
      await sleep(1_000);
      await etcd.restart(0);
      await flow();
    },
  ],
];

test.each(harms)('%s', async (name, cluster, harm) => {
  const { seed, anomalies } = await judge({ name, shared, cluster, harm });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
});
