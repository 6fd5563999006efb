// Conversion of one object between versions of its kind: pure, synchronous; the input is kept.
// A version whose fields the other has too only changes its apiVersion and shares its parts; others
// have a function per pair, or go through the stored version. Nothing is ever guessed or dropped.
import { internalError } from '../base/status.ts';
import type { Conversion } from './convert-fields.ts';
import { parseApiVersion } from './resource-records.ts';
import type { Scheme } from './scheme.ts';
import type { JsonObject, ResourceInfo, TypeInfo } from './type-info.ts';
import { apiVersionOf } from './type-info.ts';

/**
 * @throws StatusError 500 when the object's kind is not known in either version or the pair has
 * no conversion
 */
export function convertObject<T extends JsonObject>(
  object: Readonly<T>,
  toApiVersion: string,
  scheme: Scheme,
): T {
  const { kind = '', apiVersion = '' } = object;
  if (apiVersion === toApiVersion) return { ...object };
  if (typeof kind !== 'string' || typeof apiVersion !== 'string')
    throw internalError('object without kind');
  const from = scheme.kind({ ...parseApiVersion(apiVersion), kind });
  const to = scheme.kind({ ...parseApiVersion(toApiVersion), kind });
  if (from === undefined || to === undefined) {
    throw internalError(
      `${kind} is not known in ${from === undefined ? apiVersion : toApiVersion}`,
    );
  }
  const steps = stepsBetween(from, to, scheme);
  if (steps === undefined) {
    throw internalError(`${kind} cannot be converted from ${apiVersion} to ${toApiVersion}`);
  }
  let content: Readonly<JsonObject> = object;
  for (const step of steps) content = step(content, scheme.profile);
  // A version of a kind is an object like any other.
  return { ...content, kind, apiVersion: toApiVersion } as unknown as T;
}

/**
 * An object as another release stored it, in any version that is known: completed with the defaults
 * of its own version, then in the storage version with its defaults. `object` is used up.
 * @throws StatusError 500 as convertObject
 */
export function toStorageVersion<T extends JsonObject>(
  object: T,
  stored: ResourceInfo,
  scheme: Scheme,
): T {
  const type = storedTypeOf(object, stored, scheme);
  scheme.defaults.apply(object, type);
  if (type === stored.type) return object;
  const converted = convertObject<T>(object, apiVersionOf(stored.kind), scheme);
  scheme.defaults.apply(converted, stored.type);
  return converted;
}

/**
 * The type of a stored object: what it says of itself, else the storage version's.
 * @throws StatusError 500 for another kind, or a version that is not known
 */
export function storedTypeOf(
  given: { readonly kind?: unknown; readonly apiVersion?: unknown },
  stored: ResourceInfo,
  scheme: Scheme,
): TypeInfo {
  const own = apiVersionOf(stored.kind);
  const { kind = stored.kind.kind, apiVersion = own } = given;
  if (kind === stored.kind.kind && apiVersion === own) return stored.type;
  const isNamed = kind === stored.kind.kind && typeof apiVersion === 'string';
  const type = isNamed ? scheme.kind({ ...parseApiVersion(apiVersion), kind }) : undefined;
  if (type !== undefined) return type;
  const name = JSON.stringify({ apiVersion, kind });
  throw internalError(`a stored ${name} is no ${stored.kind.kind} in a version that is known`);
}

const unchanged: Conversion = (object) => ({ ...object });

function directStep(from: TypeInfo, to: TypeInfo, scheme: Scheme): Conversion | undefined {
  const own = scheme.conversions.get(`${from.id} > ${to.id}`);
  return own ?? (fitsInto(from, to) ? unchanged : undefined);
}

/** One step, or two through a version in which objects of the kind are stored. */
function stepsBetween(
  from: TypeInfo,
  to: TypeInfo,
  scheme: Scheme,
): readonly Conversion[] | undefined {
  const direct = directStep(from, to, scheme);
  if (direct !== undefined) return [direct];
  for (const { type } of scheme.storedResources) {
    if (type.name !== from.name) continue;
    const [first, second] = [directStep(from, type, scheme), directStep(type, to, scheme)];
    if (first !== undefined && second !== undefined) return [first, second];
  }
  return undefined;
}

const comparedShapes = new WeakMap<TypeInfo, WeakMap<TypeInfo, boolean>>();

/** Every field of one type is a field of the other, with the same form. */
function fitsInto(one: TypeInfo, other: TypeInfo): boolean {
  const known = comparedShapes.get(one)?.get(other);
  if (known !== undefined) return known;
  const isSame = compareShapes(one, other, new Map());
  const compared = comparedShapes.get(one) ?? new WeakMap<TypeInfo, boolean>();
  comparedShapes.set(one, compared.set(other, isSame));
  return isSame;
}

/**
 * `assumed`: pairs being compared; a type that contains itself fits unless something else
 * differs.
 */
function compareShapes(one: TypeInfo, other: TypeInfo, assumed: Map<TypeInfo, TypeInfo>): boolean {
  if (one === other || assumed.get(one) === other) return true;
  assumed.set(one, other);
  if (one.special !== other.special || one.isNamedList !== other.isNamedList) return false;
  for (const [name, field] of one.fieldByJsonName) {
    const counterpart = other.fieldByJsonName.get(name);
    if (counterpart === undefined) return false;
    if (field.cardinality !== counterpart.cardinality || field.scalar !== counterpart.scalar)
      return false;
    if (field.message === undefined || counterpart.message === undefined) continue;
    if (!compareShapes(field.message, counterpart.message, assumed)) return false;
  }
  return true;
}
