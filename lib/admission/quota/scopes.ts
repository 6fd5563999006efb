// Which objects a quota with scopes counts: what each scope says of a pod or a claim of storage.
import { recordAt, recordIn, recordsAt, textAt, textsAt, numberAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { qualityOf } from '../../kinds/core/pod-quality.ts';

export interface ScopeRequirement {
  readonly scopeName: string;
  /** In, NotIn, Exists or DoesNotExist. */
  readonly operator: string;
  readonly values: readonly string[];
}

/** All that an object must meet to be counted by the quota. */
export function scopesOf(quota: Readonly<ApiObject>): readonly ScopeRequirement[] {
  const spec = recordAt(quota, 'spec');
  return [
    ...textsAt(spec, 'scopes').map((scopeName) => ({ scopeName, operator: 'Exists', values: [] })),
    ...recordsAt(recordAt(spec, 'scopeSelector'), 'matchExpressions').map(requirementOf),
  ];
}

export const requirementOf = (one: JsonObject): ScopeRequirement => ({
  scopeName: textAt(one, 'scopeName'),
  operator: textAt(one, 'operator'),
  values: textsAt(one, 'values'),
});

export function podMatches(scope: ScopeRequirement, pod: Readonly<ApiObject>): boolean {
  switch (scope.scopeName) {
    case 'Terminating':
      return isTerminatingPod(pod);
    case 'NotTerminating':
      return !isTerminatingPod(pod);
    case 'BestEffort':
      return qualityOf(pod) === 'BestEffort';
    case 'NotBestEffort':
      return qualityOf(pod) !== 'BestEffort';
    case 'PriorityClass': {
      const name = textAt(recordAt(pod, 'spec'), 'priorityClassName');
      return isSelected(scope, name === '' ? none : new Set([name]));
    }
    case 'CrossNamespacePodAffinity':
      return hasAffinityAcross(recordIn(pod, 'spec', 'affinity'));
    default:
      return false;
  }
}

export const claimMatches = (scope: ScopeRequirement, claim: Readonly<ApiObject>): boolean =>
  scope.scopeName === 'VolumeAttributesClass' && isSelected(scope, attributesClassesOf(claim));

/** All of a pod that may change and that scopes look at. */
export const podScopeText = (pod: Readonly<ApiObject>): string =>
  `${String(isTerminatingPod(pod))} ${qualityOf(pod)}`;

export const claimScopeText = (claim: Readonly<ApiObject>): string =>
  [...attributesClassesOf(claim)].sort().join(' ');

/** A pod that will end by itself, in time. */
export const isTerminatingPod = (pod: Readonly<ApiObject> | undefined): boolean =>
  (numberAt(recordAt(pod, 'spec'), 'activeDeadlineSeconds') ?? -1) >= 0;

/** Classes of volume attributes that a claim wants, has, or is being changed to. */
export function attributesClassesOf(claim: Readonly<ApiObject> | undefined): ReadonlySet<string> {
  const status = recordAt(claim, 'status');
  return new Set(
    [
      textAt(recordAt(claim, 'spec'), 'volumeAttributesClassName'),
      textAt(status, 'currentVolumeAttributesClassName'),
      textAt(recordAt(status, 'modifyVolumeStatus'), 'targetVolumeAttributesClassName'),
    ].filter((name) => name !== ''),
  );
}

const none: ReadonlySet<string> = new Set();

/** One of the names is enough; without names those hold that ask for absence. */
function isSelected({ operator, values }: ScopeRequirement, names: ReadonlySet<string>): boolean {
  switch (operator) {
    case 'Exists':
      return names.size > 0;
    case 'DoesNotExist':
      return names.size === 0;
    case 'In':
      return values.some((value) => names.has(value));
    case 'NotIn':
      return names.size === 0 || [...names].some((name) => !values.includes(name));
    default:
      return false;
  }
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

const hasAffinityAcross = (affinity: JsonObject | undefined): boolean =>
  ['podAffinity', 'podAntiAffinity'].some((kind) => {
    const terms = recordAt(affinity, kind);
    return (
      recordsAt(terms, required).some(isAcross) ||
      recordsAt(terms, preferred).some((one) => isAcross(recordAt(one, 'podAffinityTerm')))
    );
  });

const isAcross = (term: JsonObject | undefined): boolean =>
  textsAt(term, 'namespaces').length > 0 || recordAt(term, 'namespaceSelector') !== undefined;
