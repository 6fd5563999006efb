// The status of a pod, as its node writes it.
import { ipProblems } from '../../api/address-formats.ts';
import { ipFamily } from '../../api/ip-address.ts';
import { isSet, listAt, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder, ValidatedWrite } from '../validator.ts';

type Errors = ValidatedWrite['errors'];

const statusLists = {
  containerStatuses: 'containers',
  initContainerStatuses: 'initContainers',
} as const;
const ephemeralStatuses = 'ephemeralContainerStatuses';

/** `spec` is the stored one: writes of the status do not change it. */
export function validatePodStatus(write: ValidatedWrite, spec: JsonObject): void {
  const { errors, isOn } = write;
  const status = recordAt(write.object, 'status');
  const before = recordAt(write.old, 'status');
  validateConditions(status, errors);
  const nominated = textAt(status, 'nominatedNodeName');
  const isBound = textAt(spec, 'nodeName') !== '';
  const isNominated = nominated !== '' && nominated !== textAt(before, 'nominatedNodeName');
  if (isBound && isNominated && isOn('ClearingNominatedNodeNameAfterBinding')) {
    const detail = 'may not be set on pods that are already bound to a node';
    errors.forbidden('status.nominatedNodeName', detail);
  }
  validateGeneration(status, 'status', errors);
  const quality = textAt(status, 'qosClass');
  if (quality !== textAt(before, 'qosClass')) {
    errors.invalid('status.qosClass', quality, 'field is immutable');
  }
  const hasRestarts = isOn('ContainerRestartRules') && isOn('RestartAllContainersOnContainerExits');
  const startsAgain = hasRestarts && restartsAll(spec);
  for (const [list, containers] of Object.entries(statusLists)) {
    const old = recordsAt(before, list);
    const now = recordsAt(status, list);
    const path = `status.${list}`;
    const those = byName(recordsAt(spec, containers));
    validateTransitions(
      now,
      old,
      path,
      errors,
      (name, exitCode) => startsAgain || mayRestart(those.get(name), exitCode, spec, write),
    );
    validateAllocated(now, those, path, errors);
  }
  validateTransitions(
    recordsAt(status, ephemeralStatuses),
    recordsAt(before, ephemeralStatuses),
    `status.${ephemeralStatuses}`,
    errors,
    () => false,
  );
  validateClaims(status, spec, errors);
  validateAddresses(status, before, 'podIPs', errors);
  const [host] = recordsAt(status, 'hostIPs');
  if (host !== undefined && textAt(host, 'ip') !== textAt(status, 'hostIP')) {
    errors.invalid('status.hostIPs[0].ip', textAt(host, 'ip'), 'must be equal to `hostIP`');
  }
  validateAddresses(status, before, 'hostIPs', errors);
  for (const list of [...Object.keys(statusLists), ephemeralStatuses]) {
    validateUsers(recordsAt(status, list), `status.${list}`, spec, errors);
  }
  for (const [at, one] of recordsAt(status, ephemeralStatuses).entries()) {
    if (listAt(one, 'allocatedResourcesStatus').length === 0) continue;
    const where = `status.${ephemeralStatuses}[${String(at)}].allocatedResourcesStatus`;
    errors.forbidden(where, 'must not be specified in container status');
  }
}

const byName = (list: readonly JsonObject[]): ReadonlyMap<string, JsonObject> =>
  new Map([...list].reverse().map((one) => [textAt(one, 'name'), one]));

function validateTransitions(
  now: readonly JsonObject[],
  before: readonly JsonObject[],
  path: string,
  errors: Errors,
  isAllowed: (name: string, exitCode: number) => boolean,
): void {
  const statuses = byName(now);
  for (const [at, old] of before.entries()) {
    const ended = recordAt(recordAt(old, 'state'), 'terminated');
    if (ended === undefined) continue;
    const name = textAt(old, 'name');
    const same = statuses.get(name);
    if (same === undefined || isSet(recordAt(same, 'state'), 'terminated')) continue;
    if (isAllowed(name, numberAt(ended, 'exitCode') ?? 0)) continue;
    const detail = 'may not be transitioned to non-terminated state';
    errors.forbidden(`${path}[${String(at)}].state`, detail);
  }
}

/** Whether a container runs again after it ended. */
function mayRestart(
  container: JsonObject | undefined,
  exitCode: number,
  spec: JsonObject,
  { isOn }: ValidatedWrite,
): boolean {
  if (container === undefined) return false;
  if (isOn('ContainerRestartRules')) {
    const rule = recordsAt(container, 'restartPolicyRules').find((one) =>
      isMatch(recordAt(one, 'exitCodes'), exitCode),
    );
    if (rule !== undefined) return textAt(rule, 'action') === 'Restart';
  }
  const policy = textAt(container, 'restartPolicy') || textAt(spec, 'restartPolicy');
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never';
}

const restartsAll = (spec: JsonObject): boolean =>
  Object.values(statusLists).some((list) =>
    recordsAt(spec, list).some((container) =>
      recordsAt(container, 'restartPolicyRules').some(
        (rule) => textAt(rule, 'action') === 'RestartAllContainers',
      ),
    ),
  );

function isMatch(codes: Holder, exitCode: number): boolean {
  if (codes === undefined) return false;
  const isIn = listAt(codes, 'values').includes(exitCode);
  return textAt(codes, 'operator') === 'In' ? isIn : !isIn;
}

const knownConditions = ['PodScheduled', 'Ready', 'Initialized'];

function validateConditions(status: Holder, errors: Errors): void {
  for (const [at, condition] of recordsAt(status, 'conditions').entries()) {
    const path = `status.conditions[${String(at)}]`;
    validateGeneration(condition, path, errors);
    const type = textAt(condition, 'type');
    if (knownConditions.includes(type)) continue;
    errors.problems(`${path}.Type`, type, qualifiedNameProblems(type));
  }
}

function validateGeneration(of: Holder, path: string, errors: Errors): void {
  const generation = numberAt(of, 'observedGeneration') ?? 0;
  if (generation >= 0) return;
  errors.invalid(`${path}.observedGeneration`, generation, 'must be a non-negative integer');
}

const healths = ['Healthy', 'Unhealthy', 'Unknown'];

/** What a node says of the devices that a container was given. */
function validateAllocated(
  statuses: readonly JsonObject[],
  containers: ReadonlyMap<string, JsonObject>,
  path: string,
  errors: Errors,
): void {
  for (const [at, status] of statuses.entries()) {
    const container = containers.get(textAt(status, 'name'));
    const known = namesOf(container);
    for (const [index, given] of recordsAt(status, 'allocatedResourcesStatus').entries()) {
      const where = `${path}[${String(at)}].allocatedResourcesStatus[${String(index)}]`;
      if (known !== undefined) validateGiven(given, known, `${where}.name`, errors);
      const seen = new Set<string>();
      for (const [place, device] of recordsAt(given, 'resources').entries()) {
        const own = `${where}.resources[${String(place)}]`;
        const id = textAt(device, 'resourceID');
        if (seen.has(id)) errors.duplicate(`${own}.resourceID`, id);
        seen.add(id);
        const health = textAt(device, 'health');
        if (!healths.includes(health)) errors.notSupported(`${own}.health`, health, healths);
      }
    }
  }
}

const claimPrefix = 'claim:';

/** What a container may have been given; undefined: it is not known. */
function namesOf(container: JsonObject | undefined): ReadonlySet<string> | undefined {
  if (container === undefined) return undefined;
  const resources = recordAt(container, 'resources');
  const claims = recordsAt(resources, 'claims').map((claim) => {
    const request = textAt(claim, 'request');
    return `${claimPrefix}${textAt(claim, 'name')}${request === '' ? '' : `/${request}`}`;
  });
  const requests = Object.keys(recordAt(resources, 'requests') ?? {});
  return new Set([...requests.filter((name) => !name.startsWith(claimPrefix)), ...claims]);
}

function validateGiven(
  given: JsonObject,
  known: ReadonlySet<string>,
  path: string,
  errors: Errors,
): void {
  const name = textAt(given, 'name');
  if (known.has(name)) return;
  const detail = name.startsWith(claimPrefix)
    ? "must match one of the container's resource claims in a format " +
      "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
    : "must match one of the container's resource requests";
  errors.invalid(path, name, detail);
}

function validateClaims(status: Holder, spec: JsonObject, errors: Errors): void {
  const claims = byName(recordsAt(spec, 'resourceClaims'));
  for (const [at, claim] of recordsAt(status, 'resourceClaimStatuses').entries()) {
    const where = `status.resourceClaimStatuses[${String(at)}]`;
    const name = textAt(claim, 'name');
    if (!claims.has(name)) {
      const detail = 'must match the name of an entry in `spec.resourceClaims`';
      errors.invalid(`${where}.name`, name, detail);
    }
    if (!isSet(claim, 'resourceClaimName')) continue;
    const text = textAt(claim, 'resourceClaimName');
    errors.problems(`${where}.name`, text, dns1123SubdomainProblems(text));
  }
  const extended = recordAt(status, 'extendedResourceClaimStatus');
  if (extended !== undefined) validateExtendedClaim(extended, spec, errors);
}

function validateExtendedClaim(claim: JsonObject, spec: JsonObject, errors: Errors): void {
  const path = 'status.extendedResourceClaimStatus';
  const mappings = recordsAt(claim, 'requestMappings');
  if (mappings.length === 0) {
    errors.required(`${path}.requestMappings`, 'at least one request mapping is required');
  }
  const containers = byName(Object.values(statusLists).flatMap((list) => recordsAt(spec, list)));
  const seen = new Set<string>();
  for (const [at, mapping] of mappings.entries()) {
    const where = `${path}.requestMappings[${String(at)}]`;
    const [containerName, resourceName, requestName] = [
      textAt(mapping, 'containerName'),
      textAt(mapping, 'resourceName'),
      textAt(mapping, 'requestName'),
    ];
    const container = containers.get(containerName);
    if (container === undefined) {
      const detail =
        'must match the name of an entry in spec.initContainers.name or spec.containers.name';
      errors.invalid(`${where}.containerName`, containerName, detail);
    } else if (!isSet(recordAt(recordAt(container, 'resources'), 'requests'), resourceName)) {
      const detail =
        'must match the extended resource name of an entry in ' +
        'spec.initContainers.resources.requests or spec.containers.resources.requests';
      errors.invalid(`${where}.resourceName`, resourceName, detail);
    }
    errors.problems(`${path}.requestName`, requestName, dns1123LabelProblems(requestName));
    const identity = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(identity)) {
      errors.duplicate(`${where}.containerName`, containerName);
      errors.duplicate(`${where}.resourceName`, resourceName);
      errors.duplicate(`${where}.requestName`, requestName);
    }
    seen.add(identity);
  }
  const name = textAt(claim, 'resourceClaimName');
  const at = `${path}.resourceClaimName`;
  if (name === '') errors.required(at);
  else errors.problems(at, name, dns1123SubdomainProblems(name));
}

/** Addresses that are stored may stay as they are written there. */
function validateAddresses(status: Holder, before: Holder, list: string, errors: Errors): void {
  const now = recordsAt(status, list);
  const addresses = now.map((one) => textAt(one, 'ip'));
  const stored = new Set(recordsAt(before, list).map((one) => textAt(one, 'ip')));
  const path = `status.${list}`;
  for (const [at, address] of addresses.entries()) {
    if (stored.has(address)) continue;
    errors.problems(`${path}[${String(at)}]`, address, ipProblems(address));
  }
  if (addresses.length < 2) return;
  const families = addresses.map(ipFamily);
  const wrong = families.indexOf(undefined);
  if (wrong >= 0) {
    const what = `invalid IP[${String(wrong)}]: ${addresses[wrong] ?? ''}`;
    errors.internal(path, `failed to check for dual stack with error:${what}`);
  }
  if (wrong < 0 && new Set(families).size === addresses.length) return;
  errors.invalid(path, now, 'may specify no more than one IP for each IP family');
}

const idMax = 2_147_483_647;

/** The user that containers run as. */
function validateUsers(
  statuses: readonly JsonObject[],
  path: string,
  spec: JsonObject,
  errors: Errors,
): void {
  const isWindows = textAt(recordAt(spec, 'os'), 'name') === 'windows';
  for (const [at, status] of statuses.entries()) {
    const user = recordAt(recordAt(status, 'user'), 'linux');
    if (user === undefined) continue;
    const where = `${path}[${String(at)}].linux`;
    if (isWindows) {
      errors.forbidden(where, 'cannot be set for a windows pod');
      continue;
    }
    const ids: readonly (readonly [string, number])[] = [
      [`${where}.uid`, numberAt(user, 'uid') ?? 0],
      [`${where}.gid`, numberAt(user, 'gid') ?? 0],
      ...listAt(user, 'supplementalGroups').map(
        (id, place) => [`${where}.supplementalGroups[${String(place)}]`, Number(id)] as const,
      ),
    ];
    for (const [place, id] of ids) {
      if (id >= 0 && id <= idMax) continue;
      const detail = `must be between 0 and ${String(idMax)}, inclusive`;
      errors.invalid(place, id, detail);
    }
  }
}
