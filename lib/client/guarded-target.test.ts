// Calls that wait for others, and calls that are not made because the ones before them failed; over
// a target that does what the test says.
import { beforeEach, describe, expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { CallError, SkippedCallError } from './call-error.ts';
import type { BreakerRule } from './circuit-breaker.ts';
import { GuardedTarget } from './guarded-target.ts';
import type { Answer, Call, Target } from './target.ts';
import { call, errorOf } from './testing/open-calls.ts';

const url = 'https://hook.tests.svc/';
const { clientBreakerFailuresMax, clientBreakerProbeMs } = limits;
const broken = new CallError({ method: 'POST', url }, { kind: 'unreachable', reason: 'no route' });
const breaker: BreakerRule = {
  failuresMax: clientBreakerFailuresMax,
  withinMs: 10_000,
  probeMs: clientBreakerProbeMs,
  counts: ({ failure }) => failure.kind !== 'status',
};
/** Fails at once, as the last one did. */
async function expectSkipped(made: Promise<unknown>): Promise<void> {
  const error = await errorOf(made);
  expect([error instanceof SkippedCallError, error.cause]).toEqual([true, broken]);
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Made {
  readonly timeoutMs: number | undefined;
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
}

/** Every call waits for the test. */
class HeldTarget implements Target {
  readonly calls: Made[] = [];

  call<T>({ decode, timeoutMs }: Call<T>): Promise<Answer<T>> {
    return new Promise((resolve, reject) => {
      const answer = (): void => resolve({ status: 200, body: decode(Buffer.from('ok')) });
      this.calls.push({ timeoutMs, answer, fail: reject });
    });
  }

  close(): void {
    this.calls.length = 0;
  }
}

let clock: ManualClock;
let held: HeldTarget;
let target: GuardedTarget;
beforeEach(() => {
  clock = new ManualClock();
  held = new HeldTarget();
  const pendingMax = limits.clientPendingCallsMax;
  target = new GuardedTarget(held, { clock, url, callsMax: 2, pendingMax, breaker });
});

async function failCalls(count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const made = errorOf(call(target));
    await turn();
    held.calls.at(-1)?.fail(broken);
    expect(await made).toBe(broken);
  }
}

describe('calls under way', () => {
  test('are bounded; others wait, the first that came goes first', async () => {
    const ended: number[] = [];
    const calls = [0, 1, 2, 3].map(async (index) => {
      await call(target);
      ended.push(index);
    });
    await turn();
    expect(held.calls).toHaveLength(2);
    held.calls[1]?.answer();
    await turn();
    expect([held.calls.length, ended]).toEqual([3, [1]]);
    held.calls[0]?.answer();
    await turn();
    for (const made of held.calls) made.answer();
    await Promise.all(calls);
    expect(ended.slice(0, 2)).toEqual([1, 0]);
  });

  test('have what the line left of their time', async () => {
    const all = [call(target), call(target), call(target, { timeoutMs: 1_000 })];
    await turn();
    clock.pass(400);
    held.calls[0]?.answer();
    await turn();
    expect(held.calls[2]?.timeoutMs).toBe(600);
    for (const made of held.calls) made.answer();
    await Promise.all(all);
  });

  test('that wait end by their time, and by their signal', async () => {
    const first = [call(target), call(target)];
    const late = errorOf(call(target, { timeoutMs: 1_000, query: 'a=b' }));
    const abort = new AbortController();
    const left = call(target, { signal: abort.signal });
    await turn();
    abort.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    clock.pass(1_000);
    expect((await late).message).toBe(
      `POST "${url}?a=b": deadline exceeded while waiting for a free connection`,
    );
    for (const made of held.calls) made.answer();
    await Promise.all(first);
    expect(held.calls).toHaveLength(2);
    expect(clock.waitsMs).toEqual([]);
  });

  test('that wait are bounded', async () => {
    const all = Array.from({ length: 2 + limits.clientPendingCallsMax }, () => call(target));
    await turn();
    expect((await errorOf(call(target))).failure.kind).toBe('overloaded');
    for (let done = 0; done < all.length; done++) {
      held.calls[done]?.answer();
      await turn();
    }
    await Promise.all(all);
  });
});

describe('a target that fails again and again', () => {
  test('is called no more, until it is time for a probe', async () => {
    await failCalls(clientBreakerFailuresMax);
    await expectSkipped(call(target));
    clock.pass(clientBreakerProbeMs - 1);
    await expectSkipped(call(target));
    expect(held.calls).toHaveLength(clientBreakerFailuresMax);
    clock.pass(1);
    const probe = call(target);
    await expectSkipped(call(target));
    expect(held.calls).toHaveLength(clientBreakerFailuresMax + 1);
    held.calls.at(-1)?.answer();
    await probe;
    const [one, two] = [call(target), call(target)];
    await turn();
    for (const made of held.calls) made.answer();
    await Promise.all([one, two]);
  });

  test('is probed again a second after a probe that failed', async () => {
    await failCalls(clientBreakerFailuresMax);
    clock.pass(clientBreakerProbeMs);
    await failCalls(1);
    await expectSkipped(call(target));
    clock.pass(clientBreakerProbeMs);
    await failCalls(1);
    expect(held.calls).toHaveLength(clientBreakerFailuresMax + 2);
  });

  test('fails those at once that wait for it', async () => {
    await failCalls(clientBreakerFailuresMax - 1);
    const under = [1, 2].map(() => errorOf(call(target)));
    const waiting = [1, 2].map(() => expectSkipped(call(target)));
    await turn();
    held.calls.at(-1)?.fail(broken);
    await turn();
    held.calls.at(-2)?.fail(broken);
    expect(await Promise.all(under)).toEqual([broken, broken]);
    await Promise.all(waiting);
    expect(held.calls).toHaveLength(clientBreakerFailuresMax + 1);
  });

  test('is as it was after one success', async () => {
    await failCalls(clientBreakerFailuresMax - 1);
    const good = call(target);
    await turn();
    held.calls.at(-1)?.answer();
    await good;
    await failCalls(clientBreakerFailuresMax - 1);
    const next = call(target);
    await turn();
    held.calls.at(-1)?.answer();
    expect((await next).body).toBe('ok');
  });

  test('is probed each second, also while a probe has no answer yet', async () => {
    await failCalls(clientBreakerFailuresMax);
    clock.pass(clientBreakerProbeMs);
    const hanging = call(target);
    clock.pass(clientBreakerProbeMs);
    const next = call(target);
    await turn();
    expect(held.calls).toHaveLength(clientBreakerFailuresMax + 2);
    for (const made of held.calls) made.answer();
    await Promise.all([hanging, next]);
    expect(target.isOpen).toBe(false);
  });

  test('is called on where its failures lie too far apart', async () => {
    for (let count = 0; count < 2 * clientBreakerFailuresMax; count++) {
      await failCalls(1);
      clock.pass(2_501);
    }
    expect(target.isOpen).toBe(false);
  });

  test('is called on where what it fails with does not count', async () => {
    const refused = new CallError(
      { method: 'POST', url },
      {
        kind: 'status',
        status: 500,
        excerpt: '',
      },
    );
    for (let count = 0; count < 2 * clientBreakerFailuresMax; count++) {
      const made = errorOf(call(target));
      await turn();
      held.calls.at(-1)?.fail(refused);
      expect(await made).toBe(refused);
    }
    expect(target.isOpen).toBe(false);
  });

  test('is called on where it has no breaker', async () => {
    target = new GuardedTarget(held, {
      ...{ clock, url, callsMax: 1, pendingMax: 1 },
      breaker: undefined,
    });
    await failCalls(3 * clientBreakerFailuresMax);
    expect(target.isOpen).toBe(false);
  });
});
