// Groups that a token does not hold but names the source of: `_claim_names` and `_claim_sources`
// (OpenID Connect Core 1.0, 5.6.2). The source answers with a token, which is verified like any
// other. Mappings by expression do not have them.
import type { IssuerConfiguration } from './configuration.ts';
import { claimedIssuer } from './claimed-issuer.ts';
import type { Claims } from './claims.ts';
import type { IssuerClient } from './issuer-client.ts';
import { IssuerKeys } from './issuer-keys.ts';
import type { IssuerParts } from './issuer-keys.ts';
import { limits } from '../../base/limits.ts';
import { verifyToken } from './verify.ts';

interface Source {
  readonly endpoint?: unknown;
  readonly access_token?: unknown;
}

export class DistributedClaims {
  readonly #issuer: IssuerConfiguration;
  readonly #claim: string;
  readonly #client: IssuerClient;
  readonly #parts: IssuerParts;
  readonly #algorithms: readonly string[];
  /** Of those who sign what sources answer. */
  readonly #keys: Map<string, IssuerKeys>;
  readonly #own: IssuerKeys;

  constructor(
    issuer: IssuerConfiguration,
    claim: string,
    options: {
      readonly client: IssuerClient;
      readonly keys: IssuerKeys;
      readonly algorithms: readonly string[];
      readonly parts: IssuerParts;
    },
  ) {
    this.#issuer = issuer;
    this.#claim = claim;
    this.#client = options.client;
    this.#parts = options.parts;
    this.#algorithms = options.algorithms;
    this.#own = options.keys;
    this.#keys = new Map([[issuer.url, options.keys]]);
  }

  /** The claims with what their sources say. @throws Error when a source that is named fails */
  async expand(claims: Claims): Promise<Claims> {
    const source = this.#sourceIn(claims);
    if (source === undefined) return claims;
    const { endpoint, access_token: bearer } = source;
    if (typeof endpoint !== 'string' || endpoint === '') return claims; // aggregated, perhaps
    const given = typeof bearer === 'string' && bearer !== '' ? bearer : undefined;
    const token = Buffer.from(await this.#client.get(endpoint, given))
      .toString('utf8')
      .trim();
    const { payload } = await this.#verify(token);
    if (!Object.hasOwn(payload, this.#claim)) {
      throw new Error(`the source of the claim "${this.#claim}" does not hold it`);
    }
    return { ...claims, [this.#claim]: payload[this.#claim] };
  }

  /** The issuer's own keys are whoever made them to close. */
  close(): void {
    for (const keys of this.#keys.values()) if (keys !== this.#own) keys.close();
  }

  #sourceIn(claims: Claims): Source | undefined {
    if (Object.hasOwn(claims, this.#claim) || !Object.hasOwn(claims, '_claim_names')) {
      return undefined;
    }
    const name = memberOf(claims['_claim_names'], this.#claim);
    if (name === undefined) return undefined;
    const sources = claims['_claim_sources'];
    const source = typeof name === 'string' ? memberOf(sources, name) : undefined;
    if (typeof source === 'object' && source !== null) return source;
    throw new Error(`the claim "${this.#claim}" names a source that is missing`);
  }

  async #verify(token: string): ReturnType<typeof verifyToken> {
    const issuer = claimedIssuer(token);
    if (issuer === undefined) throw new Error('a source of claims answers with no token');
    const { audiences } = this.#issuer;
    const rules = { issuer, audiences, algorithms: this.#algorithms };
    const { clock } = this.#parts;
    return verifyToken(token, rules, { keys: this.#keysOf(issuer), nowMs: clock.nowMs() });
  }

  /** Read in the background where they are not known: the token at hand is refused meanwhile. */
  #keysOf(url: string): IssuerKeys {
    const known = this.#keys.get(url);
    if (known !== undefined) return known;
    if (URL.parse(url)?.protocol !== 'https:')
      throw new Error('an issuer of claims is no https URL');
    if (this.#keys.size >= limits.claimIssuersMax) throw new Error('too many issuers of claims');
    const made = new IssuerKeys({ url, discoveryURL: '' }, this.#client, this.#parts);
    this.#keys.set(url, made);
    return made;
  }
}

const memberOf = (of: unknown, name: string): unknown =>
  typeof of === 'object' && of !== null && Object.hasOwn(of, name)
    ? (of as Readonly<Record<string, unknown>>)[name]
    : undefined;
