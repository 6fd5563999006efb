// Definitions are made, used, changed and deleted at random through three replicas while one of
// them is paused and etcd's leader moves: once one is established every replica serves it, and once
// it is gone nothing of it is left. CHAOS_SECONDS makes it longer; HISTORY_SEED repeats choices.

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import { TestCluster } from '../harness.ts';
import type { Replica, Reply } from '../harness.ts';
import { newSeed, Random } from '../history/random.ts';
import {
  define,
  definitions,
  isEstablished,
  nameOf,
  redefine,
  untilEstablished,
} from './definitions.ts';
import type { DefinitionBody, GivenDefinition } from './definitions.ts';

const seconds = Number(process.env['CHAOS_SECONDS'] ?? 12);
const seed = process.env['HISTORY_SEED'] ?? newSeed();
const group = 'lives.example.com';
const actorCount = 3;
let cluster: TestCluster;
let storage: EtcdStorage;
/** What must not have been; each says when and where. */
const faults: string[] = [];

beforeAll(async () => {
  cluster = await TestCluster.start({ replicaCount: 3, memberCount: 3 });
  storage = new EtcdStorage(cluster.etcd.connection);
});
afterAll(async () => {
  storage.close();
  await cluster.stop();
});

/** Keys of objects of a kind, whoever serves it. */
async function keysOf(prefix: string): Promise<string[]> {
  const signal = AbortSignal.timeout(30_000);
  const { items } = await storage.list({ prefix: `/registry/${prefix}`, limitCount: 0 }, signal);
  return items.map(({ key }) => key);
}

const listPath = ({ plural }: GivenDefinition, version = 'v1'): string =>
  `/apis/${group}/${version}/namespaces/default/${plural}`;
const kindOf = (plural: string): string =>
  plural.replace(/s$/, '').replace(/^./, (first) => first.toUpperCase());
const newObject = ({ plural }: GivenDefinition, name: string): object => ({
  apiVersion: `${group}/v1`,
  kind: kindOf(plural),
  metadata: { name },
  data: { by: name },
});

/** Every replica takes the first request for what somebody has seen to be established. */
async function useEverywhere(given: GivenDefinition, label: string): Promise<void> {
  const asked = cluster.replicas.flatMap((replica, index) => [
    replica.request('POST', listPath(given), { body: newObject(given, `first${String(index)}`) }),
    replica.request('GET', listPath(given, 'v2')),
    replica.request('GET', `${listPath(given)}?watch=1&timeoutSeconds=1`),
    replica.request('GET', `/apis/${group}/v1`),
  ]);
  for (const [index, { status, text }] of (await Promise.all(asked)).entries()) {
    if (status >= 300) faults.push(`${label}: request ${String(index)}: ${String(status)} ${text}`);
    if (text.includes('"type":"ERROR"')) faults.push(`${label}: a watch ended with ${text}`);
  }
}

/** Writes through all replicas until told to stop; what is taken must be there or be deleted. */
async function writing(
  given: GivenDefinition,
  random: Random,
  { writer, state }: { writer: number; state: { isEnding: boolean; isGone: boolean } },
): Promise<void> {
  for (let count = 0; !state.isGone; count += 1) {
    const name = `w${String(writer)}-${String(count)}`;
    const through = random.pick(cluster.replicas);
    const { status, text } = await through.request('POST', listPath(given), {
      body: newObject(given, name),
    });
    const isWanted = status === 201 || (state.isEnding && status < 500);
    if (!isWanted && status !== 504) {
      faults.push(`${given.plural} ${name}: ${String(status)} ${text}`);
    }
    await sleep(random.below(20));
  }
}

async function untilGone(through: Replica, given: GivenDefinition): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while ((await through.request('GET', `${definitions}/${nameOf(given)}`)).status !== 404) {
    if (performance.now() > giveUpAt) throw new Error(`${nameOf(given)} does not go`);
    await sleep(20);
  }
}

/** One definition from its making to its end; made again under the same name it is empty. */
async function live(given: GivenDefinition, random: Random, label: string): Promise<void> {
  const pick = (): Replica => random.pick(cluster.replicas);
  const made = await define(pick(), given);
  expect([label, made.status, made.text]).toEqual([label, 201, made.text]);
  await untilEstablished(pick(), given);
  const list = (await pick().request('GET', listPath(given))).json<{ items: unknown[] }>();
  if (list.items.length > 0) faults.push(`${label}: what was made again is not empty`);
  await useEverywhere(given, label);
  const state = { isEnding: false, isGone: false };
  const writers = [0, 1].map((writer) =>
    writing(given, new Random(seed, label, writer), { writer, state }),
  );
  for (let edition = 1; edition <= 1 + random.below(3); edition += 1) {
    const { status, text } = await redefine(pick(), { ...given, edition });
    if (status !== 200) faults.push(`${label}: change: ${String(status)} ${text}`);
    await sleep(random.below(100));
  }
  state.isEnding = true;
  const removed = await pick().request('DELETE', `${definitions}/${nameOf(given)}`);
  if (removed.status !== 200) faults.push(`${label}: delete: ${removed.text}`);
  await untilGone(pick(), given);
  state.isGone = true;
  await Promise.all(writers);
  const left = await keysOf(`${group}/${given.plural}/`);
  if (left.length > 0) faults.push(`${label}: ${left.join(' ')} is left`);
  for (const replica of cluster.replicas) {
    const { status, text } = await replica.request('GET', listPath(given));
    if (status !== 404) faults.push(`${label}: gone, and yet ${String(status)} ${text}`);
  }
}

test('what is established is served everywhere, and what is gone is gone', async () => {
  const endsAt = performance.now() + seconds * 1000;
  let lifeCount = 0;
  const actors = Array.from({ length: actorCount }, async (_one, actor) => {
    const random = new Random(seed, 'actor', actor);
    for (let round = 0; performance.now() < endsAt; round += 1) {
      const given = { group, plural: `things${String(actor)}s` };
      await live(given, random, `actor ${String(actor)}, round ${String(round)}`);
      lifeCount += 1;
    }
  });
  const random = new Random(seed, 'harm');
  const harming = (async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const paused = random.pick(cluster.replicas);
      paused.pause();
      await sleep(500 + random.below(1_000)).finally(() => paused.resume());
      await cluster.etcd.moveLeader();
      await sleep(1_000 + random.below(2_000));
    }
  })();
  await Promise.all([...actors, harming]);
  expect({ seed, faults }).toEqual({ seed, faults: [] });
  expect(lifeCount).toBeGreaterThanOrEqual(actorCount);
  expect(await keysOf(`${group}/`)).toEqual([]);
});

test('what many make at once is established at all replicas, whoever is paused', async () => {
  const paused = cluster.replica(1);
  const [one, other] = [cluster.replica(0), cluster.replica(2)];
  paused.pause();
  const count = 12;
  const given = Array.from({ length: count }, (_one, index) => ({
    group: `g${String(index % 2)}.${group}`,
    plural: `items${String(index)}s`,
  }));
  try {
    const make = (definition: GivenDefinition, index: number): Promise<Reply> =>
      define(index % 2 === 0 ? one : other, definition);
    for (const { status } of await Promise.all(given.map(make))) expect(status).toBe(201);
    await Promise.all(given.map((definition) => untilEstablished(other, definition)));
  } finally {
    paused.resume();
  }
  // The one that was paused knows of none of them before it is asked.
  const seen = given.map(({ group, plural }) =>
    paused.request('GET', `/apis/${group}/v1/namespaces/default/${plural}`),
  );
  expect((await Promise.all(seen)).map(({ status }) => status)).toEqual(given.map(() => 200));
  const lists = await Promise.all(
    cluster.replicas.map((replica) => replica.request('GET', definitions)),
  );
  for (const list of lists) {
    const { items } = list.json<{ items: DefinitionBody[] }>();
    expect([items.length, items.every(isEstablished)]).toEqual([count, true]);
  }
  const remove = (definition: GivenDefinition): Promise<unknown> =>
    paused.request('DELETE', `${definitions}/${nameOf(definition)}`);
  await Promise.all(given.map(remove));
  await Promise.all(given.map((definition) => untilGone(one, definition)));
});
