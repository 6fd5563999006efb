// Prometheus of the set-up scrapes everything; every query of the dashboards returns data there.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { wrongPanels, wrongRules } from '../observability/dashboard-queries.ts';
import { mixedLoad } from '../observability/mixed-load.ts';
import { Asker } from './asker.ts';
import { SetUp } from './set-up.ts';

const account = '/api/v1/namespaces/default/serviceaccounts/default';

let setUp: SetUp;
const askers: Asker[] = [];
const ending = new AbortController();
let load: Promise<void> = Promise.resolve();

beforeAll(async () => {
  setUp = await SetUp.attach();
  askers.push(...[1, 2, 3].map(() => new Asker(setUp)));
  const spec = { expirationSeconds: 3_600 };
  const answer = await askers[0]?.request('POST', `${account}/token`, { body: { spec } });
  expect(answer?.status).toBe(201);
  const { status } = JSON.parse(answer?.text ?? '') as { status: { token: string } };
  load = mixedLoad(askers, ending.signal, status.token);
  load.catch(() => undefined); // awaited at the end
});
afterAll(async () => {
  ending.abort();
  await load;
  for (const asker of askers) asker.close();
});

test('every target is scraped', async () => {
  const reply = await fetch(`${setUp.prometheusUrl}/api/v1/targets?state=active`);
  const { data } = (await reply.json()) as { data: { activeTargets: Target[] } };
  const states = data.activeTargets.map(({ scrapeUrl, health }) => [scrapeUrl, health]);
  expect(states.length).toBe(7);
  expect(states.filter(([, health]) => health !== 'up')).toEqual([]);
});

interface Target {
  readonly scrapeUrl: string;
  readonly health: string;
}

test('every panel shows something, or says why nothing is good', async () => {
  // A rate needs two of its scrapes, what is recorded of it two of its evaluations.
  const options = { deadlineMs: 200_000, rateInterval: '1m' };
  const loadEnded = load.then(() => ['the load has ended']);
  expect(await Promise.race([wrongPanels(setUp.prometheusUrl, options), loadEnded])).toEqual([]);
});

test('every rule can be evaluated', async () => {
  expect(await wrongRules(setUp.prometheusUrl)).toEqual([]);
});
