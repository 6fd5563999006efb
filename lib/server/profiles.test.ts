import { expect, test } from '@jest/globals';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { profilePages } from './profiles.ts';
import type { Filter } from './request-context.ts';
import { eventually, request1, startTestServer } from './testing/test-server.ts';
import type { TestServer } from './testing/test-server.ts';

let waits: (() => void)[] = [];
/** Profiles are over when the test says so. */
const held: Clock = {
  ...systemClock,
  after(_delayMs, run) {
    waits.push(run);
    return () => undefined;
  },
};

function start(): Promise<TestServer> {
  waits = [];
  const pages = profilePages(held);
  const filter: Filter = (request, response) =>
    pages.get(request.context.info.path)?.(request, response);
  return startTestServer({ filters: [filter] });
}

test('the index says what there is', async () => {
  await using server = await start();
  const { status, body } = await request1(server, '/debug/pprof/');
  expect(status).toBe(200);
  expect(body.toString()).toMatch(/^profile\?seconds=N$/m);
});

test('a CPU profile is taken, one at a time', async () => {
  await using server = await start();
  const taking = request1(server, '/debug/pprof/profile?seconds=2');
  await eventually(() => waits.length === 1);
  const refused = await request1(server, '/debug/pprof/profile');
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '30']);
  waits[0]?.();
  const { status, body } = await taking;
  expect(status).toBe(200);
  const profile = JSON.parse(body.toString()) as { nodes: unknown[]; samples: unknown[] };
  expect(profile.nodes.length).toBeGreaterThan(0);
  const again = request1(server, '/debug/pprof/profile?seconds=1');
  await eventually(() => waits.length === 2);
  waits[1]?.();
  expect((await again).status).toBe(200);
});

test.each(['0', '51', '1.5', 'x', '-1'])('of %s seconds there is none', async (seconds) => {
  await using server = await start();
  const { status, body } = await request1(server, `/debug/pprof/profile?seconds=${seconds}`);
  expect(status).toBe(400);
  expect(body.toString()).toMatch(/seconds must be a whole number from 1 to 50/);
});
