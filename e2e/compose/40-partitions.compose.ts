// Parts of the set-up cannot reach each other: a replica and etcd, a member of etcd and the others,
// in one direction or in both; or they reach each other late. What is read through any replica as
// the latest is the latest, or the read is refused.
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkHistory } from '../history/checker.ts';
import { newSeed } from '../history/random.ts';
import { describeHistory } from '../history/summary.ts';
import { startWorkload, type Workload } from '../history/workload.ts';
import { configMaps } from '../operations/asks.ts';
import { Informer } from '../operations/informer.ts';
import { Probe } from '../operations/probe.ts';
import { SteadyLoad } from '../operations/steady-load.ts';
import { ContainerNetwork, DirectReplica, mayFilter } from './container-network.ts';
import { EtcdCluster } from './etcd-cluster.ts';
import { members, replicas, SetUp, until, type Member } from './set-up.ts';

type Mend = () => Promise<void>;
const filterTest: Pick<typeof test, 'each'> & ((name: string, run: () => Promise<void>) => void) =
  mayFilter ? test : test.skip;
const delayMs = 200;

let setUp: SetUp;
let direct: readonly [DirectReplica, DirectReplica, DirectReplica];
beforeAll(async () => {
  setUp = await SetUp.attach();
  const [one, two, three] = replicas;
  const of = (replica: (typeof replicas)[number]): Promise<DirectReplica> =>
    DirectReplica.of(setUp, replica);
  direct = [await of(one), await of(two), await of(three)];
});
afterAll(async () => {
  for (const replica of direct) await replica.close();
});

/** Clients that ask every replica, and whose history is judged at the end. */
let workload: Workload | undefined;
let seed = '';
/** Every replica is asked for what was written through each other one. */
interface Pair {
  readonly writer: number;
  readonly reader: number;
  readonly probe: Probe;
}
let pairs: readonly Pair[];
let informers: readonly Informer[];
let probing: AbortController;
let running: Promise<unknown>;
beforeEach(async () => {
  seed = process.env['HISTORY_SEED'] ?? newSeed();
  const servers = direct.map(({ url }) => url);
  const { admin } = setUp;
  workload = await startWorkload({ servers, access: admin, seed, settleMs: 45_000 });
  informers = direct.map(
    ({ url }) => new Informer({ url, identity: () => admin, path: configMaps }),
  );
  pairs = direct.flatMap((through, writer) =>
    direct.flatMap((from, reader) => {
      const name = `probe-${String(writer)}-${String(reader)}`;
      return writer === reader ? [] : [{ writer, reader, probe: new Probe(through, from, name) }];
    }),
  );
  probing = new AbortController();
  running = Promise.all(pairs.map(({ probe }) => probe.keepRunning(probing.signal)));
  await fresh();
});
afterEach(async () => {
  await workload?.stop().catch(() => undefined); // Only a test that failed has not.
  probing.abort();
  await running;
  await Promise.all(informers.map((informer) => informer.stop()));
});

/** Resolves when each of these replicas has shown so many times more what had just been written. */
async function fresh(of = pairs, count = 10): Promise<void> {
  const wanted = of.map(({ probe }) => probe.freshCount + count);
  await until('replicas show what was written', () =>
    Promise.resolve(of.every(({ probe }, index) => probe.freshCount >= (wanted[index] ?? 0))),
  );
}

const isLone = (replica: number): boolean => replica === 0;
/** How often the one without etcd refused to say what is the latest. */
const refusals = (): number =>
  pairs.reduce((sum, { reader, probe }) => sum + (isLone(reader) ? probe.refusedCount : 0), 0);

/** Of everybody, over all of the test. */
async function judge(name: string): Promise<void> {
  await fresh();
  probing.abort();
  await running;
  const list = await direct[0].request('GET', `${configMaps}?limit=1`);
  const { metadata } = JSON.parse(list.text) as { metadata: { resourceVersion: string } };
  // Bookmarks come once a minute.
  await direct[0].request('DELETE', `${configMaps}/last`);
  await direct[0].request('POST', configMaps, { body: { metadata: { name: 'last' } } });
  await until('every watch comes to the present', () =>
    Promise.resolve(informers.every(({ reached }) => reached > Number(metadata.resourceVersion))),
  );
  const history = await workload?.stop();
  workload = undefined;
  if (history === undefined) throw new Error('it was judged already');
  const counts = pairs.map(({ probe: { freshCount, refusedCount, oldCount } }) => ({
    freshCount,
    refusedCount,
    oldCount,
  }));
  process.stdout.write(`${name}: seed ${seed}, probes ${JSON.stringify(counts)}\n`);
  process.stdout.write(`${describeHistory(history)}\n`);
  const backwards = informers.flatMap((informer) => informer.backwards);
  const oldCount = counts.reduce((sum, probe) => sum + probe.oldCount, 0);
  const anomalies = checkHistory(history, { retentionMs: 0 });
  expect({ seed, oldCount, backwards, anomalies }).toEqual({
    seed,
    oldCount: 0,
    backwards: [],
    anomalies: [],
  });
}

/** Through the balancer. */
async function nobodyNotices(count = 200): Promise<void> {
  const load = await SteadyLoad.start({ url: setUp.url, identity: () => setUp.admin });
  await load.flow(count);
  const { failures, ...counts } = await load.stop();
  process.stdout.write(`meanwhile ${JSON.stringify(counts)}\n`);
  expect(failures).toEqual([]);
}

const loneNetwork = (): ContainerNetwork => new ContainerNetwork(setUp, 'apiserver-1');

/** One member is left to it, and that one is cut from the others. */
async function reachesOneThatIsCut(): Promise<Mend> {
  const rules: string[] = [];
  for (const member of ['etcd-2', 'etcd-3'] as const) {
    const address = await new ContainerNetwork(setUp, member).address('store-1');
    rules.push(`OUTPUT -p tcp -d ${address} -j REJECT --reject-with tcp-reset`);
  }
  const rejoin = await setUp.cut('etcd-1', 'peers');
  const undo = await loneNetwork().filter(...rules);
  return async () => {
    await undo();
    await rejoin();
  };
}

const losses: readonly (readonly [string, typeof filterTest, () => Promise<Mend>])[] = [
  ['its network is unplugged', test, () => setUp.cut('apiserver-1', 'store-1')],
  [
    'what etcd answers is lost',
    filterTest,
    () => loneNetwork().filter('INPUT -p tcp --sport 2379 -j DROP'),
  ],
  [
    'what it asks etcd is lost',
    filterTest,
    () => loneNetwork().filter('OUTPUT -p tcp --dport 2379 -j DROP'),
  ],
  ['the only member it reaches is cut from the others', filterTest, reachesOneThatIsCut],
];
for (const [claim, where, cut] of losses) {
  where(`a replica without etcd: ${claim}`, async () => {
    const refusedBefore = refusals();
    const cutMs = Date.now();
    const mend = await cut();
    let mendMs: number;
    try {
      await setUp.balanced('apiserver-1', 'DOWN', cutMs);
      process.stdout.write(`the balancer left it after ${String(Date.now() - cutMs)} ms\n`);
      await fresh(pairs.filter(({ writer, reader }) => !isLone(writer) && !isLone(reader)));
      await nobodyNotices();
      const { status } = await direct[0].request('GET', '/readyz');
      expect(status).not.toBe(200);
      await until('it refuses what it cannot know', () =>
        Promise.resolve(refusals() > refusedBefore),
      );
    } finally {
      mendMs = Date.now();
      await mend();
    }
    await setUp.balanced('apiserver-1', 'UP', mendMs);
    await setUp.healthy('etcd-1');
    await judge(claim);
  });
}

test.each(members)('%s is cut from the other members, and no replica from it', async (member) => {
  const mend = await setUp.cut(member, 'peers');
  try {
    // Longer than an election, and than the answers of one that believes to lead.
    await sleep(3_000);
    await fresh();
    await nobodyNotices();
  } finally {
    await mend();
  }
  await setUp.healthy(member);
  await judge(`${member} without peers`);
});

const ports = (chain: string): string[] => [
  `${chain} -p tcp --dport 2380 -j DROP`,
  `${chain} -p tcp --sport 2380 -j DROP`,
];
filterTest.each([
  ['hears nobody', ports('INPUT')],
  ['is heard by nobody', ports('OUTPUT')],
])('the leader of etcd %s of the other members', async (claim, rules) => {
  const leader: Member = await new EtcdCluster(setUp).leader();
  const mend = await new ContainerNetwork(setUp, leader).filter(...rules);
  try {
    await until('another member leads', async () => {
      const others = members.filter((member) => member !== leader);
      return (await Promise.all(others.map(leads))).includes(true);
    });
    await fresh();
    await nobodyNotices();
  } finally {
    await mend();
  }
  await setUp.healthy(leader);
  await judge(`the leader ${claim}`);
});

async function leads(member: Member): Promise<boolean> {
  const args = ['etcdctl', 'endpoint', 'status', '--write-out=json'];
  const { code, stdout } = await setUp.exec(member, args);
  const id = /"member_id":(\d+)/.exec(stdout)?.[1];
  return code === 0 && id !== undefined && stdout.includes(`"leader":${id}`);
}

filterTest(`a replica that etcd answers ${String(delayMs)} ms late serves on`, async () => {
  const addresses: string[] = [];
  for (const member of members) {
    addresses.push(await new ContainerNetwork(setUp, member).address('store-1'));
  }
  const mend = await loneNetwork().delay(addresses, delayMs);
  try {
    await setUp.healthy('apiserver-1');
    await fresh();
    const refused = refusals();
    const startMs = performance.now();
    expect((await direct[0].request('GET', `${configMaps}/probe-1-0`)).status).toBe(200);
    expect(performance.now() - startMs).toBeGreaterThan(delayMs);
    await nobodyNotices();
    await fresh();
    expect(refusals()).toBe(refused);
  } finally {
    await mend();
    await loneNetwork().reset();
  }
  await setUp.healthy('apiserver-1');
  await judge('late answers');
});
