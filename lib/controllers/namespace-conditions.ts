// Conditions in the status of a terminating namespace: five, true when something is in the way.
// Pure: what remains in, conditions out; an unchanged condition keeps its time.
import { asRecord, textAt, valueAt } from '../api/json-access.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { formatTime } from '../base/clock.ts';

/** What is left of a namespace's content after one pass. */
export interface Remains {
  /** Objects by resource: `deployments.apps`, and with an empty group `pods.`. */
  readonly countByResource: ReadonlyMap<string, number>;
  /** Objects by the finalizer that holds them. */
  readonly countByFinalizer: ReadonlyMap<string, number>;
  /** What could not be deleted, and why. */
  readonly failures: readonly string[];
}

interface Verdict {
  readonly type: string;
  readonly okReason: string;
  readonly okMessage: string;
  readonly failedReason: string;
  /** undefined: nothing is in the way. */
  readonly problem: (remains: Remains) => string | undefined;
}

/** Resources come from this server's own map: neither discovery nor parsing can fail. */
const never = (): undefined => undefined;

/** Reasons and messages are Kubernetes': people and tools look for them. */
const verdicts: readonly Verdict[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    okReason: 'ResourcesDiscovered',
    okMessage: 'All resources successfully discovered',
    failedReason: 'DiscoveryFailed',
    problem: never,
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    okReason: 'ParsedGroupVersions',
    okMessage: 'All legacy kube types successfully parsed',
    failedReason: 'GroupVersionParsingFailed',
    problem: never,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    okReason: 'ContentDeleted',
    okMessage: 'All content successfully deleted, may be waiting on finalization',
    failedReason: 'ContentDeletionFailed',
    problem: ({ failures }) =>
      failures.length === 0
        ? undefined
        : `Failed to delete all resource types, ${String(failures.length)} remaining: ` +
          failures.toSorted().join(', '),
  },
  {
    type: 'NamespaceContentRemaining',
    okReason: 'ContentRemoved',
    okMessage: 'All content successfully removed',
    failedReason: 'SomeResourcesRemain',
    problem: ({ countByResource }) =>
      listOf('Some resources are remaining', 'has', countByResource),
  },
  {
    type: 'NamespaceFinalizersRemaining',
    okReason: 'ContentHasNoFinalizers',
    okMessage: 'All content-preserving finalizers finished',
    failedReason: 'SomeFinalizersRemain',
    problem: ({ countByFinalizer }) =>
      listOf('Some content in the namespace has finalizers remaining', 'in', countByFinalizer),
  },
];

/**
 * The conditions of `old` with the five of this file brought up to date; `old` itself when none
 * changed.
 */
export function namespaceConditions(
  old: readonly JsonValue[],
  remains: Remains,
  nowMs: number,
): readonly JsonValue[] {
  const next = [...old];
  let isChanged = false;
  for (const verdict of verdicts) {
    const index = next.findIndex((one) => textAt(asRecord(one), 'type') === verdict.type);
    const before = asRecord(next[index]);
    const now = conditionOf(verdict, remains, before, nowMs);
    if (isSame(before, now)) continue;
    isChanged = true;
    if (index < 0) next.push(now);
    else next[index] = now;
  }
  return isChanged ? next : old;
}

function conditionOf(
  verdict: Verdict,
  remains: Remains,
  before: JsonObject | undefined,
  nowMs: number,
): JsonObject {
  const problem = verdict.problem(remains);
  const status = problem === undefined ? 'False' : 'True';
  const since = valueAt(before, 'status') === status ? valueAt(before, 'lastTransitionTime') : null;
  return {
    type: verdict.type,
    status,
    lastTransitionTime: since ?? formatTime(nowMs),
    reason: problem === undefined ? verdict.okReason : verdict.failedReason,
    message: problem ?? verdict.okMessage,
  };
}

const isSame = (before: JsonObject | undefined, now: JsonObject): boolean =>
  Object.keys(now).every((key) => valueAt(before, key) === now[key]);

/** Sorted, so that the same state gives the same text. */
function listOf(
  what: string,
  verb: string,
  counts: ReadonlyMap<string, number>,
): string | undefined {
  if (counts.size === 0) return undefined;
  const entries = [...counts].map(
    ([name, count]) => `${name} ${verb} ${String(count)} resource instances`,
  );
  return `${what}: ${entries.sort().join(', ')}`;
}
