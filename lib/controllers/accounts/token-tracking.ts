// Since when uses of tokens that lie in Secrets are noted: a ConfigMap says it, for whoever judges
// by a missing note that a token was not used.
import type { NamingProfile } from '../../api/vendor.ts';
import { cloneJson } from '../../api/json-value.ts';
import { recordAt, textAt } from '../../api/json-access.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { StatusError } from '../../base/status.ts';
import { follow } from '../../cacher/follow.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { InternalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { KeyedQueue } from '../controller.ts';
import type { Controller, Outcome, QueueObserver } from '../controller.ts';
import { dayOf } from './token-use.ts';

export interface TokenTrackingOptions {
  readonly configMaps: ResourceStore;
  readonly client: InternalClient;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

export const trackingName = (naming: NamingProfile): string =>
  naming.resolve('{kube}-apiserver-legacy-service-account-token-tracking');

/** The day is in `data.since`, `2006-01-02`; it is made again when it is lost or no day. */
export class TokenTrackingController implements Controller {
  readonly name = 'legacy_token_tracking_controller';
  readonly #options: TokenTrackingOptions;

  constructor(options: TokenTrackingOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { configMaps, naming, clock, log, observer } = this.#options;
    const key = { namespace: naming.systemNamespace, name: trackingName(naming) };
    const queue = new KeyedQueue({ name: this.name, clock, log, observer, workers: 1 }, () =>
      this.#reconcile(key, signal),
    );
    const add = (): void => queue.add(key.name);
    const follower = { present: add, absent: add, synced: add };
    await Promise.all([
      queue.run(signal),
      follow(follower, { view: configMaps.view, select: key, log }, signal),
    ]);
  }

  async #reconcile(
    key: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { configMaps, client, clock } = this.#options;
    const item = configMaps.view.peek(key);
    if (item?.corrupted === true) return 'done';
    const found = item === undefined ? undefined : textAt(recordAt(item.object(), 'data'), 'since');
    if (found !== undefined && isDay(found)) return 'done';
    const data = { since: dayOf(clock.nowMs()) };
    try {
      if (item === undefined) {
        const metadata = { name: key.name, namespace: key.namespace };
        const object: ApiObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data };
        await client.create(configMaps, { namespace: key.namespace, object }, signal);
      } else {
        const object = { ...(cloneJson(item.object()) as ApiObject), data };
        await client.update(configMaps, { path: { ...key, subresource: '' }, object }, signal);
      }
    } catch (error) {
      // Another replica was first, or the namespace comes later.
      if (!(error instanceof StatusError) || error.code !== 409) throw error;
    }
    return 'done';
  }
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
