// Label keys that a pod's affinity and spread rules match with its own labels: their values are
// written into the rules' selectors once, when the pod is made.
import { recordAt, recordIn, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { GateCheck } from '../strategy.ts';

export function mergeLabelKeys(pod: ApiObject, isOn: GateCheck): void {
  const spec = recordAt(pod, 'spec');
  const labels = recordAt(pod.metadata, 'labels');
  if (labels === undefined) return;
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const affinity = recordIn(spec, 'affinity', kind);
    const preferred = recordsAt(affinity, 'preferredDuringSchedulingIgnoredDuringExecution');
    const preferredTerms = preferred
      .map((one) => recordAt(one, 'podAffinityTerm'))
      .filter((term) => term !== undefined);
    const required = recordsAt(affinity, 'requiredDuringSchedulingIgnoredDuringExecution');
    for (const term of [...required, ...preferredTerms]) {
      merge(term, labels, 'matchLabelKeys', 'In');
      merge(term, labels, 'mismatchLabelKeys', 'NotIn');
    }
  }
  if (!isOn('MatchLabelKeysInPodTopologySpreadSelectorMerge')) return;
  for (const constraint of recordsAt(spec, 'topologySpreadConstraints')) {
    merge(constraint, labels, 'matchLabelKeys', 'In');
  }
}

/** A rule without a selector selects nothing: nothing is added. */
function merge(
  rule: JsonObject,
  labels: JsonObject,
  member: string,
  operator: 'In' | 'NotIn',
): void {
  const selector = recordAt(rule, 'labelSelector');
  if (selector === undefined) return;
  const added = textsAt(rule, member)
    .filter((key) => Object.hasOwn(labels, key))
    .map((key): JsonObject => ({ key, operator, values: [textAt(labels, key)] }));
  if (added.length === 0) return;
  selector['matchExpressions'] = [...recordsAt(selector, 'matchExpressions'), ...added];
}
