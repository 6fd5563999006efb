// Calls to an issuer and to the hosts that it names, all with the CA that its configuration gives:
// over TLS, bounded in time and size, never redirected.
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { resolveBySystem } from '../../client/addresses.ts';
import type { ClientMetrics } from '../../client/client-metrics.ts';
import { HttpsTarget } from '../../client/https-target.ts';
import type { ProxyFor } from '../../client/proxy.ts';
import { makeSettings } from '../../client/target-settings.ts';

export interface ClientParts {
  readonly clock: Clock;
  readonly metrics: ClientMetrics;
  /** The proxy of the environment; not given: there is none. */
  readonly proxyFor?: ProxyFor;
}

const never = new AbortController().signal;

export class IssuerClient {
  readonly #ca: string;
  readonly #parts: ClientParts;
  /** By origin; those that were made longest ago make room. */
  readonly #targets = new Map<string, HttpsTarget>();

  /** @param ca PEM; '': the roots of the host */
  constructor(ca: string, parts: ClientParts) {
    this.#ca = ca;
    this.#parts = parts;
  }

  /** The body of the answer. @throws CallError; Error for a URL that is not to be called */
  async get(text: string, bearer?: string): Promise<Uint8Array> {
    const url = new URL(text);
    const answer = await this.#targetOf(url).call({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: {
        accept: 'application/json, */*;q=0.1',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      decode: (body) => body,
      signal: never, // it ends at its deadline
      timeoutMs: limits.issuerCallTimeoutMs,
      answerBytesMax: limits.issuerAnswerBytesMax,
      retryCount: 1, // the issuer may have closed the connection that was kept
    });
    return answer.body;
  }

  /** Keeps no connection any more; calls under way end as they would have. */
  close(): void {
    for (const target of this.#targets.values()) target.close();
  }

  #targetOf({ origin, username, password }: URL): HttpsTarget {
    if (username !== '' || password !== '') throw new Error('a URL holds a user or password');
    const known = this.#targets.get(origin);
    if (known !== undefined) return known;
    const ca = this.#ca === '' ? {} : { ca: this.#ca };
    const { clock, metrics, proxyFor } = this.#parts;
    const proxy = proxyFor?.(origin);
    const via = proxy === undefined ? {} : { proxy };
    const settings = makeSettings({ url: `${origin}/`, ...ca, ...via });
    const made = new HttpsTarget(settings, { clock, resolve: resolveBySystem, metrics });
    for (const [other, target] of this.#targets) {
      if (this.#targets.size < limits.issuerHostsMax) break;
      target.close();
      this.#targets.delete(other);
    }
    this.#targets.set(origin, made);
    return made;
  }
}
