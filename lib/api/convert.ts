// Conversion of one object between versions of its kind: pure, synchronous; the input is kept.
// Equal shapes only change their apiVersion and share their parts; others have a function per pair.
// A pair that is not in the table is refused: nothing is ever guessed or dropped.
import { internalError } from '../base/status.ts';
import { toAutoscalingV1, toAutoscalingV2 } from './convert-autoscaling.ts';
import { parseApiVersion } from './resource-records.ts';
import type { Scheme } from './scheme.ts';
import type { JsonObject, TypeInfo } from './type-info.ts';
import type { NamingProfile } from './vendor.ts';

/** Gives the content in the other version; kind and apiVersion are set by the caller. */
type Conversion = (object: Readonly<JsonObject>, profile: NamingProfile) => JsonObject;

// Core events and those of the newer group hold the same facts under other names.
const eventNames: readonly (readonly [core: string, newer: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];
const renaming =
  (names: ReadonlyMap<string, string>): Conversion =>
  (object) =>
    Object.fromEntries(
      Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value]),
    );

/** By `from type > to type`. */
const conversions: ReadonlyMap<string, Conversion> = new Map<string, Conversion>([
  ['core/v1.Event > events/v1.Event', renaming(new Map(eventNames))],
  [
    'events/v1.Event > core/v1.Event',
    renaming(new Map(eventNames.map(([core, newer]) => [newer, core]))),
  ],
  [
    'autoscaling/v1.HorizontalPodAutoscaler > autoscaling/v2.HorizontalPodAutoscaler',
    toAutoscalingV2,
  ],
  [
    'autoscaling/v2.HorizontalPodAutoscaler > autoscaling/v1.HorizontalPodAutoscaler',
    toAutoscalingV1,
  ],
]);

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
  const conversion = conversions.get(`${from.id} > ${to.id}`);
  if (conversion === undefined && !haveSameShape(from, to)) {
    throw internalError(`${kind} cannot be converted from ${apiVersion} to ${toApiVersion}`);
  }
  const content = conversion === undefined ? object : conversion(object, scheme.profile);
  // A version of a kind is an object like any other.
  return { ...content, kind, apiVersion: toApiVersion } as unknown as T;
}

/** Whether convertObject can bring objects of one type into the other. */
export function canConvert(from: TypeInfo, to: TypeInfo): boolean {
  return conversions.has(`${from.id} > ${to.id}`) || haveSameShape(from, to);
}

const comparedShapes = new WeakMap<TypeInfo, WeakMap<TypeInfo, boolean>>();

function haveSameShape(one: TypeInfo, other: TypeInfo): boolean {
  const known = comparedShapes.get(one)?.get(other);
  if (known !== undefined) return known;
  const isSame = compareShapes(one, other, new Map());
  const compared = comparedShapes.get(one) ?? new WeakMap<TypeInfo, boolean>();
  comparedShapes.set(one, compared.set(other, isSame));
  return isSame;
}

/**
 * `assumed`: pairs being compared; a type that contains itself is equal unless something else
 * differs.
 */
function compareShapes(one: TypeInfo, other: TypeInfo, assumed: Map<TypeInfo, TypeInfo>): boolean {
  if (one === other || assumed.get(one) === other) return true;
  assumed.set(one, other);
  if (one.special !== other.special || one.isNamedList !== other.isNamedList) return false;
  if (one.fieldByJsonName.size !== other.fieldByJsonName.size) return false;
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
