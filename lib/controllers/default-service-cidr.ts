// The ServiceCIDR of `--service-cluster-ip-range`: made when missing, Ready at once. One that says
// something else than the flag stays as it is, and the difference is told; a second family joins.
import { sameJson } from '../api/json-equal.ts';
import { cloneJson, setMember } from '../api/json-value.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isDeleting } from '../codec/object-meta.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Outcome } from './controller.ts';
import { recordEvent } from './events.ts';
import type { Occurrence } from './events.ts';
import { cidrsOf, readyCondition, withReadiness } from './service-cidr-state.ts';

export interface DefaultServiceCidrOptions {
  readonly ranges: ResourceStore;
  /** undefined: events are not served. */
  readonly events: ResourceStore | undefined;
  /** One network, or one of each family; canonical. */
  readonly cidrs: readonly string[];
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
}

const component = 'default-service-cidr-controller';

export class DefaultServiceCidr {
  readonly name: string;
  readonly #options: DefaultServiceCidrOptions;
  /** The difference that was told last, so that it is told once. */
  #told = '';

  constructor(options: DefaultServiceCidrOptions) {
    this.#options = options;
    this.name = options.naming.resolve('{kubernetes}');
  }

  /** Right on any number of replicas at once. @throws StatusError when it cannot be written. */
  async reconcile(signal: AbortSignal): Promise<Outcome> {
    const { ranges } = this.#options;
    const key = { namespace: '', name: this.name };
    try {
      const range =
        (await ranges.view.get(key, { mode: 'latest' }, signal)) ?? (await this.#create(signal));
      // Its end is the business of the controller that waits for its addresses.
      if (isDeleting(range.object())) return 'done';
      const joined = await this.#compare(range, signal);
      await this.#makeReady(joined, signal);
      return 'done';
    } catch (error) {
      // Another replica was first: what it did is looked at.
      if (error instanceof StatusError && [404, 409].includes(error.code)) return 'again';
      throw error;
    }
  }

  async #create(signal: AbortSignal): Promise<Item> {
    const { ranges, client, cidrs, log } = this.#options;
    const { kind } = ranges.resource;
    const object = {
      kind: kind.kind,
      apiVersion: apiVersionOf(kind),
      metadata: { name: this.name },
      spec: { cidrs: [...cidrs] },
    };
    const made = await client.create(ranges, { namespace: '', object }, signal);
    log.info('made the default ServiceCIDR', { cidrs });
    return made;
  }

  /** @returns the range as it is then. */
  async #compare(range: Item, signal: AbortSignal): Promise<Item> {
    const { cidrs, ranges, client, log } = this.#options;
    const stored = cidrsOf(range.object());
    if (sameJson([...stored], [...cidrs])) return range;
    if (stored.length === 1 && cidrs.length === 2 && stored[0] === cidrs[0]) {
      const object = cloneJson(range.object()) as ApiObject;
      setMember(object, 'spec', { cidrs: [...cidrs] });
      const path = { namespace: '', name: this.name, subresource: '' };
      const joined = await client.update(ranges, { path, object }, signal);
      log.info('the default ServiceCIDR has a second family now', { cidrs });
      return joined;
    }
    await this.#tellDifference(range, stored, signal);
    return range;
  }

  async #tellDifference(
    range: Item,
    stored: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { cidrs, ranges, log } = this.#options;
    const difference = `${range.object().metadata?.uid ?? ''} ${stored.join()}`;
    if (this.#told === difference) return;
    this.#told = difference;
    log.warn(
      'the default ServiceCIDR differs from --service-cluster-ip-range and stays as it is: ' +
        'give every replica the stored ranges, or delete the object to have it made anew',
      { stored, flag: cidrs },
    );
    const occurrence: Occurrence = {
      type: 'Warning',
      reason: 'KubernetesDefaultServiceCIDRInconsistent',
      message:
        `The default ServiceCIDR ${stored.join()} does not match the flag configuration ` +
        cidrs.join(),
    };
    const { kind } = ranges.resource;
    const about = {
      kind: kind.kind,
      apiVersion: apiVersionOf(kind),
      namespace: '',
      name: this.name,
      uid: range.object().metadata?.uid ?? '',
      resourceVersion: String(range.revision),
    };
    await recordEvent({ ...this.#options, component }, about, occurrence, signal);
  }

  /** Only where nobody has said anything yet, and only for what this server was told to use. */
  async #makeReady(range: Item, signal: AbortSignal): Promise<void> {
    const { cidrs, ranges, client, clock } = this.#options;
    const object = range.object();
    if (readyCondition(object) !== undefined || !sameJson([...cidrsOf(object)], [...cidrs])) return;
    const message = 'Default Service CIDR is ready';
    const readiness = { isReady: true, reason: '', message };
    const path = { namespace: '', name: this.name, subresource: 'status' };
    const ready = withReadiness(object, readiness, clock.nowMs());
    await client.update(ranges, { path, object: ready }, signal);
  }
}
