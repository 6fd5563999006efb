// The line and the circuit of each webhook, the time that they leave for the write, and what is
// told of them.
import { afterEach, describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { until } from '../../client/testing/open-calls.ts';
import { RawServer, answerOk, answerText } from '../../client/testing/raw-server.ts';
import type { RawRequest } from '../../client/testing/raw-server.ts';
import type { WebhookCaller } from './caller.ts';
import { caBundle, callOf, failedWith, metrics, openCaller, steady } from './testing/calling.ts';

let caller: WebhookCaller | undefined;
afterEach(() => caller?.close());
const open = (...of: Parameters<typeof openCaller>): WebhookCaller => (caller = openCaller(...of));

describe('n.webhookInflight: the line of a webhook', () => {
  test('has 200 under way and 1,000 that wait; others never wait for it', async () => {
    const held: RawRequest[] = [];
    await using slow = await RawServer.start((request) => void held.push(request));
    await using quick = await RawServer.start(answerOk);
    const bundle = await caBundle();
    const calling = open({ breaksCircuits: false });
    const config = { url: slow.url, caBundle: bundle };
    const { admissionCallsMax, admissionPendingCallsMax } = limits;
    const leaving = new AbortController();
    const all = Array.from({ length: admissionCallsMax + admissionPendingCallsMax }, () =>
      calling.call(callOf(config, { signal: leaving.signal })).catch(() => undefined),
    );
    await until(() => held.length === limits.clientConnectionsMax);
    const over = await failedWith(calling.call(callOf(config)));
    expect([over.kind, over.message]).toEqual([
      'overloaded',
      'failed calling webhook "hook.example.com": failed to call webhook: ' +
        `Post "${slow.url}?timeout=10s": 1000 calls are waiting for a connection already ` +
        '(configuration "checks")',
    ]);
    await calling.call(
      callOf({ url: quick.url, caBundle: bundle }, { webhook: { name: 'quick.example.com' } }),
    );
    const { body } = await metrics.text();
    expect(body).toContain(
      'apiserver_admission_webhook_inflight{name="hook.example.com",type="validating"} 200',
    );
    expect(body).toContain('apiserver_admission_webhook_connections{name="hook.example.com"} 64');
    leaving.abort(new Error('left'));
    await Promise.all(all);
  });
});

describe('n.webhookConnections: connections of a webhook', () => {
  test('64 at once; what is idle is kept for 90 s', () => {
    const { clientConnectionsMax, admissionIdleConnectionMs } = limits;
    expect([clientConnectionsMax, admissionIdleConnectionMs]).toEqual([64, 90_000]);
  });
});

describe('n.circuit: a webhook that is down', () => {
  const down = { url: 'https://127.0.0.1:1/x' };

  async function fail(calling: WebhookCaller, count: number): Promise<string[]> {
    const kinds: string[] = [];
    for (let index = 0; index < count; index++) {
      kinds.push((await failedWith(calling.call(callOf(down)))).kind);
    }
    return kinds;
  }

  test('is not called after five failures in a row; log and Event are told once', async () => {
    const told: unknown[] = [];
    const calling = open({ onCircuit: (of, problem) => void told.push([of, problem]) });
    expect(await fail(calling, 7)).toEqual([
      ...Array.from({ length: 5 }, () => 'connection'),
      'circuit',
      'circuit',
    ]);
    expect(told).toEqual([
      [
        {
          type: 'validating',
          webhook: 'hook.example.com',
          configuration: { name: 'checks', uid: 'u-1' },
        },
        expect.stringContaining('connection refused'),
      ],
    ]);
    const error = await failedWith(calling.call(callOf(down)));
    expect(steady(error.message)).toBe(
      'failed calling webhook "hook.example.com": failed to call webhook: ' +
        'not called now, its last calls failed and it is tried every 1 s: ' +
        'Post "https://127.0.0.1:PORT/x?timeout=10s": ' +
        'dial tcp 127.0.0.1:PORT: connect: connection refused ' +
        '(configuration "checks", address 127.0.0.1:PORT, step connect, N ms)',
    );
    const { body } = await metrics.text();
    expect(body).toContain(
      'apiserver_admission_webhook_circuit_open{name="hook.example.com",type="validating"} 1',
    );
  });

  test('of another configuration, type or name, is another one', async () => {
    const calling = open();
    await fail(calling, 5);
    const kindOf = async (changes: Parameters<typeof callOf>[1]): Promise<string> =>
      (await failedWith(calling.call(callOf(down, changes)))).kind;
    expect([
      await kindOf({}),
      await kindOf({ type: 'admit' }),
      await kindOf({ webhook: { name: 'other' } }),
      await kindOf({ configuration: { name: 'more', uid: '' } }),
    ]).toEqual(['circuit', 'connection', 'connection', 'connection']);
  });

  test('is called every time where the flag says so', async () => {
    expect(new Set(await fail(open({ breaksCircuits: false }), 12))).toEqual(
      new Set(['connection']),
    );
  });

  test('an answer that is no success is no outage', async () => {
    await using server = await RawServer.start(({ socket }) =>
      socket.write(answerText('broken', { status: '500 Oops' })),
    );
    const config = { url: server.url, caBundle: await caBundle() };
    const calling = open();
    for (let index = 0; index < 8; index++) {
      const { kind, status } = await failedWith(calling.call(callOf(config)));
      expect([kind, status]).toEqual(['status', 500]);
    }
  });
});

test('x.own: calls, lines, circuits and connections of webhooks are told', async () => {
  const held: RawRequest[] = [];
  await using server = await RawServer.start((request) => void held.push(request));
  const config = { url: server.url, caBundle: await caBundle() };
  const calling = open();
  const changes = { webhook: { name: 'told' }, type: 'admit' } as const;
  const made = calling.call(callOf(config, changes));
  await until(() => held.length === 1);
  const series = (name: string, text: string): string | undefined =>
    text.split('\n').find((line) => line.startsWith(`apiserver_admission_webhook_${name}`));
  const during = (await metrics.text()).body;
  expect(series('inflight{name="told"', during)).toMatch(/type="admit"\} 1$/);
  expect(series('circuit_open{name="told"', during)).toMatch(/type="admit"\} 0$/);
  expect(series('connections{name="told"', during)).toMatch(/\} 1$/);
  expect(series('queue_seconds_count{name="told"', during)).toMatch(/type="admit"\} 1$/);
  for (const request of held) answerOk(request);
  await made;
  expect(series('inflight{name="told"', (await metrics.text()).body)).toMatch(/\} 0$/);
});

test('x.own: a webhook that is not called any more is told of no longer', async () => {
  const clock = new ManualClock();
  const calling = open({ clock });
  const down = { url: 'https://127.0.0.1:1/x' };
  await failedWith(calling.call(callOf(down, { webhook: { name: 'forgotten' } })));
  expect((await metrics.text()).body).toContain('inflight{name="forgotten"');
  clock.pass(limits.admissionGuardIdleMs + 1);
  await metrics.text();
  expect((await metrics.text()).body).not.toContain('inflight{name="forgotten"');
});

test('u.deadline: four dead optional webhooks of 10 s leave 2 s for the write', async () => {
  const clock = new ManualClock();
  await using server = await RawServer.start(() => undefined);
  const config = { url: server.url, caBundle: await caBundle() };
  const calling = open({ clock });
  const deadlineMs = 34_000;
  for (let index = 0; index < 4; index++) {
    const webhook = { failurePolicy: 'Ignore', name: `dead-${String(index)}` };
    const leftMs = deadlineMs - clock.monotonicMs();
    const made = failedWith(calling.call(callOf(config, { webhook, leftMs })));
    await until(() => server.requests.length === index + 1);
    clock.pass(10_000 > leftMs - 2_000 ? leftMs - 2_000 : 10_000);
    expect((await made).kind).toBe('timeout');
  }
  expect(deadlineMs - clock.monotonicMs()).toBe(limits.admissionReserveMs);
});
