// Removes bootstrap tokens that have expired, each when its time comes. One whose expiration nobody
// can read counts as expired, as it does for everybody else.
import type { NamingProfile } from '../api/vendor.ts';
import { bootstrapExpiryMs, bootstrapTokenType } from '../authn/bootstrap-token-secret.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import { follow } from '../cacher/follow.ts';
import type { Selection } from '../cacher/resource-view.ts';
import { isDeleting } from '../codec/object-meta.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';

export interface TokenCleanerOptions {
  readonly secrets: ResourceStore;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

/** The Secrets that bootstrap tokens are in. */
export const bootstrapSecrets = (naming: NamingProfile): Selection => ({
  namespace: naming.systemNamespace,
  fields: [{ path: 'type', operator: '=', value: bootstrapTokenType(naming) }],
  showsUnreadable: true,
});

export class TokenCleaner implements Controller {
  readonly name = 'token_cleaner';
  readonly #options: TokenCleanerOptions;
  /** By name: what cancels the wait for its expiration. */
  readonly #waits = new Map<string, () => void>();

  constructor(options: TokenCleanerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { secrets, naming, clock, log, observer } = this.#options;
    const queue: KeyedQueue = new KeyedQueue(
      { name: this.name, clock, log, observer },
      (name, running) => this.#reconcile(queue, name, running),
    );
    const follower = {
      present: ({ name }: { readonly name: string }) => queue.add(name),
      absent: ({ name }: { readonly name: string }) => queue.add(name),
    };
    const { view } = secrets;
    const select = bootstrapSecrets(naming);
    await Promise.all([queue.run(signal), follow(follower, { view, select, log }, signal)]);
    for (const cancel of this.#waits.values()) cancel();
    this.#waits.clear();
  }

  async #reconcile(queue: KeyedQueue, name: string, signal: AbortSignal): Promise<Outcome> {
    const { secrets, naming, client, clock } = this.#options;
    this.#waits.get(name)?.();
    this.#waits.delete(name);
    const namespace = naming.systemNamespace;
    const item = secrets.view.peek({ namespace, name });
    if (item === undefined || item.corrupted) return 'done';
    const secret = item.object();
    if (isDeleting(secret) || secret['type'] !== bootstrapTokenType(naming)) return 'done';
    const remainingMs = bootstrapExpiryMs(secret) - clock.nowMs();
    if (remainingMs > 0) {
      // Clocks are set, and timers have a longest time: it is looked at again meanwhile.
      const delayMs = Math.min(remainingMs, limits.bootstrapExpiryCheckMs);
      const again = (): void => queue.add(name);
      if (remainingMs < Infinity) this.#waits.set(name, clock.after(delayMs, again));
      return 'done';
    }
    const { uid } = secret.metadata ?? {};
    const preconditions = { uid, resourceVersion: String(item.revision) };
    const path = { namespace, name, subresource: '' };
    try {
      await client.delete(secrets, { path, options: { preconditions } }, signal);
    } catch (error) {
      // It is gone, or was given more time: an event tells which.
      const code = error instanceof StatusError ? error.code : 0;
      if (code !== 404 && code !== 409) throw error;
    }
    return 'done';
  }
}
