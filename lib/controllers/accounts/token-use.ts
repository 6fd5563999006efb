// Remembers in a Secret on which day its token was last used: one write a day, by whichever replica
// sees a use first. Whoever uses the token does not wait for it.
import type { NamingProfile } from '../../api/vendor.ts';
import { lastUsedLabel } from '../../authn/service-account/legacy-secret.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import { StatusError } from '../../base/status.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { InternalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';

export interface TokenUseOptions {
  /** undefined: Secrets are not served. */
  readonly secrets: () => ResourceStore | undefined;
  readonly client: InternalClient;
  readonly naming: NamingProfile;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Logger;
}

const dayMs = 86_400_000;

/** `2006-01-02` in UTC. */
export const dayOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

export class TokenUse {
  readonly #options: TokenUseOptions;
  /** Secrets that are being written: memory does not show the new day yet. */
  readonly #writing = new Set<string>();

  constructor(options: TokenUseOptions) {
    this.#options = options;
  }

  /**
   * Resolves when there is nothing left to write; never rejects. One write a Secret and so many at
   * once: a use that is not noted now is noted later.
   */
  async note(secret: Item): Promise<void> {
    const { naming, clock } = this.#options;
    const today = dayOf(clock.nowMs());
    const last = secret.labels[lastUsedLabel(naming)];
    // Clocks of replicas differ: the day may have begun for another one.
    if (last === today || last === dayOf(clock.nowMs() + dayMs)) return;
    const key = `${secret.namespace}/${secret.name}`;
    if (this.#writing.has(key) || this.#writing.size >= limits.tokenUseWritesMax) return;
    this.#writing.add(key);
    await this.#write(secret, today);
    this.#writing.delete(key);
  }

  /** Never rejects. */
  async #write(secret: Item, today: string): Promise<void> {
    const { secrets, client, naming, log } = this.#options;
    const { namespace, name } = secret;
    const store = secrets();
    if (store === undefined) return;
    const uid = secret.object().metadata?.uid ?? '';
    const patch = { metadata: { uid, labels: { [lastUsedLabel(naming)]: today } } };
    const path = { namespace, name, subresource: '' };
    try {
      const end = AbortSignal.timeout(limits.tokenUseWriteTimeoutMs);
      await client.patch(store, { path, kind: 'merge', patch }, end);
    } catch (error) {
      // It is gone, or another one of its name is there (422).
      if (error instanceof StatusError && [404, 409, 422].includes(error.code)) return;
      const reason = error instanceof Error ? error.message : String(error);
      log.warn('the last use of a token was not noted', { namespace, name, reason });
    }
  }
}
