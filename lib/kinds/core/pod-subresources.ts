// Updates of a pod by its subresources: ephemeral containers are only added, a resize changes cpu
// and memory alone.
import { isSet, listAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { cloneJson, without } from '../../api/json-value.ts';
import type { ValidatedWrite } from '../validator.ts';
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

export function validateResize(write: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const { errors, object, old: stored } = write;
  if (isStatic(write)) {
    errors.forbidden('', 'static pods cannot be resized');
    return;
  }
  if (textAt(recordAt(spec, 'os'), 'name') === 'windows') {
    errors.forbidden('', 'windows pods cannot be resized');
    return;
  }
  if (!canResize(stored)) {
    errors.forbidden('spec', 'Pod running on node without support for resize');
  }
  const before = textAt(recordAt(stored, 'status'), 'qosClass') || qualityOf(stored ?? {});
  if (qualityOf(object) !== before) {
    errors.invalid('spec', before, 'Pod QOS Class may not change as a result of resizing');
  }
  if (!hasSameContainers(spec, old, errors)) return;
  for (const list of ['containers', 'initContainers']) {
    const twins = recordsAt(old, list);
    for (const [at, container] of recordsAt(spec, list).entries()) {
      validateRemoval(container, twins[at], `spec.${list}[${String(at)}].resources`, write);
    }
  }
  validateRemoval(spec, old, 'spec.resources', write);
  if (!sameJson(withoutResizable(spec), withoutResizable(old))) {
    errors.forbidden('spec', 'only cpu and memory resources are mutable');
  }
}

/** A node that reports no resources of what runs cannot change them. */
function canResize(pod: Readonly<JsonObject> | undefined): boolean {
  const running = recordsAt(recordAt(pod, 'status'), 'containerStatuses').find((one) =>
    isSet(recordAt(one, 'state'), 'running'),
  );
  return running === undefined || isSet(running, 'resources');
}

/** Containers are compared by their place: they must be the same, in the same order. */
function hasSameContainers(spec: JsonObject, old: JsonObject, errors: FieldErrors): boolean {
  let isSame = true;
  for (const list of ['containers', 'initContainers']) {
    const [now, before] = [recordsAt(spec, list), recordsAt(old, list)];
    const isMoved = now.some((one, at) => textAt(one, 'name') !== textAt(before[at], 'name'));
    if (now.length !== before.length) {
      errors.forbidden('spec', `${list} may not be added or removed`);
    } else if (isMoved) {
      errors.forbidden('spec', `${list} may not be renamed or reordered`);
    } else continue;
    isSame = false;
  }
  return isSame;
}

function validateRemoval(
  holder: JsonObject,
  old: JsonObject | undefined,
  path: string,
  { errors }: ValidatedWrite,
): void {
  const now = recordAt(holder, 'resources');
  const before = recordAt(old, 'resources');
  for (const list of ['requests', 'limits']) {
    for (const name of resizable) {
      if (!isSet(recordAt(before, list), name) || isSet(recordAt(now, list), name)) continue;
      errors.forbidden(path, `resource ${list} cannot be removed`);
    }
  }
}

/** The spec without what a resize may change. Only containers that keep running can be resized. */
function withoutResizable(spec: JsonObject): JsonObject {
  const rest = cloneJson(spec);
  const holders = [rest, ...recordsAt(rest, 'containers')];
  for (const container of recordsAt(rest, 'initContainers')) {
    if (textAt(container, 'restartPolicy') === 'Always') holders.push(container);
  }
  for (const holder of holders) {
    const resources = recordAt(holder, 'resources');
    if (resources === undefined) continue;
    for (const list of ['requests', 'limits']) {
      const amounts = recordAt(resources, list);
      if (amounts !== undefined) resources[list] = without(amounts, ...resizable);
    }
    if (listAt(resources, 'claims').length === 0) delete resources['claims'];
  }
  return rest;
}
