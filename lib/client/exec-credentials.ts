// What programs say as whom the server calls, kept until it expires or a server refuses it. A
// program is run once at a time, whoever waits, and rests after each run that was of no use.
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { Recent } from '../base/recent.ts';
import { readExecAnswer } from './exec-config.ts';
import type { ExecAnswer, ExecRequest } from './exec-config.ts';
import { PluginError, runPlugin, withoutSecrets } from './run-plugin.ts';
import { SettingsError } from './settings-error.ts';
import type { Identity } from './target-settings.ts';

interface Parts {
  readonly clock: Clock;
  readonly log: Logger;
}

/** The same object until another one takes its place. */
export interface Credential {
  readonly identity: Pick<Identity, 'authorization' | 'clientCertificate'>;
}

interface Kept extends Credential {
  /** Until when it is good, milliseconds since the epoch. */
  readonly untilMs: number;
  readonly gotAtMs: number;
  /** It was made since another one was refused. */
  readonly isReplacement: boolean;
}

/** Of all targets of a server: the same program for the same cluster is run for all of them. */
export class ExecPlugins {
  readonly #parts: Parts;
  readonly #byRequest = new Recent<ExecCredentials>(limits.clientExecPluginsMax, () => undefined);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  of(request: ExecRequest): ExecCredentials {
    const key = JSON.stringify(request);
    let known = this.#byRequest.get(key);
    if (known === undefined) {
      known = new ExecCredentials(request, this.#parts);
      this.#byRequest.set(key, known);
    }
    return known;
  }
}

class ExecCredentials {
  readonly #request: ExecRequest;
  readonly #parts: Parts;
  #kept: Kept | undefined;
  #running: Promise<Kept> | undefined;
  #isRefused = false;
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;

  constructor(request: ExecRequest, parts: Parts) {
    this.#request = request;
    this.#parts = parts;
  }

  /** @throws SettingsError that says why there is none */
  current(): MaybePromise<Credential> {
    const { clock } = this.#parts;
    if (this.#kept !== undefined && clock.nowMs() < this.#kept.untilMs) return this.#kept;
    if (this.#failure !== undefined && this.#isResting(this.#failure.atMs)) {
      return Promise.reject(this.#failure.error);
    }
    return (this.#running ??= this.#run().finally(() => (this.#running = undefined)));
  }

  /** A server has answered 401 to it. @returns whether another one may do better */
  refused(credential: Credential): boolean {
    const kept = this.#kept;
    if (credential !== kept) return true;
    if (kept.isReplacement && this.#isResting(kept.gotAtMs)) return false;
    this.#kept = undefined;
    this.#isRefused = true;
    return true;
  }

  #isResting(sinceMs: number): boolean {
    return this.#parts.clock.monotonicMs() - sinceMs < limits.clientExecRestMs;
  }

  async #run(): Promise<Kept> {
    const { clock } = this.#parts;
    try {
      const answer = await this.#asked();
      const isReplacement = this.#isRefused;
      this.#isRefused = false;
      this.#failure = undefined;
      // What has expired already is not asked for again at every call.
      const untilMs = Math.max(answer.expiresMs, clock.nowMs() + limits.clientExecRestMs);
      const gotAtMs = clock.monotonicMs();
      return (this.#kept = { identity: identityOf(answer), untilMs, gotAtMs, isReplacement });
    } catch (error) {
      this.#failure = { error, atMs: clock.monotonicMs() };
      throw error;
    }
  }

  async #asked(): Promise<ExecAnswer> {
    const { config } = this.#request;
    let said = '';
    const secrets = Object.values(config.env);
    try {
      const ran = await runPlugin(this.#request, this.#parts.clock);
      ({ said } = ran);
      // Of an answer that cannot be used, whatever it prints may be one.
      const words = ran.output.match(/[^\s"'\\]+/g) ?? [];
      secrets.push(...words);
      const answer = readExecAnswer(ran.output, config);
      const { token = '', clientCertificate } = answer;
      secrets.splice(-words.length, words.length, token, clientCertificate?.key ?? '');
      return answer;
    } catch (error) {
      if (error instanceof PluginError) ({ said } = error);
      if (error instanceof PluginError || !(error instanceof SettingsError)) throw error;
      throw new SettingsError(`exec: executable ${config.command}: ${error.message}`);
    } finally {
      this.#report(withoutSecrets(said, secrets));
    }
  }

  #report(said: string): void {
    if (said === '') return;
    const { command } = this.#request.config;
    this.#parts.log.info('a credential plugin writes to standard error', { command, said });
  }
}

const identityOf = ({ token, clientCertificate }: ExecAnswer): Credential['identity'] => ({
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(clientCertificate === undefined ? {} : { clientCertificate }),
});
