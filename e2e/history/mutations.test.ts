// Any single lie in a true history is found: a recorded run on honest servers, changed at random
// places, one change at a time.

import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkHistory } from './checker.ts';
import type { History, WatchEvent } from './history.ts';
import { newSeed, Random } from './random.ts';
import { startTinyServers } from './testing/tiny-server.ts';
import { startWorkload } from './workload.ts';

const seed = process.env['HISTORY_SEED'] ?? newSeed();

/** Changes a history in one place; undefined where the place cannot be changed so. */
type Mutation = (history: History, random: Random) => History | undefined;

/** Changes the events of one stream between its first and last ones. */
function onEvents(
  change: (events: readonly WatchEvent[], index: number) => readonly WatchEvent[] | undefined,
): Mutation {
  return (history, random) => {
    const watch = random.pick(history.watches);
    if (watch.events.length < 4) return undefined;
    const index = 1 + random.below(watch.events.length - 2);
    if (watch.events[index]?.type === 'BOOKMARK') return undefined;
    const events = change(watch.events, index);
    if (events === undefined) return undefined;
    const watches = history.watches.map((each) => (each === watch ? { ...each, events } : each));
    return { ...history, watches };
  };
}

const mutations: Readonly<Record<string, Mutation>> = {
  'an event is dropped': onEvents((events, index) => events.toSpliced(index, 1)),
  'an event is repeated': onEvents((events, index) =>
    events.toSpliced(index, 0, ...events.slice(index, index + 1)),
  ),
  'two events are swapped': onEvents((events, index) => {
    const [first, second] = events.slice(index);
    if (first === undefined || second === undefined || second.type === 'BOOKMARK') return undefined;
    // They may be of the state that the watch began with, which comes in any order.
    if (events.slice(0, index + 2).every(({ type }) => type === 'ADDED')) return undefined;
    return events.toSpliced(index, 2, second, first);
  }),
  'a list lacks an object': (history, random) => {
    const list = random.pick(history.lists);
    const [page, ...others] = list.pages;
    if (page === undefined || page.items.length === 0) return undefined;
    const pages = [{ ...page, items: page.items.slice(1) }, ...others];
    return { ...history, lists: history.lists.map((x) => (x === list ? { ...x, pages } : x)) };
  },
  'a list claims another resourceVersion': (history, random) => {
    const list = random.pick(history.lists);
    const isLatest = list.at.mode === 'latest';
    const isEmpty = list.pages.every(({ items }) => items.length === 0);
    // Before the first write a list of nothing is right at any resourceVersion.
    if (!isLatest || isEmpty) return undefined;
    const pages = list.pages.map((page) => ({ ...page, revision: page.revision - 40 }));
    return { ...history, lists: history.lists.map((x) => (x === list ? { ...x, pages } : x)) };
  },
  'a consistent get shows what another get showed long before': (history, random) => {
    const get = random.pick(history.gets);
    if (get.outcome.kind !== 'found' || get.at.mode !== 'latest') return undefined;
    const { revision } = get.outcome.state;
    const before = history.gets.find(
      ({ name, outcome, returnedAt }) =>
        name === get.name &&
        outcome.kind === 'found' &&
        outcome.state.revision < revision - 40 &&
        returnedAt < get.invokedAt - 100,
    );
    if (before === undefined) return undefined;
    const { outcome } = before;
    return { ...history, gets: history.gets.map((x) => (x === get ? { ...x, outcome } : x)) };
  },
};

test('each change of a true history is an anomaly', async () => {
  const servers = await startTinyServers(2);
  const workload = await startWorkload({ servers: servers.urls, seed, pauseMs: 3 });
  await sleep(1_500);
  while (workload.answered() < 500) await sleep(20);
  const history = await workload.stop();
  await servers.close();
  expect({ seed, anomalies: checkHistory(history) }).toEqual({ seed, anomalies: [] });
  for (const [label, mutate] of Object.entries(mutations)) {
    const random = new Random(seed, label);
    let changedCount = 0;
    for (let attempt = 0; attempt < 60 && changedCount < 5; attempt += 1) {
      const changed = mutate(history, random);
      if (changed === undefined) continue;
      changedCount += 1;
      const isFound = checkHistory(changed).length > 0;
      expect({ seed, label, attempt, isFound }).toEqual({ seed, label, attempt, isFound: true });
    }
    expect({ seed, label, isTried: changedCount > 0 }).toEqual({ seed, label, isTried: true });
  }
});
