// Members of etcd are killed, stopped and replaced, and the leader is killed, under load. Replicas
// keep their caches, so no watch may be told that its position is gone.
import { beforeAll, expect, test } from '@jest/globals';
import { EtcdCluster } from './etcd-cluster.ts';
import { judged, type Scene } from './judged.ts';
import { members, SetUp, type Member } from './set-up.ts';

let setUp: SetUp;
let etcd: EtcdCluster;
beforeAll(async () => {
  setUp = await SetUp.attach();
  etcd = new EtcdCluster(setUp);
});

const harming = 'while it goes';

/** Does harm, goes on without the member, and has it back. */
async function without(scene: Scene, member: Member, harm: () => Promise<void>): Promise<void> {
  scene.phase(harming);
  await harm();
  await scene.flow();
  scene.phase(`without ${member}`);
  await scene.flow();
  await setUp.start(member);
  await setUp.healthy(member);
  await scene.flow();
}

const harms: readonly (readonly [string, (scene: Scene) => Promise<void>])[] = [
  [
    'each member killed in turn',
    async (scene) => {
      for (const member of members) await without(scene, member, () => setUp.kill(member));
    },
  ],
  [
    'a member stopped',
    async (scene) => {
      const member = scene.random.pick(members);
      await without(scene, member, () => setUp.stop(member));
    },
  ],
  [
    'the leader killed',
    async (scene) => {
      const leader = await etcd.leader();
      await without(scene, leader, () => setUp.kill(leader));
    },
  ],
  [
    'a member replaced by a new one with an empty disk',
    async (scene) => {
      const member = scene.random.pick(await etcd.followers());
      scene.phase(harming);
      await etcd.replace(member);
      await scene.flow();
    },
  ],
];

test.each(harms)('%s', async (name, harm) => {
  const { seed, anomalies, failures } = await judged(setUp, { name, harm });
  const later = failures.filter((failure) => !failure.startsWith(harming));
  expect({ seed, anomalies, later }).toEqual({ seed, anomalies: [], later: [] });
});
