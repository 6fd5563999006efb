// Deployments, replica sets, stateful sets, daemon sets: selectors against templates, strategies of
// updating, and what never changes.
import { isSet, numberAt, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123LabelProblems } from '../../api/name-rules.ts';
import { isRecord, without } from '../../api/json-value.ts';
import { opened } from '../../api/raw-json.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateRunningTemplate } from '../core/pod-spec.ts';
import { validateTemplateSelector } from '../label-selectors.ts';
import { changed } from '../validator.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { isNoAmount, validateAmount, validateAtMostAll } from './amounts.ts';
import { validateCounts, validateNotLowered } from './status-counts.ts';

const specOf = (write: ValidatedWrite): JsonObject => recordAt(write.object, 'spec') ?? {};

function validateTemplate(
  write: ValidatedWrite,
  kind: string,
  claimed: readonly string[] = [],
): void {
  const spec = specOf(write);
  validateTemplateSelector(spec, 'spec', kind, write.errors);
  validateRunningTemplate(spec, 'spec', write, claimed);
}

export const validateDeployment: Validator = (write) => {
  const { errors } = write;
  const spec = specOf(write);
  validateTemplate(write, 'deployment');
  const strategy = recordAt(spec, 'strategy');
  const rolling = recordAt(strategy, 'rollingUpdate');
  const path = 'spec.strategy.rollingUpdate';
  if (textAt(strategy, 'type') === 'Recreate' && rolling !== undefined) {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    errors.forbidden(path, detail);
  } else if (textAt(strategy, 'type') === 'RollingUpdate') {
    if (rolling === undefined) errors.required(path, 'this should be defaulted and never be nil');
    else validateRolling(rolling, path, write);
  }
  const progress = numberAt(spec, 'progressDeadlineSeconds');
  if (progress !== undefined && progress <= (numberAt(spec, 'minReadySeconds') ?? 0)) {
    errors.invalid(
      'spec.progressDeadlineSeconds',
      progress,
      'must be greater than minReadySeconds',
    );
  }
  validateCounts(write, 'replicas', ['updatedReplicas', 'readyReplicas', 'availableReplicas']);
  validateNotLowered(write, ['collisionCount']);
};

function validateRolling(rolling: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const unavailable = valueAt(rolling, 'maxUnavailable');
  const surge = valueAt(rolling, 'maxSurge');
  validateAmount(unavailable, `${path}.maxUnavailable`, errors);
  validateAmount(surge, `${path}.maxSurge`, errors);
  if (isNoAmount(unavailable) && isNoAmount(surge)) {
    const detail = 'may not be 0 when `maxSurge` is 0';
    errors.invalid(`${path}.maxUnavailable`, unavailable ?? 0, detail);
  }
  validateAtMostAll(unavailable, `${path}.maxUnavailable`, errors);
}

export const validateReplicaSet: Validator = (write) => {
  validateTemplate(write, 'deployment');
  const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];
  validateCounts(write, 'replicas', parts);
};

/** What an update of a stateful set may change. */
const changeable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export const validateStatefulSet: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = specOf(write);
  const name = textAt(recordAt(object, 'metadata'), 'name');
  if (old === undefined && name !== '') {
    errors.problems('metadata.name', name, dns1123LabelProblems(name));
  }
  const policy = textAt(spec, 'podManagementPolicy');
  if (policy !== '' && policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'");
  }
  validateStatefulStrategy(spec, write);
  const claims = recordsAt(spec, 'volumeClaimTemplates');
  const claimed = claims.map((claim) => textAt(recordAt(claim, 'metadata'), 'name'));
  validateTemplate(write, 'statefulset', claimed);
  const service = textAt(spec, 'serviceName');
  if (old === undefined && service !== '') {
    errors.problems('spec.serviceName', service, dns1123LabelProblems(service));
  }
  validateCounts(write, 'replicas', [
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
  ]);
  validateNotLowered(write, ['collisionCount']);
  if (old === undefined) return;
  const before = recordAt(old, 'spec');
  if (sameJson(without(spec, ...changeable), without(before ?? {}, ...changeable))) return;
  const detail =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', " +
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and " +
    "'minReadySeconds' are forbidden";
  errors.forbidden('spec', detail);
};

function validateStatefulStrategy(spec: JsonObject, { errors }: ValidatedWrite): void {
  const strategy = recordAt(spec, 'updateStrategy');
  const type = textAt(strategy, 'type');
  const rolling = recordAt(strategy, 'rollingUpdate');
  if (type === 'OnDelete') {
    if (rolling === undefined) return;
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    errors.invalid('spec.updateStrategy.rollingUpdate', rolling, detail);
    return;
  }
  if (type !== 'RollingUpdate' && type !== '') {
    const detail = "must be 'RollingUpdate' or 'OnDelete'";
    errors.invalid('spec.updateStrategy', type, detail);
    return;
  }
  const amount = valueAt(rolling, 'maxUnavailable');
  if (amount === undefined) return;
  const path = 'spec.updateStrategy.rollingUpdate.maxUnavailable';
  validateAmount(amount, path, errors);
  if (isNoAmount(amount)) errors.invalid(path, amount, 'cannot be 0');
  validateAtMostAll(amount, path, errors);
}

export const validateDaemonSet: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = specOf(write);
  validateTemplate(write, 'daemonset');
  const strategy = recordAt(spec, 'updateStrategy');
  const rolling = recordAt(strategy, 'rollingUpdate');
  const path = 'spec.updateStrategy.rollingUpdate';
  if (textAt(strategy, 'type') === 'RollingUpdate') {
    if (rolling === undefined) errors.required(path);
    else validateDaemonRolling(rolling, path, write);
  }
  validateNotLowered(write, ['collisionCount']);
  const next = numberAt(spec, 'templateGeneration') ?? 0;
  const before = recordAt(old, 'spec');
  if (old === undefined || !isSet(object, 'spec') || !isSet(before, 'templateGeneration')) return;
  const last = numberAt(before, 'templateGeneration') ?? 0;
  const at = 'spec.templateGeneration';
  const isChanged = changed(spec, before, 'template');
  if (next < last) errors.invalid(at, next, 'must not be decremented');
  else if (isChanged && next === last) {
    errors.invalid(at, next, 'must be incremented upon template update');
  } else if (!isChanged && next !== last) {
    errors.invalid(at, next, 'must not be incremented without template update');
  }
};

function validateDaemonRolling(
  rolling: JsonObject,
  path: string,
  { errors }: ValidatedWrite,
): void {
  const unavailable = valueAt(rolling, 'maxUnavailable');
  const surge = valueAt(rolling, 'maxSurge');
  for (const [name, amount] of [
    ['maxUnavailable', unavailable],
    ['maxSurge', surge],
  ] as const) {
    validateAmount(amount, `${path}.${name}`, errors);
    validateAtMostAll(amount, `${path}.${name}`, errors);
  }
  if (isNoAmount(unavailable) && isNoAmount(surge)) {
    errors.required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0');
  } else if (!isNoAmount(unavailable) && !isNoAmount(surge)) {
    const detail = 'may not be set when maxUnavailable is non-zero';
    errors.invalid(`${path}.maxSurge`, surge, detail);
  }
}

export const validateControllerRevision: Validator = ({ object, errors }) => {
  const data = valueAt(object, 'data');
  if (data === undefined || isRecord(opened(data))) return; // the field's own rule requires it
  errors.required('data', 'data must be a valid JSON object');
};
