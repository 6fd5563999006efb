// The `scale` subresource: how many replicas an object has, and should have, in a kind that is the
// same for all of them. Who scales needs no other rights and knows no other kind.
import { cloneAlike } from '../api/json-value.ts';
import { numberAt, recordAt, textAt } from '../api/json-access.ts';
import type { JsonObject, ResourceInfo, ScalePlaces, SubresourceInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { intersection } from '../apply/field-set.ts';
import { applyConfiguration, ownUpdate } from '../apply/ownership.ts';
import type { Write } from '../apply/ownership.ts';
import type { Owners } from '../apply/owners.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { WaitEnd } from '../base/abort.ts';
import { badRequest, internalError, invalid } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject, ObjectMeta } from '../codec/codec.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { metaOf, nameOf } from '../codec/object-meta.ts';
import { labelsText, selectorText } from '../kinds/selector-columns.ts';
import { appliedOf, readConfiguration } from './apply.ts';
import { objectItem } from './converted-item.ts';
import { readBody, singleForm, toStored, writeContext } from './incoming.ts';
import type { ShownAs } from './incoming.ts';
import { ownershipWrite, setOwners, shownObject, storedOwners } from './managed-fields.ts';
import { checkName, settleNamespace } from './object-meta.ts';
import { ownRecord } from './own-kind.ts';
import { patchItem, readPatch } from './patch.ts';
import { getObject } from './read.ts';
import type { PatchRequest, UpdateRequest, WriteAnswer } from './requests.ts';
import { ownersAfterScale, ownersOfScale, replicasIn, scaleReplicas } from './scale-owners.ts';
import { integerAt, placeText, setAtPlace, textAtPlace } from './scale-places.ts';
import type { Found } from './scale-places.ts';
import type { Subresource } from './verb-target.ts';
import type { StoreParts } from './store-parts.ts';
import { checkUid, writeTransformed } from './update.ts';

/** undefined: the kind of the subresource is not known. */
export function scaleSubresource(
  parts: StoreParts,
  info: SubresourceInfo,
): Subresource | undefined {
  const type = parts.typeOf(info.kind);
  if (type === undefined) return undefined;
  const { scale: places } = info;
  let made: ResourceInfo | undefined;
  const scaling: Scaling = {
    ...{ parts, places },
    // Made when it is used: the type of the object may not have been made before.
    get scale() {
      return (made ??= ownRecord(parts.resource, info.kind, type));
    },
  };
  const write = async (
    request: UpdateRequest | PatchRequest,
    scaleBy: Rescale,
  ): Promise<WriteAnswer> => {
    const { signal } = request;
    const transform = (old: Item): MaybePromise<ApiObject> =>
      whenThere(shownObject(parts, old, signal), (object) =>
        rescaled(scaling, { old, object }, request, scaleBy),
      );
    const shownAs = shownScales(scaling);
    const written = { transform, isApplied: true, shownAs, create: undefined };
    const answer = await writeTransformed(parts, request, written);
    return { ...answer, item: await shownScale(scaling, answer.item, signal) };
  };
  return {
    info,
    get resource() {
      return scaling.scale;
    },
    get input() {
      return scaling.scale;
    },
    patches: parts.resource.patches,
    get: async (request) => shownScale(scaling, await getObject(parts, request), request.signal),
    async update(request) {
      const { path, options, warnings } = request;
      const { scale } = scaling;
      const body = readBody(scale, request.body, options.fieldValidation, warnings);
      checkName(body, path.name);
      settleNamespace(body, scale, path.namespace);
      return write(request, (live, known) => updated(live, body, known));
    },
    async patch(request) {
      const { kind } = request;
      if (kind === 'apply') return write(request, applied(scaling, request));
      const { scale } = scaling;
      const patch = readPatch(kind, request, scale);
      return write(request, (live, known) => {
        const item = objectItem(live, scale, Number(live.metadata?.resourceVersion ?? '0'));
        return whenThere(patchItem(scale, item, patch, request), (patched) =>
          updated(live, patched, known),
        );
      });
    },
  };
}

/** Admission sees scales, and what it makes of their replicas is written. */
const shownScales = (scaling: Scaling): ShownAs => ({
  form: singleForm(scaling.scale),
  show(object, signal) {
    const { parts } = scaling;
    const apiVersion = apiVersionOf(parts.resource.kind);
    const isShown = object.apiVersion === undefined || object.apiVersion === apiVersion;
    const served = isShown ? object : parts.convert(object, apiVersion, signal);
    return whenThere(served, (one) => scaleOf(one, scaling, 0));
  },
  take(object, shown) {
    const replicas = replicasOf(shown);
    if (replicas === replicasOf(scaleOf(object, scaling, 0))) return;
    if (scaling.places === undefined) requireNoFewerThanNone(scaling.scale, shown, replicas);
    setAtPlace(object, scaling.places?.specReplicas ?? ['spec', 'replicas'], replicas);
  },
});

interface Scaling {
  readonly parts: StoreParts;
  /** The record that scales are shown by. */
  readonly scale: ResourceInfo;
  /** undefined: those of built-in kinds. */
  readonly places: ScalePlaces | undefined;
}

/** The wanted scale in place of the live one, and its owners; undefined: as they were. */
type Rescale = (
  live: Readonly<ApiObject>,
  write: Write,
) => MaybePromise<{ readonly wanted: Readonly<ApiObject>; readonly owners: Owners | undefined }>;

/** Of a PUT or a patch: only the replicas count. */
function updated(
  live: Readonly<ApiObject>,
  wanted: Readonly<ApiObject>,
  write: Write,
): ReturnType<Rescale> {
  const after = { ...live, spec: { replicas: replicasOf(wanted) } };
  const update = ownUpdate({ before: live, after }, write, () => write.owners);
  return whenThere(update, (owners) => ({ wanted, owners }));
}

/** An apply of the one field that a scale has: conflicts are those of that kind and version. */
function applied({ scale }: Scaling, request: PatchRequest): Rescale {
  const configuration = readConfiguration(request, scale);
  const { path, options } = request;
  return async (live, write) => {
    const result = await applyConfiguration(live, configuration, {
      ...write,
      force: options.force === true,
      canonical: (object) => canonicalObject(object, scale.type),
    });
    const { object, owners } = appliedOf(result);
    const wanted = object as ApiObject;
    checkName(wanted, path.name);
    settleNamespace(wanted, scale, path.namespace);
    return { wanted, owners };
  };
}

/** `object`, which is in the version of the request, with the replicas of the wanted scale. */
async function rescaled(
  scaling: Scaling,
  { old, object }: { readonly old: Item; readonly object: Readonly<ApiObject> },
  request: UpdateRequest | PatchRequest,
  rescale: Rescale,
): Promise<ApiObject> {
  const { parts, scale, places } = scaling;
  const live = scaleOf(object, scaling, missingReplicas);
  const operation = 'kind' in request && request.kind === 'apply' ? 'Apply' : 'Update';
  const context = { ...writeContext(parts, request, request.path.subresource), operation } as const;
  const known = storedOwners(object);
  const replicas = replicasIn(places?.specReplicasIn);
  const ofScale = ownersOfScale(known, apiVersionOf(scale.kind), replicas);
  const asScale = { ...parts, resource: scale, conversion: undefined };
  const write = {
    ...ownershipWrite(asScale, undefined, context, request.signal),
    owners: ofScale,
    settable: (fields: typeof scaleReplicas) => intersection(fields, scaleReplicas),
  };
  const { wanted, owners } = await rescale(live, write);
  checkUid(parts, old, textAt(wanted.metadata, 'uid'));
  const next = withReplicas(scaling, object, wanted);
  const isTracked = operation === 'Apply' || object.metadata?.managedFields !== undefined;
  if (owners !== undefined && isTracked) {
    const apiVersion = apiVersionOf(parts.resource);
    setOwners(next, ownersAfterScale(known, owners, { apiVersion, places: replicas }));
  }
  return toStored(parts, next, request.signal);
}

/** @throws StatusError 400, 409, 422. */
function withReplicas(
  { scale, places }: Scaling,
  object: Readonly<ApiObject>,
  wanted: Readonly<ApiObject>,
): ApiObject {
  const replicas = replicasOf(wanted);
  if (places === undefined) requireNoFewerThanNone(scale, wanted, replicas);
  else if (replicas === missingReplicas) {
    throw badRequest(`the spec replicas field "${placeText(places.specReplicas)}" cannot be empty`);
  }
  const next = cloneAlike(object) as ApiObject;
  setAtPlace(next, places?.specReplicas ?? ['spec', 'replicas'], replicas);
  const stated = textAt(wanted.metadata, 'resourceVersion');
  // Who states none means the object as it is.
  if (stated !== '') metaOf(next).resourceVersion = stated;
  return next;
}

function requireNoFewerThanNone(
  { kind }: ResourceInfo,
  wanted: Readonly<ApiObject>,
  replicas: number,
): void {
  if (replicas >= 0) return;
  throw invalid(kind, nameOf(wanted), [
    {
      reason: 'FieldValueInvalid',
      field: 'spec.replicas',
      badValue: replicas,
      detail: 'must be greater than or equal to 0',
    },
  ]);
}

const replicasOf = (scale: Readonly<ApiObject>): number =>
  numberAt(recordAt(scale, 'spec'), 'replicas') ?? 0;

/** The smallest of its type: stands in a scale that is to be written for replicas nobody set. */
const missingReplicas = -(2 ** 31);

/** A stored item as the scale that requests see. @throws StatusError 500 where it has none. */
const shownScale = (scaling: Scaling, stored: Item, end: WaitEnd): MaybePromise<Item> => {
  const { parts, scale } = scaling;
  const { conversion } = parts;
  return whenThere(conversion === undefined ? stored : conversion.item(stored, end), (item) =>
    objectItem(scaleOf(item.object(), scaling), scale, item.revision),
  );
};

/** `missing`: what is shown where nobody set the replicas. @throws StatusError 500 */
function scaleOf(
  object: Readonly<ApiObject>,
  { scale, places }: Scaling,
  missing?: number,
): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata ?? {};
  const metadata: ObjectMeta = {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
  };
  const { kind } = scale;
  const values = places === undefined ? usualValues(object) : valuesAt(object, places, missing);
  return { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata, ...values };
}

interface ScaleValues extends JsonObject {
  readonly spec: { replicas: number };
  readonly status: { replicas: number; selector?: string };
}

/** Replicas and selector stand at the same places in every built-in kind that scales. */
function usualValues(object: Readonly<ApiObject>): ScaleValues {
  const [spec, status] = [recordAt(object, 'spec'), recordAt(object, 'status')];
  return {
    spec: { replicas: numberAt(spec, 'replicas') ?? 0 },
    status: { replicas: numberAt(status, 'replicas') ?? 0, selector: selectorOf(object) },
  };
}

function valuesAt(
  object: Readonly<ApiObject>,
  { specReplicas, statusReplicas, selector }: ScalePlaces,
  missing: number | undefined,
): ScaleValues {
  const replicas = valueOf(integerAt(object, specReplicas)) ?? missing;
  const atPresent = valueOf(integerAt(object, statusReplicas)) ?? 0;
  const text = selector === undefined ? undefined : valueOf(textAtPlace(object, selector));
  if (replicas === undefined) {
    throw internalError(`the spec replicas field "${placeText(specReplicas)}" does not exist`);
  }
  return {
    spec: { replicas: inRange(replicas) },
    status: { replicas: inRange(atPresent), ...(text === undefined ? {} : { selector: text }) },
  };
}

function valueOf<T>({ value, problem }: Found<T>): T | undefined {
  if (problem !== undefined) throw internalError(problem);
  return value;
}

/** A Scale counts in 32 bits. */
const inRange = (count: number | bigint): number => Number(BigInt.asIntN(32, BigInt(count)));

/** A replication controller selects by labels alone. */
function selectorOf(object: Readonly<ApiObject>): string {
  const spec = recordAt(object, 'spec');
  const selector = recordAt(spec, 'selector');
  const isLabels = Object.values(selector ?? {}).every((value) => typeof value === 'string');
  if (isLabels) return labelsText(spec, 'selector');
  return selectorText(selector);
}
