// What who makes a namespace stricter is told of the pods that are in it: pods with the same
// violations in one line. Bounded in pods and time, one pod of each owner before its others.
import { flagAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { StatusError } from '../../base/status.ts';
import { Yielder } from '../../base/yielder.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { reasonsText, violationsOf } from './evaluate.ts';
import { policyText } from './policy.ts';
import type { LevelVersion } from './policy.ts';
import { podOf, runtimeClassOf } from './pods-of.ts';

export interface ExistingPods {
  readonly pods: Pick<ResourceView, 'list'>;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  /** Whether pods of this runtime class are let alone. */
  readonly isExempt: (runtimeClass: string) => boolean;
}

const podsRef = { group: '', resource: 'pods' };
const { podSecurityPodsMax, podSecurityPodsMsMax } = limits;

/** @returns the warnings, none where all pods meet the standard. */
export async function warningsOfExisting(
  existing: ExistingPods,
  namespace: string,
  enforced: LevelVersion,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const items = await podsIn(existing, namespace, signal);
  if (items === undefined) {
    return ['failed to list pods while checking new PodSecurity enforce level'];
  }
  const survey = new Survey(existing, enforced);
  await survey.look(items, signal);
  const { checkedCount, exemptCount } = survey;
  const totalCount = items.length - exemptCount;
  const found = survey.lines();
  const warnings: string[] = [];
  if (checkedCount < totalCount) {
    warnings.push(
      'new PodSecurity enforce level only checked against the first ' +
        `${String(checkedCount)} of ${String(totalCount)} existing pods`,
    );
  }
  if (found.length > 0) {
    warnings.push(
      `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity ` +
        `enforce level ${JSON.stringify(policyText(enforced))}`,
    );
  }
  return [...warnings, ...found];
}

/** Those that can be read; undefined: they cannot be listed. */
async function podsIn(
  { pods }: ExistingPods,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly Item[] | undefined> {
  try {
    const selection = { namespace, showsUnreadable: true };
    const { items } = await pods.list(selection, { mode: 'any' }, { limitCount: 0 }, signal);
    return items.filter((item) => !item.corrupted);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof StatusError)) throw error;
    return undefined;
  }
}

/** Pods with the same violations. */
interface Alike {
  firstName: string;
  count: number;
}

class Survey {
  readonly #existing: ExistingPods;
  readonly #enforced: LevelVersion;
  readonly #untilMs: number;
  readonly #alike = new Map<string, Alike>();
  checkedCount = 0;
  exemptCount = 0;

  constructor(existing: ExistingPods, enforced: LevelVersion) {
    this.#existing = existing;
    this.#enforced = enforced;
    this.#untilMs = existing.clock.monotonicMs() + podSecurityPodsMsMax;
  }

  /** Looks at one pod at least. */
  async look(items: readonly Item[], signal: AbortSignal): Promise<void> {
    const yielder = new Yielder();
    const owners = new Set<string>();
    const queue = [...items]; // and further pods of the same owners behind them
    for (const [at, item] of queue.entries()) {
      if (at > 0 && this.#isOver()) return;
      const isLater = at >= items.length;
      const pod = item.object();
      const owner = isLater ? '' : controllerOf(pod);
      if (owner !== '' && owners.has(owner)) queue.push(item);
      else this.#check(item.name, pod);
      if (owner !== '') owners.add(owner);
      if (!yielder.isDue()) continue;
      await yielder.yield();
      signal.throwIfAborted();
    }
  }

  #isOver(): boolean {
    if (this.checkedCount >= podSecurityPodsMax) return true;
    return this.#existing.clock.monotonicMs() >= this.#untilMs;
  }

  #check(name: string, object: Readonly<ApiObject>): void {
    const { naming, isExempt } = this.#existing;
    const pod = podOf(podsRef, object, naming);
    if (pod === undefined || isExempt(runtimeClassOf(pod))) {
      this.exemptCount += 1;
      return;
    }
    this.checkedCount += 1;
    const violations = violationsOf(pod, this.#enforced);
    if (violations.length === 0) return;
    const reasons = reasonsText(violations);
    const alike = this.#alike.get(reasons);
    if (alike === undefined) {
      this.#alike.set(reasons, { firstName: name, count: 1 });
      return;
    }
    alike.count += 1;
    if (name < alike.firstName) alike.firstName = name;
  }

  lines(): readonly string[] {
    return [...this.#alike]
      .map(([reasons, { firstName, count }]) => `${firstName}${othersText(count - 1)}: ${reasons}`)
      .sort();
  }
}

function othersText(count: number): string {
  if (count === 0) return '';
  return ` (and ${String(count)} other ${count === 1 ? 'pod' : 'pods'})`;
}

/** uid of the owner that made the pod; '': nobody did. */
const controllerOf = (pod: Readonly<ApiObject>): string =>
  textAt(
    recordsAt(pod.metadata, 'ownerReferences').find((owner) => flagAt(owner, 'controller')),
    'uid',
  );
