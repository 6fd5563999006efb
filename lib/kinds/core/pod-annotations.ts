// Annotations of pods and templates that mean something to the server: older forms of fields, which
// must say what the fields say, and marks of pods that nodes run by themselves.
import { localPathProblems } from '../../api/formats.ts';
import { asRecord, isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { ofProfile } from '../../api/vendor.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Holder, Scope } from '../validator.ts';
import { parsedAnnotation } from './node-taints.ts';
import { armorFieldOf, armorKeyPrefix, isArmorText } from './pod-armor.ts';
import { validateTolerations } from './pod-scheduling.ts';
import { containerLists } from './pod-systems.ts';

const keysOf = ofProfile((naming) => ({
  mirror: naming.resolve('{kubernetes}.io/config.mirror'),
  cost: naming.resolve('controller.{kubernetes}.io/pod-deletion-cost'),
  tolerations: naming.resolve('scheduler.alpha.{kubernetes}.io/tolerations'),
  armorPrefix: armorKeyPrefix(naming),
  seccomp: naming.resolve('seccomp.security.alpha.{kubernetes}.io/pod'),
  seccompPrefix: naming.resolve('container.seccomp.security.alpha.{kubernetes}.io/'),
}));

/** What an annotation of seccomp is told where no field says the same. */
export const noSeccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead';

export const seccompKey = (naming: NamingProfile): string => keysOf(naming).seccomp;

/** A container's name follows. */
export const seccompKeyPrefix = (naming: NamingProfile): string => keysOf(naming).seccompPrefix;

/** A pod that a node runs by itself, as the server sees it. */
export const isMirrored = (meta: Holder, naming: NamingProfile): boolean =>
  isSet(recordAt(meta, 'annotations'), keysOf(naming).mirror);

interface Annotated {
  readonly annotations: Holder;
  readonly spec: Holder;
  /** Of the annotations. */
  readonly path: string;
  /** As they are stored: a wrong cost may stay. */
  readonly before?: Holder;
}

export function validatePodAnnotations(of: Annotated, scope: Scope): void {
  const { annotations, spec, path } = of;
  if (annotations === undefined) return;
  const { errors, naming } = scope;
  const keys = keysOf(naming);
  if (isSet(annotations, keys.mirror) && textAt(spec, 'nodeName') === '') {
    const detail = 'must set spec.nodeName if mirror pod annotation is set';
    errors.invalid(`${path}[${keys.mirror}]`, textAt(annotations, keys.mirror), detail);
  }
  validateTolerationsText(textAt(annotations, keys.tolerations), keys.tolerations, path, scope);
  const isCost = isCostIn(annotations, keys.cost) || !isCostIn(of.before, keys.cost);
  if (!isCost) {
    const text = textAt(annotations, keys.cost);
    errors.invalid(`${path}[${keys.cost}]`, text, 'must be a 32bit integer');
  }
  let names: ReadonlySet<string> | undefined;
  for (const key of Object.keys(annotations)) {
    const text = textAt(annotations, key);
    if (key === keys.seccomp || key.startsWith(keys.seccompPrefix)) {
      errors.problems(`${path}.${key}`, text, seccompProblems(text));
    } else if (key.startsWith(keys.armorPrefix)) {
      const name = key.slice(keys.armorPrefix.length);
      const at = `${path}[${key}]`;
      names ??= containerNames(spec);
      if (!names.has(name)) errors.invalid(at, name, 'container not found');
      if (isArmorText(text)) continue;
      errors.invalid(at, text, `invalid AppArmor profile name: ${JSON.stringify(text)}`);
    }
  }
}

const containerNames = (spec: Holder): ReadonlySet<string> =>
  new Set(
    containerLists.flatMap((list) => recordsAt(spec, list).map((one) => textAt(one, 'name'))),
  );

const costMax = 2 ** 31;

function isCostIn(annotations: Holder, key: string): boolean {
  if (!isSet(annotations, key)) return true;
  const text = textAt(annotations, key);
  const cost = Number(text);
  return /^(?:0|[1-9]\d*|-\d+)$/.test(text) && cost >= -costMax && cost < costMax;
}

function validateTolerationsText(text: string, key: string, path: string, scope: Scope): void {
  if (text === '') return;
  const list = parsedAnnotation(text) ?? [];
  if (!Array.isArray(list)) {
    scope.errors.invalid(path, key, 'must be a list of tolerations');
    return;
  }
  const tolerations = list.map((element) => asRecord(element) ?? {});
  validateTolerations(tolerations, `${path}.${key}`, scope);
}

const seccompTypes = new Map([
  ['unconfined', 'Unconfined'],
  ['runtime/default', 'RuntimeDefault'],
  ['docker/default', 'RuntimeDefault'],
]);
const localhost = 'localhost/';

function seccompProblems(text: string): readonly string[] {
  if (seccompTypes.has(text)) return [];
  if (text.startsWith(localhost)) return localPathProblems(text.slice(localhost.length));
  return ['must be a valid seccomp profile'];
}

/** Profiles that are stated as annotations and as fields are the same. */
export function validateProfilesMatch(
  { annotations, spec }: Pick<Annotated, 'annotations' | 'spec'>,
  path: string,
  scope: Scope,
): void {
  if (annotations === undefined) return;
  const { errors, naming } = scope;
  const own = recordAt(spec, 'securityContext');
  const seccomp = recordAt(own, 'seccompProfile');
  const ofPod = Object.hasOwn(annotations, seccompKey(naming)) ? seccomp : undefined;
  if (ofPod !== undefined) {
    const said = seccompFieldOf(textAt(annotations, seccompKey(naming)));
    matchProfile(ofPod, said, `${path}.securityContext.seccompProfile`, 'seccomp', errors);
  }
  const isWindows = textAt(recordAt(spec, 'os'), 'name') === 'windows';
  for (const list of containerLists) {
    for (const [at, container] of recordsAt(spec, list).entries()) {
      const where = `${path}.${list}[${String(at)}].securityContext`;
      const context = recordAt(container, 'securityContext');
      const name = textAt(container, 'name');
      const seccompName = seccompKeyPrefix(naming) + name;
      const profile = recordAt(context, 'seccompProfile');
      if (profile !== undefined && Object.hasOwn(annotations, seccompName)) {
        const said = seccompFieldOf(textAt(annotations, seccompName));
        matchProfile(profile, said, `${where}.seccompProfile`, 'seccomp', errors);
      }
      const armorName = armorKeyPrefix(naming) + name;
      const armor = recordAt(context, 'appArmorProfile') ?? recordAt(own, 'appArmorProfile');
      if (armor === undefined || isWindows || !Object.hasOwn(annotations, armorName)) continue;
      const said = armorFieldOf(textAt(annotations, armorName));
      matchProfile(armor, said, `${where}.appArmorProfile`, 'apparmor', errors);
    }
  }
}

function seccompFieldOf(text: string): JsonObject {
  if (!text.startsWith(localhost)) return { type: seccompTypes.get(text) ?? '' };
  return { type: 'Localhost', localhostProfile: text.slice(localhost.length) };
}

function matchProfile(
  field: JsonObject,
  said: Holder,
  path: string,
  noun: string,
  errors: Scope['errors'],
): void {
  const type = textAt(field, 'type');
  if (!['Unconfined', 'RuntimeDefault', 'Localhost'].includes(type)) return;
  if (textAt(said, 'type') !== type) {
    errors.forbidden(`${path}.type`, `${noun} type in annotation and field must match`);
  } else if (textAt(said, 'localhostProfile') !== textAt(field, 'localhostProfile')) {
    const detail = `${noun} profile in annotation and field must match`;
    errors.forbidden(`${path}.localhostProfile`, detail);
  }
}

/** Marks of mirrored pods and profiles cannot change while the pod is there. */
export function validateAnnotationChange(
  now: Holder,
  before: Holder,
  path: string,
  { errors, naming }: Scope,
): void {
  const { mirror, armorPrefix } = keysOf(naming);
  const nounOf = (key: string): string | undefined => {
    if (key === mirror) return 'mirror pod annotation';
    return key.startsWith(armorPrefix) ? 'AppArmor annotations' : undefined;
  };
  for (const key of Object.keys(before ?? {})) {
    const noun = nounOf(key);
    if (noun === undefined || now?.[key] === before?.[key]) continue;
    errors.forbidden(`${path}[${key}]`, `may not remove or update ${noun}`);
  }
  for (const key of Object.keys(now ?? {})) {
    const noun = nounOf(key);
    if (noun === undefined || Object.hasOwn(before ?? {}, key)) continue;
    errors.forbidden(`${path}[${key}]`, `may not add ${noun}`);
  }
}
