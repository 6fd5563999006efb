// The arithmetic of disruption budgets: which pods they guard from eviction, when an unready pod
// may go all the same, and what one disruption takes from a budget. Pure; eviction.ts has the
// writes.
import { ensureRecord } from '../../api/default-rule.ts';
import { entriesAt, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { setMember } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { formatTime } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { forbidden, StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isDeleting, nameOf } from '../../codec/object-meta.ts';
import { selectorMatches } from '../../kinds/label-selectors.ts';

type Stored = Readonly<ApiObject>;

/**
 * How a pod stands to budgets. `ended`: it has stopped or is about to, nothing is left to disrupt;
 * `pending`: it disrupts nothing until it runs; `guarded`: a budget that selects it decides.
 */
export function standingOf(pod: Stored): 'ended' | 'pending' | 'guarded' {
  const phase = textAt(recordAt(pod, 'status'), 'phase');
  if (isDeleting(pod) || phase === 'Succeeded' || phase === 'Failed') return 'ended';
  return phase === 'Pending' ? 'pending' : 'guarded';
}

/** An empty selector selects every pod of the namespace, an absent one none. */
export function selectsPod(budget: Stored, pod: Stored): boolean {
  const selector = recordAt(recordAt(budget, 'spec'), 'selector');
  if (selector === undefined) return false;
  return selectorMatches(selector, recordAt(recordAt(pod, 'metadata'), 'labels'));
}

/** Whether a pod may go without a disruption: it is not ready, and the others do not need it. */
export function spares(budget: Stored, pod: Stored): boolean {
  if (isReady(pod)) return false;
  const policy = textAt(recordAt(budget, 'spec'), 'unhealthyPodEvictionPolicy');
  if (policy === 'AlwaysAllow') return true;
  const { desiredHealthy, currentHealthy } = countsOf(budget);
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

const isReady = (pod: Stored): boolean => textAt(conditionOf(pod, 'Ready'), 'status') === 'True';

const conditionOf = (object: Stored, type: string): JsonObject | undefined =>
  recordsAt(recordAt(object, 'status'), 'conditions').find((one) => textAt(one, 'type') === type);

function countsOf(
  budget: Stored,
): Readonly<
  Record<'observedGeneration' | 'disruptionsAllowed' | 'desiredHealthy' | 'currentHealthy', number>
> {
  const status = recordAt(budget, 'status');
  const count = (name: string): number => numberAt(status, name) ?? 0;
  return {
    observedGeneration: count('observedGeneration'),
    disruptionsAllowed: count('disruptionsAllowed'),
    desiredHealthy: count('desiredHealthy'),
    currentHealthy: count('currentHealthy'),
  };
}

/**
 * Takes one disruption for the pod from the budget, which it changes.
 * @throws StatusError 429 when there is none, or none is known yet; 403 when the status is wrong.
 */
export function takeDisruption(budget: ApiObject, podName: string, nowMs: number): void {
  const name = nameOf(budget);
  const { observedGeneration, disruptionsAllowed } = countsOf(budget);
  if (observedGeneration < (budget.metadata?.generation ?? 0)) throw notSettled(name);
  if (disruptionsAllowed < 0) throw refused(name, 'pdb disruptions allowed is negative');
  const disruptedCount = entriesAt(recordAt(budget, 'status'), 'disruptedPods').length;
  if (disruptedCount > limits.disruptedPodsMax) {
    const why = 'too many evictions not confirmed by PDB controller';
    throw refused(name, `DisruptedPods map too big - ${why}`);
  }
  if (disruptionsAllowed === 0) throw exhausted(budget);
  const status = ensureRecord(budget, 'status');
  status['disruptionsAllowed'] = disruptionsAllowed - 1;
  if (disruptionsAllowed === 1) sayInsufficient(status, observedGeneration, nowMs);
  setMember(ensureRecord(status, 'disruptedPods'), podName, formatTime(nowMs));
}

const allowedCondition = 'DisruptionAllowed';

function sayInsufficient(status: JsonObject, observedGeneration: number, nowMs: number): void {
  const conditions = [...recordsAt(status, 'conditions')];
  const at = conditions.findIndex((one) => textAt(one, 'type') === allowedCondition);
  const before = conditions[at];
  const isKept = before !== undefined && textAt(before, 'status') === 'False';
  conditions[at < 0 ? conditions.length : at] = {
    ...before,
    type: allowedCondition,
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration,
    lastTransitionTime: isKept ? textAt(before, 'lastTransitionTime') : formatTime(nowMs),
  };
  status['conditions'] = conditions;
}

/** 429: the budget's status is not of its spec, or the pod has changed meanwhile. */
export const notSettled = (budget: string): StatusError =>
  tooManyDisruptions(
    `The disruption budget ${budget} is still being processed by the server.`,
    limits.evictionRetryAfterSeconds,
  );

function exhausted(budget: Stored): StatusError {
  const name = nameOf(budget);
  const { desiredHealthy, currentHealthy } = countsOf(budget);
  const condition = conditionOf(budget, allowedCondition);
  const reason = textAt(condition, 'reason');
  const message = textAt(condition, 'message');
  const isExplained = textAt(condition, 'status') === 'False' && message !== '';
  const no = `The disruption budget ${name} does not allow evicting pods currently`;
  // Counts of a status that could not be computed say nothing.
  if (isExplained && reason === 'SyncFailed') {
    return tooManyDisruptions(`${no} because it failed sync: ${message}`);
  }
  if (currentHealthy <= desiredHealthy) {
    const [wanted, there] = [String(desiredHealthy), String(currentHealthy)];
    return tooManyDisruptions(
      `The disruption budget ${name} needs ${wanted} healthy pods and has ${there} currently`,
    );
  }
  return tooManyDisruptions(isExplained ? `${no} (${reason}): ${message}` : no);
}

function tooManyDisruptions(message: string, retryAfterSeconds?: number): StatusError {
  const causes = [{ reason: 'DisruptionBudget', message }];
  const details = retryAfterSeconds === undefined ? { causes } : { causes, retryAfterSeconds };
  const text = "Cannot evict pod as it would violate the pod's disruption budget.";
  return new StatusError(429, 'TooManyRequests', text, details);
}

const refused = (name: string, message: string): StatusError =>
  forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, message);
