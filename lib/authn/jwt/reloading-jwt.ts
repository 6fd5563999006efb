// The tokens of issuers whose configuration changes while requests are served: the new one is in
// force at once and as a whole when all its issuers have keys, and not before.
import { abortable } from '../../base/abort.ts';
import type { WaitEnd } from '../../base/abort.ts';
import { limits } from '../../base/limits.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Authentication, Authenticator, Credentials } from '../authenticator.ts';
import { JwtAuthenticator, JwtIssuer } from './jwt-authenticator.ts';
import type { JwtParts } from './jwt-authenticator.ts';
import type { CompiledJwt } from './validate.ts';

export class ReloadingJwt implements Authenticator {
  readonly name = 'jwt';
  readonly #parts: JwtParts;
  readonly #algorithms: readonly string[];
  #current: JwtAuthenticator;

  /** Issuers without keys yet are good enough for a start: their tokens are refused until then. */
  constructor(compiled: readonly CompiledJwt[], algorithms: readonly string[], parts: JwtParts) {
    this.#parts = parts;
    this.#algorithms = algorithms;
    const issuers = compiled.map((one) => new JwtIssuer(one, algorithms, parts));
    this.#current = new JwtAuthenticator(issuers, parts);
  }

  /** Those in force. */
  get issuers(): readonly JwtIssuer[] {
    return this.#current.issuers;
  }

  authenticate(credentials: Credentials, end: WaitEnd): MaybePromise<Authentication> {
    return this.#current.authenticate(credentials, end);
  }

  /**
   * Issuers that are configured as before keep their keys. One call at a time.
   * @throws Error when a new one has no keys in time, or the signal's reason: nothing has changed.
   */
  async replace(compiled: readonly CompiledJwt[], signal: AbortSignal): Promise<void> {
    const before = new Map(this.issuers.map((one) => [textOf(one.compiled), one]));
    const made: JwtIssuer[] = [];
    const issuers = compiled.map((one) => {
      const kept = before.get(textOf(one));
      if (kept !== undefined) return kept;
      const issuer = new JwtIssuer(one, this.#algorithms, this.#parts);
      made.push(issuer);
      return issuer;
    });
    try {
      await this.#haveKeys(made, signal);
    } catch (error) {
      for (const issuer of made) issuer.close();
      throw error;
    }
    const dropped = this.issuers.filter((one) => !issuers.includes(one));
    this.#current = new JwtAuthenticator(issuers, this.#parts);
    for (const issuer of dropped) issuer.close();
  }

  close(): void {
    for (const issuer of this.issuers) issuer.close();
  }

  async #haveKeys(issuers: readonly JwtIssuer[], signal: AbortSignal): Promise<void> {
    const ending = new AbortController();
    const cancel = this.#parts.clock.after(limits.issuersReadyTimeoutMs, () => {
      const missing = issuers.filter(({ keys }) => keys.current === undefined);
      const urls = missing.map(({ compiled }) => compiled.configuration.issuer.url);
      ending.abort(new Error(`no keys of ${urls.join(', ')} could be read`));
    });
    try {
      const ready = Promise.all(issuers.map(({ keys }) => keys.ready));
      await abortable(ready, AbortSignal.any([signal, ending.signal]));
    } finally {
      cancel();
    }
  }
}

const textOf = ({ configuration }: CompiledJwt): string => JSON.stringify(configuration);
