// A review as it came in: read, completed, owned by its sender and past mutating admission, as any
// new object; and the answer that is made of it. What the body says of the outcome is ignored.
import { apiVersionOf } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { objectItem } from '../converted-item.ts';
import { admitNew } from '../create.ts';
import { admissionRequest, readBody, toStored, writeContext } from '../incoming.ts';
import { trackUpdate } from '../managed-fields.ts';
import { settleNamespace } from '../object-meta.ts';
import type { CreateRequest, WriteAnswer } from '../requests.ts';
import type { StoreParts } from '../store-parts.ts';
import { noRevision } from '../virtual-store.ts';
import type { Reviewed } from './review.ts';

/** @throws StatusError 400 for a body that is none, and of mutating plugins. */
export async function postedReview(parts: StoreParts, request: CreateRequest): Promise<Reviewed> {
  const { resource } = parts;
  const { path, options, warnings, signal, user } = request;
  const body = readBody(resource, request.body, options.fieldValidation, warnings);
  settleNamespace(body, resource, path.namespace);
  delete body['status'];
  const completed = await toStored(parts, body, signal);
  const context = writeContext(parts, request, '');
  await trackUpdate(parts, { old: undefined, wanted: completed }, context, signal);
  const object = await admitNew(parts, completed, context, signal);
  delete object['status'];
  return {
    kind: resource.kind.kind,
    group: resource.kind.group,
    object,
    user,
    namespace: path.namespace,
    signal,
    async confirm() {
      const key = { namespace: path.namespace, name: object.metadata?.name ?? '' };
      const change = { operation: 'CREATE', key, old: undefined } as const;
      await parts.admission.validate(admissionRequest(parts, change, context), object, signal);
    },
  };
}

/** `members`: all but kind and version. */
export function answered(
  { resource }: Pick<StoreParts, 'resource'>,
  members: Readonly<ApiObject>,
): WriteAnswer {
  const { kind } = resource;
  const object = { ...members, kind: kind.kind, apiVersion: apiVersionOf(kind) };
  return { item: objectItem(object, resource, noRevision), created: true };
}
