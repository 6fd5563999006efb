// A target over its pool of connections: builds the request, repeats it where the caller asked for
// that, counts it, and lets the caller read the answer.
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Resolve } from './addresses.ts';
import { CallError, mayRepeat } from './call-error.ts';
import { CallProgress } from './call-progress.ts';
import type { ClientMetrics, TargetMetrics } from './client-metrics.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { PoolOptions } from './connection-pool.ts';
import { Dialer } from './dial.ts';
import { excerptOf } from './exchange.ts';
import type { Incoming, Outgoing } from './exchange.ts';
import type { SpanAttributes, Tracing } from '../telemetry/tracing.ts';
import type { Answer, Call, Target } from './target.ts';
import type { TargetSettings } from './target-settings.ts';

export class HttpsTarget implements Target {
  readonly #clock: Clock;
  readonly #clientMetrics: ClientMetrics;
  readonly #pool: ConnectionPool;
  readonly #tracing: Tracing | undefined;
  #settings: TargetSettings;

  constructor(
    settings: TargetSettings,
    options: {
      readonly clock: Clock;
      readonly resolve: Resolve;
      readonly metrics: ClientMetrics;
      /** undefined: calls are not traced. */
      readonly tracing?: Tracing | undefined;
      readonly pool?: PoolOptions;
    },
  ) {
    this.#clock = options.clock;
    this.#clientMetrics = options.metrics;
    this.#tracing = options.tracing;
    this.#settings = settings;
    this.#pool = new ConnectionPool(new Dialer(options), settings, options.pool);
  }

  get #metrics(): TargetMetrics {
    return this.#clientMetrics.of(this.#settings.authority);
  }

  /** Open, and being made. */
  get connectionCount(): number {
    return this.#pool.connectionCount;
  }

  /** Calls that begin now use these. */
  renew(settings: TargetSettings): void {
    this.#settings = settings;
    this.#pool.renew(settings);
  }

  close(): void {
    this.#pool.close();
  }

  call<T>(call: Call<T>): Promise<Answer<T>> {
    const tracing = this.#tracing;
    return tracing === undefined ? this.#called(call) : this.#traced(call, tracing);
  }

  /** Whoever is called may go on with the trace. */
  #traced<T>(call: Call<T>, tracing: Tracing): Promise<Answer<T>> {
    const { method = 'POST' } = call;
    const attributes = (): SpanAttributes => ({
      'http.request.method': method,
      'url.full': urlOf(this.#settings, call),
    });
    const run = async (): Promise<Answer<T>> => {
      const headers = { ...call.headers, ...tracing.headers() };
      try {
        const answer = await this.#called({ ...call, headers });
        tracing.note({ 'http.response.status_code': answer.status });
        return answer;
      } catch (error) {
        tracing.note({ 'http.response.status_code': statusOf(error) });
        throw error;
      }
    };
    return tracing.within(`HTTP ${method}`, attributes, run, true);
  }

  async #called<T>(call: Call<T>): Promise<Answer<T>> {
    const { method = 'POST', signal, timeoutMs = limits.clientCallTimeoutMs } = call;
    const startMs = this.#clock.monotonicMs();
    const name = { method, url: urlOf(this.#settings, call) };
    const progress = new CallProgress(name, { clock: this.#clock, signal, timeoutMs });
    let receivedBytes = 0;
    try {
      const { status, body } = await this.#repeated(call, progress);
      receivedBytes = body.length;
      return { status, body: decoded(call, body, progress) };
    } finally {
      progress.close();
      const seconds = (this.#clock.monotonicMs() - startMs) / 1_000;
      const sentBytes = call.body?.length ?? 0;
      this.#metrics.finished(method, { seconds, sentBytes, receivedBytes });
    }
  }

  async #repeated(call: Call<unknown>, progress: CallProgress): Promise<Incoming> {
    let delayMs: number = limits.clientRetryFirstMs;
    for (let leftCount = call.retryCount ?? 0; ; leftCount--) {
      try {
        return await this.#attempt(call, progress);
      } catch (error) {
        const isRepeated = leftCount > 0 && error instanceof CallError && mayRepeat(error);
        // With jitter, so that what failed together is not repeated together.
        const waitMs = delayMs * (0.5 + Math.random() / 2);
        if (!isRepeated || waitMs >= progress.leftMs) throw error;
        await progress.sleep(waitMs);
        this.#metrics.repeated(progress.name.method);
        delayMs = Math.min(delayMs * 2, limits.clientRetryLongestMs);
      }
    }
  }

  async #attempt(call: Call<unknown>, progress: CallProgress): Promise<Incoming> {
    const { method } = progress.name;
    try {
      const incoming = await this.#pool.exchange(this.#outgoing(call, method), progress);
      this.#metrics.attempted(method, incoming.status);
      return incoming;
    } catch (error) {
      this.#metrics.attempted(method, statusOf(error));
      throw error;
    }
  }

  #outgoing(call: Call<unknown>, method: string): Outgoing {
    const { authorization, path } = this.#settings;
    return {
      method,
      path: call.path ?? `${path}${queryOf(call)}`,
      headers: {
        accept: 'application/json',
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: call.body,
      answerBytesMax: call.answerBytesMax ?? limits.clientAnswerBytesMax,
      repeatsOnNew: call.repeatsOnNew ?? false,
      slots: call.slots,
    };
  }
}

/** For messages: the URL as configured, with what the call adds to it. */
const urlOf = ({ url, authority }: TargetSettings, call: Call<unknown>): string =>
  call.path === undefined ? `${url}${queryOf(call)}` : `https://${authority}${call.path}`;

const queryOf = ({ query }: Call<unknown>): string => (query === undefined ? '' : `?${query}`);

function decoded<T>(call: Call<T>, body: Uint8Array, progress: CallProgress): T {
  try {
    return call.decode(body);
  } catch {
    // What it says may quote the body.
    const reason = `the body of the answer (${body.length} bytes) is not what was asked for`;
    throw progress.failed({ kind: 'badAnswer', reason, excerpt: excerptOf(body) });
  }
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof CallError)) return undefined;
  const { failure } = error;
  return failure.kind === 'status' || failure.kind === 'redirect' ? failure.status : undefined;
}
