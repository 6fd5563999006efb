// Pods: creation, and which parts of a pod each kind of update may change.
import { isSet, numberAt, recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { cloneJson } from '../../api/json-value.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { changed } from '../validator.ts';
import {
  isMirrored,
  validateAnnotationChange,
  validatePodAnnotations,
  validateProfilesMatch,
} from './pod-annotations.ts';
import { validateTolerations } from './pod-scheduling.ts';
import { validatePodSpec } from './pod-spec.ts';
import { validatePodStatus } from './pod-status.ts';
import { validateEphemeralChange, validateResize } from './pod-subresources.ts';

const annotationsPath = 'metadata.annotations';

export const validatePod: Validator = (write) => {
  const { object, old, subresource, naming } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const annotations = recordIn(object, 'metadata', 'annotations');
  const before = recordIn(old, 'metadata', 'annotations');
  const podName = textAt(recordAt(object, 'metadata'), 'name');
  const isStatic = isMirrored(recordAt(object, 'metadata'), naming);
  const validateAnnotations = (): void => {
    validatePodAnnotations({ annotations, spec, path: annotationsPath, before }, write);
  };
  const validateSpec = (): void => {
    validatePodSpec(spec, 'spec', { isPod: true, podName, isStatic }, write);
    validateTokens(spec, write);
  };
  if (old === undefined) {
    validateAnnotations();
    validateSpec();
    validateNew(spec, write);
    validateProfilesMatch({ annotations, spec }, 'spec', write);
    return;
  }
  const oldSpec = recordAt(old, 'spec') ?? {};
  if (subresource === 'status') {
    validateAnnotationChange(annotations, before, annotationsPath, write);
    validateAnnotations();
    if (textAt(spec, 'nodeName') !== textAt(oldSpec, 'nodeName')) {
      write.errors.forbidden('spec.nodeName', 'may not be changed directly');
    }
    validatePodStatus(write, oldSpec);
    return;
  }
  const isSame = sameJson(spec, oldSpec);
  validateAnnotations();
  if (!isSame) validateSpec();
  if (subresource === 'resize') {
    validateResize(write, spec, oldSpec);
    return;
  }
  validateAnnotationChange(annotations, before, annotationsPath, write);
  if (subresource === 'ephemeralcontainers') validateEphemeralChange(write, spec, oldSpec);
  else if (!isSame) validateSpecUpdate(write, spec, oldSpec);
};

/** Tokens are those of an account; a template may leave it to admission to name one. */
function validateTokens(spec: JsonObject, { errors }: ValidatedWrite): void {
  if (textAt(spec, 'serviceAccountName') !== '') return;
  for (const [at, volume] of recordsAt(spec, 'volumes').entries()) {
    const sources = recordsAt(recordAt(volume, 'projected'), 'sources');
    for (const [index, source] of sources.entries()) {
      if (!isSet(source, 'serviceAccountToken')) continue;
      const path = `spec.volumes[${String(at)}].projected.sources[${String(index)}]`;
      const detail = 'must not be specified when serviceAccountName is not set';
      errors.forbidden(`${path}.serviceAccountToken`, detail);
    }
  }
}

function validateNew(spec: JsonObject, { errors }: ValidatedWrite): void {
  if (recordsAt(spec, 'ephemeralContainers').length > 0) {
    const detail = 'cannot be set on create';
    errors.forbidden('spec.ephemeralContainers', detail);
  }
  if (textAt(spec, 'nodeName') !== '' && recordsAt(spec, 'schedulingGates').length > 0) {
    errors.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared');
  }
}

const updatable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

function validateSpecUpdate(write: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const { errors } = write;
  for (const list of ['containers', 'initContainers']) {
    if (recordsAt(spec, list).length !== recordsAt(old, list).length) {
      errors.forbidden(`spec.${list}`, 'pod updates may not add or remove containers');
      return;
    }
    validateImages(write, spec, list);
  }
  if (!validateDeadline(write, spec, old)) return;
  validateTolerationChange(write, spec, old);
  validateGates(write, spec, old);
  const munged = cloneJson(spec);
  allowChanges(munged, old);
  if (sameJson(munged, old)) return;
  const names = [...new Set([...Object.keys(munged), ...Object.keys(old)])]
    .filter((name) => changed(munged, old, name))
    .sort();
  const detail = `pod updates may not change fields other than ${updatable.join(',')}`;
  errors.forbidden('spec', `${detail}; changed: ${names.join(', ')}`);
}

/** Undoes in `munged` what an update may change, so that what is left must be equal. */
function allowChanges(munged: JsonObject, old: JsonObject): void {
  const keep = (of: JsonObject, from: JsonObject | undefined, name: string): void => {
    const value = from?.[name];
    if (value === undefined) Reflect.deleteProperty(of, name);
    else of[name] = cloneJson(value);
  };
  for (const list of ['containers', 'initContainers']) {
    const before = recordsAt(old, list);
    for (const [at, container] of recordsAt(munged, list).entries()) {
      keep(container, before[at], 'image');
    }
  }
  for (const name of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates']) {
    keep(munged, old, name);
  }
  const grace = numberAt(old, 'terminationGracePeriodSeconds') ?? 0;
  if (grace < 0 && munged['terminationGracePeriodSeconds'] === 1) {
    keep(munged, old, 'terminationGracePeriodSeconds');
  }
  if (recordsAt(old, 'schedulingGates').length === 0) return;
  keep(munged, old, 'nodeSelector');
  const affinity = recordAt(munged, 'affinity');
  const before = recordAt(old, 'affinity');
  const nodes = recordAt(before, 'nodeAffinity');
  if (affinity === undefined) {
    if (nodes !== undefined) munged['affinity'] = { nodeAffinity: cloneJson(nodes) };
  } else if (before === undefined && Object.keys(affinity).every((one) => one === 'nodeAffinity')) {
    Reflect.deleteProperty(munged, 'affinity');
  } else keep(affinity, before, 'nodeAffinity');
}

function validateImages({ errors }: ValidatedWrite, spec: JsonObject, list: string): void {
  for (const [at, container] of recordsAt(spec, list).entries()) {
    const image = textAt(container, 'image');
    const where = `spec.${list}[${String(at)}].image`;
    if (image === '') errors.required(where);
    else if (image.trim() !== image) {
      errors.invalid(where, image, 'must not have leading or trailing whitespace');
    }
  }
}

const secondsMax = 2 ** 31 - 1;

/** @returns whether it is worth while to look further. */
function validateDeadline({ errors }: ValidatedWrite, spec: JsonObject, old: JsonObject): boolean {
  const seconds = numberAt(spec, 'activeDeadlineSeconds');
  const before = numberAt(old, 'activeDeadlineSeconds');
  const at = 'spec.activeDeadlineSeconds';
  if (seconds === undefined) {
    if (before === undefined) return true;
    errors.invalid(at, null, 'must not update from a positive integer to nil value');
  } else if (seconds < 0 || seconds > secondsMax) {
    errors.invalid(at, seconds, `must be between 0 and ${String(secondsMax)}, inclusive`);
    return false;
  } else if (before !== undefined && seconds > before) {
    errors.invalid(at, seconds, 'must be less than or equal to previous value');
    return false;
  }
  return true;
}

/** Tolerations may be added, and their time may be changed. */
function validateTolerationChange(write: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const identityOf = (toleration: JsonObject): string =>
    JSON.stringify(['key', 'operator', 'value', 'effect'].map((name) => textAt(toleration, name)));
  const now = new Set(recordsAt(spec, 'tolerations').map(identityOf));
  for (const toleration of recordsAt(old, 'tolerations')) {
    if (now.has(identityOf(toleration))) continue;
    write.errors.forbidden(
      'spec.tolerations',
      'existing toleration can not be modified except its tolerationSeconds',
    );
    return;
  }
  validateTolerations(recordsAt(spec, 'tolerations'), 'spec.tolerations', write);
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/** Gates go one by one; while there are some, where the pod may run can only be narrowed. */
function validateGates({ errors }: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const before = new Set(recordsAt(old, 'schedulingGates').map((gate) => textAt(gate, 'name')));
  const gates = new Map<string, number>();
  for (const [at, gate] of recordsAt(spec, 'schedulingGates').entries()) {
    gates.set(textAt(gate, 'name'), at);
  }
  for (const [name, at] of gates) {
    if (before.has(name)) continue;
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.forbidden(`spec.schedulingGates[${String(at)}].name`, detail);
  }
  if (before.size === 0) return;
  const selector = recordAt(spec, 'nodeSelector');
  for (const [key, value] of Object.entries(recordAt(old, 'nodeSelector') ?? {})) {
    if (selector?.[key] === value) continue;
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    errors.invalid('spec.nodeSelector', selector ?? null, detail);
    break;
  }
  const nodeTerms = (of: JsonObject): readonly JsonObject[] =>
    recordsAt(
      recordAt(recordAt(recordAt(of, 'affinity'), 'nodeAffinity'), required),
      'nodeSelectorTerms',
    );
  const terms = nodeTerms(spec);
  const oldTerms = nodeTerms(old);
  if (oldTerms.length === 0) return;
  const path = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`;
  if (terms.length !== oldTerms.length) {
    errors.invalid(
      path,
      terms,
      'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
    );
    return;
  }
  for (const [at, term] of terms.entries()) {
    if (isNarrowed(term, oldTerms[at])) continue;
    const detail = 'only additions are allowed (no mutations or deletions)';
    errors.invalid(`${path}[${String(at)}]`, term, detail);
  }
}

/** A term that selects nothing stays so. */
function isNarrowed(term: JsonObject, old: JsonObject | undefined): boolean {
  const lists = ['matchExpressions', 'matchFields'];
  const isEmpty = lists.every((list) => recordsAt(old, list).length === 0);
  if (isEmpty) return lists.every((list) => recordsAt(term, list).length === 0);
  return lists.every((list) => {
    const now = recordsAt(term, list);
    return recordsAt(old, list).every((one, index) => sameJson(one, now[index]));
  });
}
