// Prometheus of the set-up scrapes everything; every query of the dashboards returns data there.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { wrongPanels, wrongRules } from '../observability/dashboard-queries.ts';
import { mixedLoad } from '../observability/mixed-load.ts';
import { Asker } from './asker.ts';
import { SetUp, until } from './set-up.ts';

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

async function targetsDown(): Promise<readonly string[]> {
  const reply = await fetch(`${setUp.prometheusUrl}/api/v1/targets?state=active`);
  const { data } = (await reply.json()) as { data: { activeTargets: Target[] } };
  expect(data.activeTargets.length).toBe(7);
  return data.activeTargets.flatMap(({ scrapeUrl, health }) => (health === 'up' ? [] : scrapeUrl));
}

// One that was just started is up with its next scrape.
test('every target is scraped', async () => {
  let down: readonly string[] = [];
  await until('every target is up', async () => {
    down = await targetsDown();
    return down.length === 0;
  }).catch((error: unknown) => {
    throw new Error(`down: ${down.join()}`, { cause: error });
  });
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
