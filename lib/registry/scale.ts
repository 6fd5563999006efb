// The `scale` subresource: how many replicas a workload has, and should have, in a kind that is the
// same for all of them. Who scales needs no other rights and knows no other kind.
import { cloneAlike, copyMember } from '../api/json-value.ts';
import { numberAt, recordAt, textAt } from '../api/json-access.ts';
import type { ResourceInfo, SubresourceInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { difference, intersection, setOf, union } from '../apply/field-set.ts';
import type { Entry, Owners } from '../apply/owners.ts';
import { applyConfiguration } from '../apply/ownership.ts';
import { invalid } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject, ObjectMeta } from '../codec/codec.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { metaOf, nameOf } from '../codec/object-meta.ts';
import { labelsText, selectorText } from '../kinds/selector-columns.ts';
import { appliedOf, readConfiguration } from './apply.ts';
import { convertedItem } from './converted-item.ts';
import { readBody, writeContext } from './incoming.ts';
import { ownershipWrite, setOwners, storedOwners } from './managed-fields.ts';
import { checkName, settleNamespace } from './object-meta.ts';
import { recordOf } from './own-kind.ts';
import { patchItem, readPatch } from './patch.ts';
import { getObject } from './read.ts';
import type { PatchRequest, UpdateRequest, WriteAnswer } from './requests.ts';
import type { Subresource } from './verb-target.ts';
import type { StoreParts } from './store-parts.ts';
import { checkUid, writeTransformed } from './update.ts';

/** undefined: the kind of the subresource is not known. */
export function scaleSubresource(
  parts: StoreParts,
  info: SubresourceInfo,
): Subresource | undefined {
  const scale = recordOf(parts, info.kind);
  if (scale === undefined) return undefined;
  const show = (item: Item): Item =>
    convertedItem(item, { resource: scale, generation: '' }, (object) => scaleOf(object, scale));
  const write = async (
    request: UpdateRequest | PatchRequest,
    wanted: (old: Item) => Readonly<ApiObject>,
  ): Promise<WriteAnswer> => {
    const transform = (old: Item): ApiObject => scaled(parts, old, wanted(old), scale);
    const answer = await writeTransformed(parts, request, { transform, create: undefined });
    return { ...answer, item: show(answer.item) };
  };
  return {
    info,
    resource: scale,
    input: scale,
    patches: parts.resource.patches,
    get: async (request) => show(await getObject(parts, request)),
    async update(request) {
      const { path, options, warnings } = request;
      const body = readBody(scale, request.body, options.fieldValidation, warnings);
      checkName(body, path.name);
      settleNamespace(body, scale, path.namespace);
      return write(request, () => body);
    },
    async patch(request) {
      const { kind } = request;
      if (kind === 'apply') return applyScale(parts, request, { scale, show });
      const patch = readPatch(kind, request.patch, scale);
      return write(request, (old) => patchItem(scale, show(old), patch, request));
    },
  };
}

/** Replicas and selector stand at the same places in every kind that scales. */
function scaleOf(object: Readonly<ApiObject>, { kind }: ResourceInfo): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata ?? {};
  const metadata: ObjectMeta = {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
  };
  const [spec, status] = [recordAt(object, 'spec'), recordAt(object, 'status')];
  return {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata,
    spec: { replicas: numberAt(spec, 'replicas') ?? 0 },
    status: { replicas: numberAt(status, 'replicas') ?? 0, selector: selectorOf(object) },
  };
}

/** A replication controller selects by labels alone. */
function selectorOf(object: Readonly<ApiObject>): string {
  const spec = recordAt(object, 'spec');
  const selector = recordAt(spec, 'selector');
  const isLabels = Object.values(selector ?? {}).every((value) => typeof value === 'string');
  if (isLabels) return labelsText(spec, 'selector');
  return selectorText(selector);
}

/** The stored object with the replicas of `wanted`. @throws StatusError 409, 422. */
function scaled(
  parts: StoreParts,
  old: Item,
  wanted: Readonly<ApiObject>,
  scale: ResourceInfo,
): ApiObject {
  checkUid(parts, old, textAt(wanted.metadata, 'uid'));
  const replicas = numberAt(recordAt(wanted, 'spec'), 'replicas') ?? 0;
  if (replicas < 0) {
    throw invalid(scale.kind, nameOf(wanted), [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.replicas',
        badValue: replicas,
        detail: 'must be greater than or equal to 0',
      },
    ]);
  }
  const next = cloneAlike(old.object()) as ApiObject;
  copyMember(next, { spec: { replicas } }, 'spec.replicas');
  metaOf(next).resourceVersion = textAt(wanted.metadata, 'resourceVersion');
  return next;
}

interface ScaleView {
  readonly scale: ResourceInfo;
  readonly show: (item: Item) => Item;
}

/** An apply of the one field that a scale has: conflicts are those of that kind and version. */
async function applyScale(
  parts: StoreParts,
  request: PatchRequest,
  { scale, show }: ScaleView,
): Promise<WriteAnswer> {
  const { path, signal } = request;
  const configuration = readConfiguration(request, scale);
  const versions = { ...parts, resource: scale, conversion: undefined };
  const transform = async (old: Item): Promise<ApiObject> => {
    const context = writeContext(parts, request, path.subresource);
    const by = { ...context, operation: 'Apply' } as const;
    const owners = storedOwners(old.object());
    const ofScale = ownersOfReplicas(owners, apiVersionOf(scale.kind));
    const write = ownershipWrite(versions, { owners: ofScale, object: undefined }, by, signal);
    const result = await applyConfiguration(show(old).object(), configuration, {
      ...write,
      force: request.options.force === true,
      canonical: (object) => canonicalObject(object, scale.type),
    });
    const applied = appliedOf(result);
    const wanted = applied.object as ApiObject;
    checkName(wanted, path.name);
    settleNamespace(wanted, scale, path.namespace);
    const next = scaled(parts, old, wanted, scale);
    setOwners(next, withOwnersOfReplicas(owners, applied.owners, apiVersionOf(parts.resource)));
    return next;
  };
  const answer = await writeTransformed(parts, request, {
    transform,
    isApplied: true,
    create: undefined,
  });
  return { ...answer, item: show(answer.item) };
}

const replicas = setOf(['f:spec', 'f:replicas']);

/** Who owns the replicas of an object, as owners of its scale. */
function ownersOfReplicas(owners: Owners, apiVersion: string): Owners {
  const found = new Map<string, Entry>();
  for (const [identity, entry] of owners) {
    const fields = intersection(entry.fields, replicas);
    if (!fields.isEmpty) found.set(identity, { ...entry, apiVersion, fields });
  }
  return found;
}

/** The owners in an object after those of its scale have changed. */
function withOwnersOfReplicas(owners: Owners, ofScale: Owners, apiVersion: string): Owners {
  const result = new Map(owners);
  for (const [identity, entry] of owners) {
    const fields = ofScale.has(identity) ? entry.fields : difference(entry.fields, replicas);
    result.set(identity, { ...entry, fields });
  }
  for (const [identity, owner] of ofScale) {
    const known = owners.get(identity);
    const fields = known === undefined ? owner.fields : union(known.fields, owner.fields);
    result.set(identity, { ...owner, apiVersion: known?.apiVersion ?? apiVersion, fields });
  }
  return result;
}
