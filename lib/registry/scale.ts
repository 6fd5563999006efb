// The `scale` subresource: how many replicas a workload has, and should have, in a kind that is the
// same for all of them. Who scales needs no other rights and knows no other kind.
import { cloneAlike, copyMember } from '../api/json-value.ts';
import { numberAt, recordAt, textAt } from '../api/json-access.ts';
import type { ResourceInfo, SubresourceInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { invalid } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject, ObjectMeta } from '../codec/codec.ts';
import { metaOf, nameOf } from '../codec/object-meta.ts';
import { labelsText, selectorText } from '../kinds/selector-columns.ts';
import { convertedItem } from './converted-item.ts';
import { readBody } from './incoming.ts';
import { checkName, settleNamespace } from './object-meta.ts';
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
  const type = parts.typeOf(info.kind);
  if (type === undefined) return undefined;
  const { fieldReaders: _, ...parent } = parts.resource;
  const scale: ResourceInfo = { ...parent, kind: info.kind, listKind: '', type };
  const show = (item: Item): Item => convertedItem(item, scale, (object) => scaleOf(object, scale));
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
    get: async (request) => show(await getObject(parts, request)),
    async update(request) {
      const { path, options, warnings } = request;
      const body = readBody(scale, request.body, options.fieldValidation, warnings);
      checkName(body, path.name);
      settleNamespace(body, scale, path.namespace);
      return write(request, () => body);
    },
    async patch(request) {
      const patch = readPatch(request, scale);
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
