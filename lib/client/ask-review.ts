// Asks a service for a review: posts it, and again after a while where the answer was a failure
// that may pass. Reviews change nothing, so they may arrive twice.
import { pause } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { CallError } from './call-error.ts';
import type { Target } from './target.ts';

export interface ReviewCall<T> {
  readonly body: Uint8Array;
  /** Makes of the answer's body what the caller needs; when it throws, the answer is bad. */
  readonly decode: (body: Uint8Array) => T;
  readonly signal: AbortSignal;
  /** Of each attempt; the service is told of it in the query. */
  readonly timeoutMs: number;
  /** Wait before it is asked for again; not given: `limits.reviewRetryFirstMs`; 0: at once. */
  readonly retryFirstMs?: number;
  /** Told of each attempt: the status of its answer, or what it failed with. */
  readonly attempted?: (ended: { readonly status: number } | Failed, seconds: number) => void;
}

interface Failed {
  readonly error: unknown;
}

/** How a review ended; `canceled`: nobody waits for its answer any more. */
export type ReviewResult = 'success' | 'timeout' | 'error' | 'canceled';

/** Each wait is so many times the one before (upstream's). */
const growth = 1.5;
/** Share of a wait that chance adds, so that what failed together is not repeated together. */
const jitter = 0.2;

/** @throws CallError of the last attempt, or `signal.reason` when that fires first */
export async function askReview<T>(
  target: Pick<Target, 'call'>,
  clock: Clock,
  call: ReviewCall<T>,
): Promise<T> {
  let delayMs: number = call.retryFirstMs ?? limits.reviewRetryFirstMs;
  for (let leftCount = limits.reviewAttemptsMax - 1; ; leftCount--) {
    try {
      return await attempt(target, clock, call);
    } catch (error) {
      if (leftCount === 0 || !(error instanceof CallError) || !mayPass(error)) throw error;
    }
    await pause(clock, delayMs * (1 + jitter * Math.random()), call.signal);
    call.signal.throwIfAborted();
    delayMs *= growth;
  }
}

async function attempt<T>(
  target: Pick<Target, 'call'>,
  clock: Clock,
  call: ReviewCall<T>,
): Promise<T> {
  const { body, decode, signal, timeoutMs, attempted } = call;
  const startMs = clock.monotonicMs();
  const ended = (how: { readonly status: number } | Failed): void =>
    attempted?.(how, (clock.monotonicMs() - startMs) / 1_000);
  try {
    const query = `timeout=${encodeURIComponent(timeText(timeoutMs))}`;
    const answer = await target.call({ body, decode, signal, timeoutMs, query });
    ended(answer);
    return answer.body;
  } catch (error) {
    ended({ error });
    throw error;
  }
}

/** How the caller's metrics count what failed. */
export function resultOf(error: unknown): ReviewResult {
  if (!(error instanceof CallError)) return 'canceled';
  return error.failure.kind === 'timeout' ? 'timeout' : 'error';
}

/** Statuses that say that the service is in trouble or busy; anything else would come again. */
const passingStatuses: ReadonlySet<number> = new Set([429, 500, 504]);

function mayPass({ failure }: CallError): boolean {
  if (failure.kind === 'status') return passingStatuses.has(failure.status);
  return failure.kind === 'closed' && !failure.begun;
}

/** As Go writes durations of less than a minute, which these are. */
const timeText = (ms: number): string => (ms < 1_000 ? `${ms}ms` : `${ms / 1_000}s`);
