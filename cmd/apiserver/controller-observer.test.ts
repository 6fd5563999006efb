import { expect, test } from '@jest/globals';
import { createLogger } from '../../lib/base/log.ts';
import { nextTurn } from '../../lib/base/turn.ts';
import { ManualClock } from '../../lib/base/testing/manual-clock.ts';
import { KeyedQueue } from '../../lib/controllers/controller.ts';
import type { Outcome } from '../../lib/controllers/controller.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { controllerObserver } from './observers.ts';

test('a work queue is measured: what waits, what runs and how long, what is retried', async () => {
  const metrics = testMetrics();
  const clock = new ManualClock();
  const observer = controllerObserver(metrics, clock);
  const log = createLogger('error', () => undefined);
  const ends: ((outcome: Outcome) => void)[] = [];
  const options = { name: 'q', clock, log, workers: 1, observer };
  const queue = new KeyedQueue(options, () => new Promise((resolve) => ends.push(resolve)));
  const stopping = new AbortController();
  const running = queue.run(stopping.signal);
  /** In a long turn a key begins one turn later. */
  const begun = async (): Promise<void> => {
    while (ends.length === 0) await nextTurn();
  };
  const read = async (): Promise<Record<string, number>> => {
    const { body } = await metrics.text();
    const found = body.matchAll(/^workqueue_(\w+)\{name="q"\} (\S+)$/gm);
    return Object.fromEntries([...found].map(([, name, value]) => [name ?? '', Number(value)]));
  };
  for (const key of ['a', 'b', 'c', 'c']) queue.add(key);
  await begun();
  clock.pass(2_000);
  expect(await read()).toMatchObject({
    adds_total: 3,
    depth: 2,
    longest_running_processor_seconds: 2,
    unfinished_work_seconds: 2,
    queue_duration_seconds_count: 1,
    work_duration_seconds_count: 0,
  });
  ends.shift()?.('again');
  await begun();
  clock.pass(100);
  expect(await read()).toMatchObject({
    adds_total: 3,
    depth: 1,
    retries_total: 1,
    longest_running_processor_seconds: 0.1,
    queue_duration_seconds_count: 2,
    queue_duration_seconds_sum: 2,
    work_duration_seconds_count: 1,
    work_duration_seconds_sum: 2,
  });
  stopping.abort();
  ends.shift()?.('done');
  await running;
  expect(await read()).toMatchObject({ depth: 0, unfinished_work_seconds: 0 });
});

test('who leads is told by the name of the Lease', async () => {
  const metrics = testMetrics();
  const observer = controllerObserver(metrics, new ManualClock());
  const line = (value: number): string =>
    `leader_election_master_status{name="l"} ${String(value)}\n`;
  observer.onLeading('l', true);
  expect((await metrics.text()).body).toContain(line(1));
  observer.onLeading('l', false);
  expect((await metrics.text()).body).toContain(line(0));
});

test('quotas that said another usage are counted', async () => {
  const metrics = testMetrics();
  const observer = controllerObserver(metrics, new ManualClock());
  for (const _quota of [1, 2]) observer.onQuotaDrift();
  expect((await metrics.text()).body).toContain(
    'apiserver_admission_quota_recalculation_drift_total 2\n',
  );
});
