// Updates of a pod by its subresources: ephemeral containers are only added, a resize changes cpu
// and memory alone.
import { isSet, listAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { sameJson } from '../../api/json-equal.ts';
import { without } from '../../api/json-value.ts';
import { isEmpty } from '../../api/presence.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ValidatedWrite } from '../validator.ts';
import { isStaying } from './container-totals.ts';
import { isMirrored } from './pod-annotations.ts';
import { qualityOf } from './pod-quality.ts';

/** The stored pod counts: its mark cannot change. */
const isStatic = ({ old, naming }: ValidatedWrite): boolean =>
  isMirrored(recordAt(old, 'metadata'), naming);

export function validateEphemeralChange(
  write: ValidatedWrite,
  spec: JsonObject,
  old: JsonObject,
): void {
  const { errors } = write;
  const path = 'spec.ephemeralContainers';
  if (isStatic(write)) {
    errors.forbidden('', 'static pods do not support ephemeral containers');
    return;
  }
  const now = new Map(
    recordsAt(spec, 'ephemeralContainers').map((one) => [textAt(one, 'name'), one]),
  );
  for (const container of recordsAt(old, 'ephemeralContainers')) {
    const name = textAt(container, 'name');
    const same = now.get(name);
    if (same === undefined) {
      const detail = `existing ephemeral containers ${JSON.stringify(name)} may not be removed`;
      errors.forbidden(path, detail);
    } else if (!sameJson(same, container)) {
      const detail = `existing ephemeral containers ${JSON.stringify(name)} may not be changed`;
      errors.forbidden(path, detail);
    }
  }
}

const resizable = ['cpu', 'memory'];
const podLevel = 'InPlacePodLevelResourcesVerticalScaling';

export function validateResize(write: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const { errors, isOn, object, old: stored } = write;
  if (isStatic(write)) {
    errors.forbidden('', 'static pods cannot be resized');
    return;
  }
  if (textAt(recordAt(spec, 'os'), 'name') === 'windows') {
    errors.forbidden('', 'windows pods cannot be resized');
    return;
  }
  const before = textAt(recordAt(stored, 'status'), 'qosClass') || qualityOf(stored ?? {});
  if (qualityOf(object) !== before) {
    errors.invalid('spec', before, 'Pod QOS Class may not change as a result of resizing');
  }
  if (!canResize(stored)) {
    errors.forbidden('spec', 'Pod running on node without support for resize');
  }
  if (statesResources(spec) || statesResources(old)) {
    if (!isOn(podLevel)) {
      errors.forbidden(
        '',
        `pods with pod-level resources are only resized with the gate ${podLevel}`,
      );
      return;
    }
    validatePodResize(spec, old, errors);
  }
  if (!hasSameContainers(spec, old, errors)) return;
  for (const [list, validate] of [
    ['initContainers', validateInitResize],
    ['containers', validateContainerResize],
  ] as const) {
    const twins = recordsAt(old, list);
    for (const [at, container] of recordsAt(spec, list).entries()) {
      validate(container, twins[at] ?? {}, `spec.${list}[${String(at)}]`, write);
    }
  }
}

/** A node that reports no resources of what runs cannot change them. */
function canResize(pod: Readonly<JsonObject> | undefined): boolean {
  const running = recordsAt(recordAt(pod, 'status'), 'containerStatuses').find((one) =>
    isSet(recordAt(one, 'state'), 'running'),
  );
  return running === undefined || isSet(running, 'resources');
}

const resourceLists = ['requests', 'limits'] as const;
const statesResources = (spec: JsonObject): boolean =>
  resourceLists.some((list) => !isEmpty(recordAt(recordAt(spec, 'resources'), list)));

/** Containers are compared by their place: they must be the same, in the same order. */
function hasSameContainers(spec: JsonObject, old: JsonObject, errors: FieldErrors): boolean {
  let isSame = true;
  for (const list of ['containers', 'initContainers']) {
    const [now, before] = [recordsAt(spec, list), recordsAt(old, list)];
    if (now.length !== before.length) {
      errors.forbidden(`spec.${list}`, `${list} may not be added or removed on resize`);
      isSame = false;
      continue;
    }
    for (const [at, one] of now.entries()) {
      if (textAt(one, 'name') === textAt(before[at], 'name')) continue;
      const detail = `${list} may not be renamed or reordered on resize`;
      errors.forbidden(`spec.${list}[${String(at)}].name`, detail);
      isSame = false;
    }
  }
  return isSame;
}

/** What the pod states for all its containers together may be added, and never goes. */
function validatePodResize(spec: JsonObject, old: JsonObject, errors: FieldErrors): void {
  if (isSet(old, 'resources') && !isSet(spec, 'resources')) {
    errors.forbidden('spec.resources', 'pod-level resources cannot be removed');
    return;
  }
  validateRemoval(spec, old, 'spec', errors);
  if (sameJson(withoutResizable(spec)['resources'], withoutResizable(old)['resources'])) return;
  errors.forbidden('spec', 'only cpu and memory resources are mutable at pod-level');
}

type ResizeCheck = (
  container: JsonObject,
  old: JsonObject,
  path: string,
  write: ValidatedWrite,
) => void;

const validateContainerResize: ResizeCheck = (container, old, path, { errors }) => {
  validateRemoval(container, old, path, errors);
  if (isOnlyResized(container, old)) return;
  errors.forbidden('spec', 'only cpu and memory resources are mutable');
};

const validateInitResize: ResizeCheck = (container, old, path, { errors, isOn }) => {
  const stays = isStaying(container);
  if (!stays && !isOn('InPlacePodVerticalScalingInitContainers')) {
    if (sameJson(container, old)) return;
    errors.forbidden('spec', 'resources for non-sidecar init containers are immutable');
    return;
  }
  validateRemoval(container, old, path, errors);
  if (!isOnlyResized(container, old)) {
    errors.forbidden(path, 'only cpu and memory resources of init containers are mutable');
  }
  if (stays || sameJson(container, old)) return;
  for (const policy of recordsAt(container, 'resizePolicy')) {
    if (textAt(policy, 'restartPolicy') !== 'RestartContainer') continue;
    const detail = 'init containers that end cannot be resized with the policy RestartContainer';
    errors.forbidden(path, detail);
  }
};

function validateRemoval(
  holder: JsonObject,
  old: JsonObject,
  path: string,
  errors: FieldErrors,
): void {
  for (const list of resourceLists) {
    const now = recordAt(recordAt(holder, 'resources'), list);
    const before = Object.keys(recordAt(recordAt(old, 'resources'), list) ?? {});
    if (before.every((name) => isSet(now, name))) continue;
    errors.forbidden(`${path}.resources.${list}`, `resource ${list} cannot be removed`);
  }
}

/** As in Kubernetes, a container that claims devices is not resized. */
function isOnlyResized(container: JsonObject, old: JsonObject): boolean {
  const hasClaims = listAt(recordAt(old, 'resources'), 'claims').length > 0;
  return !hasClaims && sameJson(withoutResizable(container), withoutResizable(old));
}

/** A container, or the spec of a pod, without what a resize may change. */
function withoutResizable(holder: JsonObject): JsonObject {
  const rest = { ...recordAt(holder, 'resources') };
  for (const list of resourceLists) {
    const others = without(recordAt(rest, list) ?? {}, ...resizable);
    if (isEmpty(others)) Reflect.deleteProperty(rest, list);
    else rest[list] = others;
  }
  return { ...holder, resources: rest };
}
