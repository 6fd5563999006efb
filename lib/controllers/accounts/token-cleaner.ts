// Takes tokens away that nobody has used for a year: of Secrets that an account lists, as older
// releases made them. Such a Secret is marked as invalid first, and is deleted a year later unless
// somebody has used its token or taken the mark off.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { invalidSinceLabel, lastUsedLabel } from '../../authn/service-account/legacy-secret.ts';
import { pause } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import { StatusError } from '../../base/status.ts';
import type { Item } from '../../cacher/resource-view.ts';
import { isDeleting } from '../../codec/object-meta.ts';
import type { InternalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { Controller } from '../controller.ts';
import { trackingName } from './token-tracking.ts';
import { dayOf } from './token-use.ts';

export interface TokenCleanerOptions {
  readonly secrets: ResourceStore;
  readonly accounts: ResourceStore;
  readonly pods: ResourceStore;
  readonly configMaps: ResourceStore;
  readonly client: InternalClient;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly log: Logger;
}

export class TokenCleanerController implements Controller {
  readonly name = 'legacy_service_account_token_cleaner';
  readonly #options: TokenCleanerOptions;

  constructor(options: TokenCleanerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.look(signal);
      } catch (error) {
        if (signal.aborted) return;
        const reason = error instanceof Error ? error.message : String(error);
        log.warn('unused tokens were not looked for; the next round tries again', { reason });
      }
      await pause(clock, limits.tokenCleanerIntervalMs, signal);
    }
  }

  /** One round, from etcd's present state. */
  async look(signal: AbortSignal): Promise<void> {
    const { naming, clock } = this.#options;
    const limitDay = dayOf(clock.nowMs() - limits.unusedTokenMs);
    // What is not noted was not used, but only since uses are noted.
    const since = await this.#since(signal);
    if (since === undefined || since > limitDay) return;
    const listed = await this.#listed(signal);
    const mounted = await this.#mounted(signal);
    const type = `${naming.metadataDomain}/service-account-token`;
    for (const secret of await this.#all(this.#options.secrets, signal)) {
      const key = `${secret.namespace}/${secret.name}`;
      const object = secret.object();
      if (!listed.has(key) || mounted.has(key)) continue;
      if (textAt(object, 'type') !== type || isDeleting(object)) continue;
      const made = textAt(object.metadata, 'creationTimestamp').slice(0, 10);
      const used = secret.labels[lastUsedLabel(naming)] ?? '';
      if (made > limitDay || used > limitDay) continue;
      await this.#age(secret, limitDay, signal);
    }
  }

  /** Marks the Secret, or deletes one that was marked long ago and has not been used since. */
  async #age(secret: Item, limitDay: string, signal: AbortSignal): Promise<void> {
    const { naming, secrets, client, clock, log } = this.#options;
    const { namespace, name, revision } = secret;
    const label = invalidSinceLabel(naming);
    const marked = secret.labels[label] ?? '';
    const uid = textAt(secret.object().metadata, 'uid');
    const resourceVersion = String(revision);
    const path = { namespace, name, subresource: '' };
    try {
      if (!isDay(marked)) {
        const metadata = { uid, resourceVersion, labels: { [label]: dayOf(clock.nowMs()) } };
        await client.patch(secrets, { path, kind: 'merge', patch: { metadata } }, signal);
        log.info('an unused token of a service account is refused from now on', {
          namespace,
          name,
        });
      } else if (marked <= limitDay) {
        const preconditions = { uid, resourceVersion };
        await client.delete(secrets, { path, options: { preconditions } }, signal);
        log.info('an unused token of a service account is deleted', { namespace, name });
      }
    } catch (error) {
      // It has changed: it may have been used.
      if (!(error instanceof StatusError) || ![404, 409].includes(error.code)) throw error;
    }
  }

  async #since(signal: AbortSignal): Promise<string | undefined> {
    const { configMaps, naming } = this.#options;
    const key = { namespace: naming.systemNamespace, name: trackingName(naming) };
    const item = await configMaps.view.get(key, { mode: 'latest' }, signal);
    const since = textAt(recordAt(item?.object(), 'data'), 'since');
    return isDay(since) ? since : undefined;
  }

  /** `NAMESPACE/SECRET` of all that accounts list. */
  async #listed(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const accounts = await this.#all(this.#options.accounts, signal);
    return new Set(
      accounts.flatMap((account) =>
        recordsAt(account.object(), 'secrets').map(
          (secret) => `${account.namespace}/${textAt(secret, 'name')}`,
        ),
      ),
    );
  }

  /** `NAMESPACE/SECRET` of all that pods have in a volume. */
  async #mounted(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const pods = await this.#all(this.#options.pods, signal);
    return new Set(
      pods.flatMap((pod) =>
        recordsAt(recordAt(pod.object(), 'spec'), 'volumes').map(
          (volume) => `${pod.namespace}/${textAt(recordAt(volume, 'secret'), 'secretName')}`,
        ),
      ),
    );
  }

  async #all({ view }: ResourceStore, signal: AbortSignal): Promise<readonly Item[]> {
    return (await view.list({}, { mode: 'latest' }, { limitCount: 0 }, signal)).items;
  }
}

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);
