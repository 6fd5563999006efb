// Pods: creation, and which parts of a pod each kind of update may change.
import { isSet, numberAt, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import { ipFamily } from '../../api/ip-address.ts';
import { ipProblems } from '../../api/address-formats.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { cloneJson } from '../../api/json-value.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { changed, isIntegerText, joinTexts } from '../validator.ts';
import { validateEphemeralChange, validateResize } from './pod-subresources.ts';
import { validatePodSpec } from './pod-spec.ts';

export const validatePod: Validator = (write) => {
  const { object, old, subresource } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const podName = textAt(recordAt(object, 'metadata'), 'name');
  if (old === undefined) {
    validatePodSpec(spec, 'spec', { isPod: true, podName }, write);
    validateNew(spec, write);
    validateAnnotations(write);
    return;
  }
  const oldSpec = recordAt(old, 'spec') ?? {};
  const isSame = sameJson(spec, oldSpec);
  if (!isSame) validatePodSpec(spec, 'spec', { isPod: true, podName }, write);
  switch (subresource) {
    case 'status':
      validateStatus(write, spec, oldSpec);
      break;
    case 'ephemeralcontainers':
      validateEphemeralChange(write, spec, oldSpec);
      break;
    case 'resize':
      validateResize(write, spec, oldSpec);
      break;
    case '':
      validateAnnotations(write);
      if (!isSame) validateSpecUpdate(write, spec, oldSpec);
      break;
    default:
      break;
  }
};

function validateNew(spec: JsonObject, { errors }: ValidatedWrite): void {
  if (recordsAt(spec, 'ephemeralContainers').length > 0) {
    const detail = 'cannot be set on create: ephemeral containers are added to running pods';
    errors.forbidden('spec.ephemeralContainers', detail);
  }
  if (textAt(spec, 'nodeName') !== '' && recordsAt(spec, 'schedulingGates').length > 0) {
    errors.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared');
  }
}

/** Annotations that have a meaning to the server: their values must fit the fields. */
function validateAnnotations({ object, old, errors, naming }: ValidatedWrite): void {
  const annotations = recordAt(recordAt(object, 'metadata'), 'annotations');
  const before = recordAt(recordAt(old, 'metadata'), 'annotations');
  if (annotations === undefined && before === undefined) return;
  const key = (name: string): string => naming.resolve(name);
  const cost = key('controller.{kubernetes}.io/pod-deletion-cost');
  const path = 'metadata.annotations';
  if (isSet(annotations, cost)) {
    const text = textAt(annotations, cost);
    const number = Number(text);
    const isRight =
      isIntegerText(text) && !/^[+]|^-?0\d/.test(text) && Math.abs(number) < 2_147_483_648;
    if (!isRight) errors.invalid(`${path}[${cost}]`, text, 'must be a 32bit integer');
  }
  const mirror = key('{kubernetes}.io/config.mirror');
  if (old === undefined) {
    validateArmor(object, annotations, path, errors, naming);
    const nodeName = textAt(recordAt(object, 'spec'), 'nodeName');
    if (isSet(annotations, mirror) && nodeName === '') {
      const detail = 'must set spec.nodeName if mirror pod annotation is set';
      errors.invalid(`${path}[${mirror}]`, textAt(annotations, mirror), detail);
    }
    return;
  }
  if (valueAt(annotations, mirror) !== valueAt(before, mirror)) {
    errors.forbidden(`${path}[${mirror}]`, 'may not be set, changed or removed');
  }
  const armor = key('container.apparmor.security.beta.{kubernetes}.io/');
  for (const name of new Set([...Object.keys(annotations ?? {}), ...Object.keys(before ?? {})])) {
    if (!name.startsWith(armor) || valueAt(annotations, name) === valueAt(before, name)) continue;
    errors.forbidden(`${path}[${name}]`, 'may not be set, changed or removed');
  }
}

const armorProfile = /^(runtime\/default|unconfined|localhost\/.+)$/;

/** AppArmor by annotation: for a container of the pod, and not against its field. */
function validateArmor(
  object: JsonObject,
  annotations: JsonObject | undefined,
  path: string,
  errors: ValidatedWrite['errors'],
  naming: NamingProfile,
): void {
  const prefix = naming.resolve('container.apparmor.security.beta.{kubernetes}.io/');
  const spec = recordAt(object, 'spec');
  const containers = ['containers', 'initContainers'].flatMap((list) => recordsAt(spec, list));
  for (const key of Object.keys(annotations ?? {})) {
    if (!key.startsWith(prefix)) continue;
    const name = key.slice(prefix.length);
    const container = containers.find((one) => textAt(one, 'name') === name);
    const profile = textAt(annotations, key);
    if (container === undefined) {
      errors.invalid(`${path}[${key}]`, name, 'container not found');
      continue;
    }
    if (!armorProfile.test(profile)) {
      const detail = 'must be runtime/default, unconfined or localhost/<profile>';
      errors.invalid(`${path}[${key}]`, profile, detail);
    }
    const field = recordAt(recordAt(container, 'securityContext'), 'appArmorProfile');
    const said = { RuntimeDefault: 'runtime/default', Unconfined: 'unconfined' };
    const type = textAt(field, 'type');
    const wanted =
      type === 'Localhost'
        ? `localhost/${textAt(field, 'localhostProfile')}`
        : said[type as keyof typeof said];
    if (field === undefined || wanted === profile) continue;
    errors.forbidden(`${path}[${key}]`, 'apparmor type in annotation and field must match');
  }
}

function validateSpecUpdate(write: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const { errors } = write;
  for (const list of ['containers', 'initContainers']) {
    if (recordsAt(spec, list).length === recordsAt(old, list).length) continue;
    errors.forbidden(`spec.${list}`, 'pod updates may not add or remove containers');
    return;
  }
  validateImages(write, spec, old);
  validateDeadline(write, spec, old);
  validateTolerationChange(write, spec, old);
  validateGates(write, spec, old);
  const munged = cloneJson(spec);
  allowChanges(munged, old);
  if (sameJson(munged, old)) return;
  const names = [...new Set([...Object.keys(munged), ...Object.keys(old)])]
    .filter((name) => changed(munged, old, name))
    .sort();
  const detail =
    'pod updates may not change fields other than `spec.containers[*].image`,' +
    '`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` ' +
    '(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` ' +
    `(allow it to be set to 1 if it was previously negative); changed: ${names.join(', ')}`;
  errors.forbidden('spec', detail);
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
  if (affinity !== undefined) keep(affinity, recordAt(old, 'affinity'), 'nodeAffinity');
}

function validateImages({ errors }: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  for (const list of ['containers', 'initContainers']) {
    const before = recordsAt(old, list);
    for (const [at, container] of recordsAt(spec, list).entries()) {
      if (!changed(container, before[at], 'image')) continue;
      if (textAt(container, 'image') !== '') continue;
      errors.required(`spec.${list}[${String(at)}].image`);
    }
  }
}

function validateDeadline({ errors }: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const seconds = numberAt(spec, 'activeDeadlineSeconds');
  const before = numberAt(old, 'activeDeadlineSeconds');
  const at = 'spec.activeDeadlineSeconds';
  if (before === undefined) return;
  if (seconds === undefined) {
    errors.invalid(at, null, 'must not update from a positive integer to nil value');
  } else if (seconds > before) {
    const detail = `must be less than or equal to previous value (${String(before)})`;
    errors.invalid(at, seconds, detail);
  }
}

/** Tolerations may be added, and their time may be changed. */
function validateTolerationChange(
  { errors }: ValidatedWrite,
  spec: JsonObject,
  old: JsonObject,
): void {
  const identityOf = (toleration: JsonObject): string =>
    JSON.stringify(['key', 'operator', 'value', 'effect'].map((name) => textAt(toleration, name)));
  const now = new Set(recordsAt(spec, 'tolerations').map(identityOf));
  for (const toleration of recordsAt(old, 'tolerations')) {
    if (now.has(identityOf(toleration))) continue;
    errors.forbidden(
      'spec.tolerations',
      'existing toleration can not be modified except its tolerationSeconds',
    );
    return;
  }
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/** Gates go one by one; while there are some, where the pod may run can only be narrowed. */
function validateGates({ errors }: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const before = new Set(recordsAt(old, 'schedulingGates').map((gate) => textAt(gate, 'name')));
  const added = recordsAt(spec, 'schedulingGates')
    .map((gate) => textAt(gate, 'name'))
    .filter((name) => !before.has(name));
  if (added.length > 0) {
    const detail = `only deletion is allowed, but found new scheduling gates: ${joinTexts(added)}`;
    errors.forbidden('spec.schedulingGates', detail);
  }
  if (before.size === 0) return;
  const selector = recordAt(spec, 'nodeSelector');
  for (const [key, value] of Object.entries(recordAt(old, 'nodeSelector') ?? {})) {
    if (selector?.[key] === value) continue;
    const detail = 'only additions are allowed (no mutations or deletions)';
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
    for (const list of ['matchExpressions', 'matchFields']) {
      const now = recordsAt(term, list);
      const had = recordsAt(oldTerms[at], list);
      if (had.every((one, index) => sameJson(one, now[index]))) continue;
      const detail = 'only additions are allowed (no mutations or deletions)';
      errors.invalid(`${path}[${String(at)}]`, term, detail);
    }
  }
}

function validateStatus(write: ValidatedWrite, spec: JsonObject, oldSpec: JsonObject): void {
  const { object, old, errors } = write;
  const status = recordAt(object, 'status');
  const before = recordAt(old, 'status');
  if (textAt(spec, 'nodeName') !== textAt(oldSpec, 'nodeName')) {
    errors.forbidden('spec.nodeName', 'may not be changed directly');
  }
  const quality = textAt(before, 'qosClass');
  if (quality !== '' && textAt(status, 'qosClass') !== quality) {
    errors.invalid('status.qosClass', textAt(status, 'qosClass'), 'field is immutable');
  }
  const policy = textAt(spec, 'restartPolicy');
  if (policy === 'Never' || policy === 'OnFailure') {
    for (const list of ['containerStatuses', 'initContainerStatuses']) {
      validateTerminated(
        recordsAt(status, list),
        recordsAt(before, list),
        `status.${list}`,
        policy,
        write,
      );
    }
  }
  validateAddresses(write, status, 'podIPs', 'podIP', 'ip');
  validateAddresses(write, status, 'hostIPs', 'hostIP', 'ip');
  const claims = new Set(recordsAt(spec, 'resourceClaims').map((claim) => textAt(claim, 'name')));
  for (const [at, claim] of recordsAt(status, 'resourceClaimStatuses').entries()) {
    const name = textAt(claim, 'name');
    if (claims.has(name)) continue;
    const detail = 'must match the name of an entry in `spec.resourceClaims`';
    errors.invalid(`status.resourceClaimStatuses[${String(at)}].name`, name, detail);
  }
}

/** A container that has ended for good does not run again. */
function validateTerminated(
  statuses: readonly JsonObject[],
  before: readonly JsonObject[],
  path: string,
  policy: string,
  { errors }: ValidatedWrite,
): void {
  for (const old of before) {
    const ended = recordAt(recordAt(old, 'state'), 'terminated');
    if (ended === undefined) continue;
    if (policy === 'OnFailure' && (numberAt(ended, 'exitCode') ?? 0) !== 0) continue;
    const at = statuses.findIndex((one) => textAt(one, 'name') === textAt(old, 'name'));
    const now = statuses[at];
    if (now === undefined || isSet(recordAt(now, 'state'), 'terminated')) continue;
    const detail = 'may not be transitioned to non-terminated state';
    errors.forbidden(`${path}[${String(at)}].state`, detail);
  }
}

function validateAddresses(
  { errors }: ValidatedWrite,
  status: JsonObject | undefined,
  list: string,
  single: string,
  member: string,
): void {
  const addresses = recordsAt(status, list).map((one) => textAt(one, member));
  const path = `status.${list}`;
  for (const [at, address] of addresses.entries()) {
    errors.problems(`${path}[${String(at)}]`, address, ipProblems(address));
  }
  const families = new Set(addresses.map(ipFamily));
  if (addresses.length > 1 && families.size !== addresses.length) {
    const detail = 'may specify no more than one IP for each IP family';
    errors.invalid(path, addresses, detail);
  }
  const first = textAt(status, single);
  if (addresses.length > 0 && first !== '' && addresses[0] !== first) {
    errors.invalid(path, addresses, `first entry must be equal to ${single}`);
  }
}
