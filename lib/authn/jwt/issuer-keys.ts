// The keys of one issuer: found by its discovery document, kept, and read again. What was read
// stays in use while a later reading fails; unknown keys cause one reading at a time, and few.
import { createHash } from 'node:crypto';
import { createLocalJWKSet } from 'jose';
import type { JSONWebKeySet } from 'jose';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import type { IssuerConfiguration } from './configuration.ts';
import type { ClientParts, IssuerClient } from './issuer-client.ts';

export type KeySet = ReturnType<typeof createLocalJWKSet>;

/** What all authenticators of a server share. */
export interface IssuerParts extends ClientParts {
  readonly logger: Logger;
}

/** Times of the clock, in ms; undefined: it has not happened. */
export interface KeyFetches {
  readonly succeededAtMs: number | undefined;
  readonly failedAtMs: number | undefined;
  /** `sha256:…` of the keys as they were answered; '' before. */
  readonly hash: string;
}

type KeysIssuer = Pick<IssuerConfiguration, 'url' | 'discoveryURL'>;
type Document = Readonly<Record<string, unknown>>;

const wellKnownPath = '/.well-known/openid-configuration';
const { issuerRetryIntervalMs, issuerKeysIntervalMs, issuerKeysMissIntervalMs } = limits;

export class IssuerKeys {
  readonly #issuer: KeysIssuer;
  readonly #parts: IssuerParts;
  readonly #client: IssuerClient;
  readonly #ready: Promise<void>;
  #becomeReady: () => void = () => undefined;
  #keySet: KeySet | undefined;
  #keysUrl: string | undefined;
  #fetches: KeyFetches = { succeededAtMs: undefined, failedAtMs: undefined, hash: '' };
  #generation = 0;
  #missedAtMs = -Infinity;
  #reading: Promise<void> | undefined;
  #lastProblem: string | undefined;
  #isClosed = false;
  #cancel: () => void = () => undefined;

  /** `client` asks the issuer, and is closed by whoever made it. */
  constructor(issuer: KeysIssuer, client: IssuerClient, parts: IssuerParts) {
    this.#issuer = issuer;
    this.#client = client;
    this.#parts = parts;
    this.#ready = new Promise((resolve) => (this.#becomeReady = resolve));
    this.#look();
  }

  /** undefined: not found yet. */
  get current(): KeySet | undefined {
    return this.#keySet;
  }

  /** Grows when the keys change. */
  get generation(): number {
    return this.#generation;
  }

  get fetches(): KeyFetches {
    return this.#fetches;
  }

  /** Resolves when there are keys. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /**
   * No key fits a token: reads them again, unless that was done for another token just now.
   * Resolves when they are as new as they may be.
   */
  async readAfterMiss(): Promise<void> {
    const url = this.#keysUrl;
    if (this.#reading === undefined && url !== undefined && !this.#isClosed) {
      const nowMs = this.#parts.clock.monotonicMs();
      if (nowMs - this.#missedAtMs < issuerKeysMissIntervalMs) return;
      this.#missedAtMs = nowMs;
      this.#read(() => this.#readKeys(url));
    }
    await this.#reading;
  }

  /** Reads no more; what is being read may end. */
  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Reads everything now, and again later for as long as it is open. */
  #look(): void {
    this.#read(async () => {
      const url = await this.#discover();
      await this.#readKeys(url);
      this.#keysUrl = url;
    });
    void this.#reading?.then(() => {
      if (this.#isClosed) return;
      const isFine = this.#keySet !== undefined && this.#lastProblem === undefined;
      const delayMs = isFine ? issuerKeysIntervalMs : issuerRetryIntervalMs;
      this.#cancel = this.#parts.clock.after(delayMs, () => this.#look());
    });
  }

  /** One after the other; a failure is told once. */
  #read(read: () => Promise<void>): void {
    const reading = (this.#reading ?? Promise.resolve())
      .then(read)
      .then(
        () => (this.#lastProblem = undefined),
        (error: unknown) => this.#failed(error as Error),
      )
      .then(() => {
        if (this.#reading === reading) this.#reading = undefined;
      });
    this.#reading = reading;
  }

  #failed({ message }: Error): void {
    if (message === this.#lastProblem || this.#isClosed) return;
    this.#lastProblem = message;
    this.#parts.logger.warn('the keys of an issuer cannot be read, they are tried again', {
      issuer: this.#issuer.url,
      reason: message,
    });
  }

  /** The URL of the keys. */
  async #discover(): Promise<string> {
    const { url, discoveryURL } = this.#issuer;
    const at = discoveryURL === '' ? `${url.replace(/\/$/, '')}${wellKnownPath}` : discoveryURL;
    const { issuer, jwks_uri: keysUrl } = asDocument(await this.#client.get(at));
    if (issuer !== url) {
      throw new Error(`${at}: the document is of another issuer than ${JSON.stringify(url)}`);
    }
    if (typeof keysUrl !== 'string' || URL.parse(keysUrl)?.protocol !== 'https:') {
      throw new Error(`${at}: jwks_uri is no https URL`);
    }
    return keysUrl;
  }

  async #readKeys(url: string): Promise<void> {
    const { clock, logger } = this.#parts;
    try {
      const body = await this.#client.get(url);
      const hash = `sha256:${createHash('sha256').update(body).digest('hex')}`;
      const isOther = hash !== this.#fetches.hash;
      if (isOther) this.#keySet = keySetOf(body);
      this.#fetches = { ...this.#fetches, succeededAtMs: clock.nowMs(), hash };
      if (!isOther) return;
      this.#generation++;
      this.#becomeReady();
      logger.info('the keys of an issuer are in use', { issuer: this.#issuer.url, keys: hash });
    } catch (error) {
      this.#fetches = { ...this.#fetches, failedAtMs: clock.nowMs() };
      throw error;
    }
  }
}

/** @throws Error that quotes nothing of the body */
function asDocument(body: Uint8Array): Document {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Document; // an object of JSON, whatever its members are
    }
  } catch {
    // said below
  }
  throw new Error(`an answer of ${String(body.length)} bytes is no JSON object`);
}

/** @throws Error when it is none, or too large a one. */
function keySetOf(body: Uint8Array): KeySet {
  const document = asDocument(body);
  const { keys } = document;
  if (!Array.isArray(keys) || keys.length > limits.issuerKeysMax) {
    throw new Error(`a key set needs a list of at most ${String(limits.issuerKeysMax)} keys`);
  }
  return createLocalJWKSet(document as unknown as JSONWebKeySet); // which checks it
}
