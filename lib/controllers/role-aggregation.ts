// Fills the rules of aggregated cluster roles: those of every role that one of their selectors
// selects, in the order of names, each rule once (specification 3, RBAC rules, 5). Nothing else
// stays in such a role.
import { apiVersionOf } from '../api/type-info.ts';
import { recordAt, recordsAt } from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import type { JsonObject } from '../api/type-info.ts';
import { utf8SortKey } from '../base/utf8-order.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { follow } from '../cacher/follow.ts';
import type { Item } from '../cacher/resource-view.ts';
import { selectorMatches } from '../kinds/label-selectors.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';

export interface RoleAggregationOptions {
  readonly clusterRoles: ResourceStore;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

/** The owner of the rules, as in Kubernetes. */
const fieldManager = 'clusterrole-aggregation-controller';

export class RoleAggregationController implements Controller {
  readonly name = 'ClusterRoleAggregator';
  readonly #options: RoleAggregationOptions;

  constructor(options: RoleAggregationOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clusterRoles, clock, log, observer } = this.#options;
    const queue = new KeyedQueue({ name: this.name, clock, log, observer }, (name, running) =>
      this.#reconcile(name, running),
    );
    // Whatever changed may be what any of them gathers.
    const aggregated = new Set<string>();
    const changed = (): void => aggregated.forEach((name) => queue.add(name));
    const follower = {
      present: (item: Item) => {
        if (isAggregated(item.object())) aggregated.add(item.name);
        else aggregated.delete(item.name);
        changed();
      },
      absent: ({ name }: Item) => {
        aggregated.delete(name);
        changed();
      },
    };
    const { view } = clusterRoles;
    await Promise.all([queue.run(signal), follow(follower, { view, log }, signal)]);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<Outcome> {
    const { clusterRoles, client } = this.#options;
    const { view, resource } = clusterRoles;
    const { items } = await view.list({}, { mode: 'any' }, { limitCount: 0 }, signal);
    const role = items.find((item) => item.name === name)?.object();
    if (role === undefined || !isAggregated(role)) return 'done';
    const rules = gatheredRules(role, items);
    if (sameJson(rules, [...recordsAt(role, 'rules')])) return 'done';
    const { kind } = resource;
    const metadata = { name, uid: role.metadata?.uid ?? '' }; // an apply would make a deleted one
    const patch = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, rules };
    const path = { namespace: '', name, subresource: '' };
    const how = { kind: 'apply', fieldManager, force: true } as const;
    await client.patch(clusterRoles, { path, patch, ...how }, signal);
    return 'done';
  }
}

const isAggregated = (role: Readonly<JsonObject>): boolean =>
  recordAt(role, 'aggregationRule') !== undefined;

/** `roles` with the aggregated one itself, which gathers nothing of its own. */
function gatheredRules(role: Readonly<JsonObject>, roles: readonly Item[]): JsonObject[] {
  const own = recordAt(role, 'metadata')?.['name'];
  const others = roles
    .filter(({ name }) => name !== own)
    .map((item) => ({ item, key: utf8SortKey(item.name) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
  const rules: JsonObject[] = [];
  for (const selector of recordsAt(recordAt(role, 'aggregationRule'), 'clusterRoleSelectors')) {
    for (const { item } of others) {
      if (!selectorMatches(selector, item.labels)) continue;
      for (const rule of recordsAt(item.object(), 'rules')) {
        if (!rules.some((known) => sameJson(known, rule))) rules.push(rule);
      }
    }
  }
  return rules;
}
