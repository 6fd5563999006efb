// A target over its pool of connections: builds the request, repeats it where the caller asked for
// that, counts it, and lets the caller read the answer.
import type { Clock } from '../base/clock.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
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
import type { Credential, ExecPlugins } from './exec-credentials.ts';
import { SettingsError } from './settings-error.ts';
import type { Answer, Call, Target } from './target.ts';
import type { TargetSettings } from './target-settings.ts';

export class HttpsTarget implements Target {
  readonly #clock: Clock;
  readonly #clientMetrics: ClientMetrics;
  readonly #pool: ConnectionPool;
  readonly #tracing: Tracing | undefined;
  readonly #plugins: ExecPlugins | undefined;
  #settings: TargetSettings;
  /** Whom a program has named last for the settings. */
  #named: Named | undefined;

  constructor(
    settings: TargetSettings,
    options: {
      readonly clock: Clock;
      readonly resolve: Resolve;
      readonly metrics: ClientMetrics;
      /** undefined: calls are not traced. */
      readonly tracing?: Tracing | undefined;
      readonly pool?: PoolOptions;
      /** For settings that name one. */
      readonly plugins?: ExecPlugins | undefined;
    },
  ) {
    this.#clock = options.clock;
    this.#clientMetrics = options.metrics;
    this.#tracing = options.tracing;
    this.#plugins = options.plugins;
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
    this.#named = undefined;
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
      const { status, body } = await this.#authorized(call, progress);
      receivedBytes = body.length;
      return { status, body: decoded(call, body, progress) };
    } finally {
      progress.close();
      const seconds = (this.#clock.monotonicMs() - startMs) / 1_000;
      const sentBytes = call.body?.length ?? 0;
      this.#metrics.finished(method, { seconds, sentBytes, receivedBytes });
    }
  }

  /** Who is refused as whom a program has named is named once more, once: nothing was done. */
  async #authorized(call: Call<unknown>, progress: CallProgress): Promise<Incoming> {
    const { exec } = this.#settings;
    if (exec === undefined) return this.#repeated(call, progress);
    invariant(this.#plugins !== undefined, 'whoever calls as a program says can run it');
    const credentials = this.#plugins.of(exec);
    for (let isSecond = false; ; isSecond = true) {
      const credential = await credentialFor(progress, credentials.current());
      this.#become(credential, progress);
      try {
        return await this.#repeated(call, progress);
      } catch (error) {
        const isRefused = statusOf(error) === 401;
        if (!isRefused || !credentials.refused(credential) || isSecond) throw error;
      }
    }
  }

  /** Connections show the certificate: they change with it, and not with a token. */
  #become(credential: Credential, progress: CallProgress): void {
    const base = this.#settings;
    const before = this.#named;
    if (before?.credential === credential && before.base === base) return;
    try {
      const settings = base.calledAs(credential.identity);
      this.#named = { base, credential, settings };
      const shown =
        before?.base === base ? before.credential.identity.clientCertificate : undefined;
      const next = credential.identity.clientCertificate;
      if (shown?.cert !== next?.cert || shown?.key !== next?.key) this.#pool.renew(settings);
    } catch (error) {
      throw credentialsFailure(progress, error);
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
    const { authorization, headers, path } = this.#named?.settings ?? this.#settings;
    return {
      method,
      path: call.path ?? `${path}${queryOf(call)}`,
      headers: {
        accept: 'application/json',
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
        ...headers,
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: call.body,
      answerBytesMax: call.answerBytesMax ?? limits.clientAnswerBytesMax,
      repeatsOnNew: call.repeatsOnNew ?? false,
      slots: call.slots,
    };
  }
}

interface Named {
  readonly base: TargetSettings;
  readonly credential: Credential;
  readonly settings: TargetSettings;
}

async function credentialFor(
  progress: CallProgress,
  found: MaybePromise<Credential>,
): Promise<Credential> {
  if (!(found instanceof Promise)) return found;
  progress.enter('credentials');
  try {
    return await progress.wait(found);
  } catch (error) {
    throw credentialsFailure(progress, error);
  }
}

function credentialsFailure(progress: CallProgress, error: unknown): unknown {
  if (!(error instanceof SettingsError)) return error;
  const reason = `getting credentials: ${error.message}`;
  return progress.failed({ kind: 'credentials', reason }, error);
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
