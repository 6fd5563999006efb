// Deployments, replica sets, stateful sets, daemon sets: selectors against templates, strategies of
// updating, and what never changes.
import { immutableDetail } from '../../api/field-errors.ts';
import {
  isSet,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  valueAt,
  valueIn,
} from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123LabelProblems } from '../../api/name-rules.ts';
import { isRecord, without } from '../../api/json-value.ts';
import { opened } from '../../api/raw-json.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateClaimSpec } from '../core/claim-spec.ts';
import { validatePodTemplate, validateRunningPods } from '../core/pod-spec.ts';
import {
  isEmptySelector,
  validateLabelSelector,
  validateTemplateLabels,
} from '../label-selectors.ts';
import { changed } from '../validator.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { rollbackRevision } from './field-annotations.ts';
import { isNoAmount, validateAmount, validateAtMostAll } from './amounts.ts';
import { validateCounts, validateNotLowered } from './status-counts.ts';

const specOf = (write: ValidatedWrite): JsonObject => recordAt(write.object, 'spec') ?? {};

const templateOf = (spec: JsonObject): JsonObject => recordAt(spec, 'template') ?? {};

/** Against the labels of the template, too. False: it is no selector. */
function validateSelector({ errors }: ValidatedWrite, spec: JsonObject, kind: string): boolean {
  const selector = recordAt(spec, 'selector'); // where it must be there, its own rule says so
  if (!validateLabelSelector(selector, 'spec.selector', errors)) return false;
  if (selector !== undefined && isEmptySelector(selector)) {
    errors.invalid('spec.selector', selector, `empty selector is invalid for ${kind}`);
  } else validateTemplateLabels(spec, 'spec', errors);
  return true;
}

/** Of a deployment or a replica set; the template of a wrong selector is not looked into. */
function validateReplicatedPods(write: ValidatedWrite): void {
  const { errors } = write;
  const spec = specOf(write);
  if (validateSelector(write, spec, 'deployment')) {
    validatePodTemplate(templateOf(spec), 'spec.template', write);
    validateRunningPods(templateOf(spec), 'spec.template', 'ReplicaSet', write);
  } else {
    errors.overlook('spec.template');
    errors.invalid('spec.selector', spec['selector'], 'invalid label selector');
  }
  validateSelectorKept(write);
}

function validateSelectorKept({ object, old, errors }: ValidatedWrite): void {
  const selector = valueIn(object, ['spec', 'selector']);
  if (old === undefined || sameJson(selector, valueIn(old, ['spec', 'selector']))) return;
  errors.invalid('spec.selector', selector ?? null, immutableDetail);
}

export const validateDeployment: Validator = (write) => {
  const { errors } = write;
  const spec = specOf(write);
  validateReplicatedPods(write);
  const strategy = recordAt(spec, 'strategy');
  const rolling = recordAt(strategy, 'rollingUpdate');
  const path = 'spec.strategy.rollingUpdate';
  switch (textAt(strategy, 'type')) {
    case 'Recreate':
      if (rolling !== undefined) {
        errors.forbidden(path, "may not be specified when strategy `type` is 'Recreate'");
      }
      break;
    case 'RollingUpdate':
      if (rolling === undefined) errors.required(path, 'this should be defaulted and never be nil');
      else validateRolling(rolling, path, write);
      break;
    default:
      errors.notSupported('spec.strategy', strategy, ['Recreate', 'RollingUpdate']);
  }
  const progress = numberAt(spec, 'progressDeadlineSeconds');
  if (progress !== undefined && progress <= (numberAt(spec, 'minReadySeconds') ?? 0)) {
    errors.invalid(
      'spec.progressDeadlineSeconds',
      progress,
      'must be greater than minReadySeconds',
    );
  }
  const rollback = write.object.metadata?.annotations?.[rollbackRevision] ?? '';
  if (rollback.startsWith('-')) {
    errors.invalid('spec.rollback.version', rollback, 'must be greater than or equal to 0');
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
  validateReplicatedPods(write);
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
  const { old, errors } = write;
  const spec = specOf(write);
  const policy = textAt(spec, 'podManagementPolicy');
  if (policy !== '' && policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'");
  }
  validateStatefulStrategy(spec, write);
  if (old === undefined) {
    for (const [at, claim] of recordsAt(spec, 'volumeClaimTemplates').entries()) {
      const path = `spec.volumeClaimTemplates[${String(at)}].spec`;
      validateClaimSpec(recordAt(claim, 'spec') ?? {}, path, write);
    }
  }
  const service = textAt(spec, 'serviceName');
  if (old === undefined && service !== '') {
    errors.problems('spec.serviceName', service, dns1123LabelProblems(service));
  }
  if (validateSelector(write, spec, 'statefulset')) {
    const options = { isNamedByController: true };
    validatePodTemplate(templateOf(spec), 'spec.template', write, options);
  } else {
    errors.overlook('spec.template');
    errors.invalid('spec.selector', spec['selector'], '');
  }
  validateRunningPods(templateOf(spec), 'spec.template', 'StatefulSet', write);
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
    errors.invalid('spec.updateStrategy', strategy, detail);
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
  validateSelector(write, spec, 'daemonset');
  validateSelectorKept(write);
  validatePodTemplate(templateOf(spec), 'spec.template', write);
  validateRunningPods(templateOf(spec), 'spec.template', 'DaemonSet', write);
  const strategy = recordAt(spec, 'updateStrategy');
  const rolling = recordAt(strategy, 'rollingUpdate');
  const path = 'spec.updateStrategy.rollingUpdate';
  switch (textAt(strategy, 'type')) {
    case 'OnDelete':
      break;
    case 'RollingUpdate':
      if (rolling === undefined) errors.required(path);
      else validateDaemonRolling(rolling, path, write);
      break;
    default:
      errors.notSupported('spec.updateStrategy', strategy, ['RollingUpdate', 'OnDelete']);
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

export const validateControllerRevision: Validator = ({ object, old, errors }) => {
  const data = valueAt(object, 'data'); // the field's own rule requires it
  if (data !== undefined && !isRecord(opened(data))) {
    errors.required('data', 'data must be a valid JSON object');
  }
  if (old === undefined || !changed(object, old, 'data')) return;
  errors.invalid('data', data ?? null, immutableDetail);
};
