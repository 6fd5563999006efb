// A POST that acts on an object: its body is read and admitted as if it were a new object, and
// never stored; the answer is a Status of success.
import type { ResourceInfo } from '../api/type-info.ts';
import { invariant } from '../base/invariant.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { StatusBody } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import { objectItem } from './converted-item.ts';
import { admissionRequest, mutated, readBody, singleForm, writeContext } from './incoming.ts';
import type { BodyKind } from './incoming.ts';
import { settleNamespace } from './object-meta.ts';
import { recordOf } from './own-kind.ts';
import type { CreateRequest, WriteAnswer } from './requests.ts';
import type { StoreParts } from './store-parts.ts';

/**
 * What `read` makes of the body once it is complete and has passed mutating admission. `read` may
 * change it; what it throws comes before validating admission.
 * @throws StatusError 400 for another kind or namespace than the path's; of a plugin.
 */
export async function admittedBody<T>(
  parts: StoreParts,
  kind: ResourceInfo & BodyKind,
  request: CreateRequest,
  read: (body: ApiObject) => MaybePromise<T>,
): Promise<T> {
  const { path, options, warnings, signal } = request;
  const body = readBody(kind, request.body, options.fieldValidation, warnings);
  settleNamespace(body, kind, path.namespace);
  parts.defaults.apply(body, kind.type);
  const context = writeContext(parts, request, path.subresource);
  const attributes = admissionRequest(
    parts,
    { operation: 'CREATE', key: path, old: undefined },
    context,
    singleForm(kind),
  );
  const ofBody = { ...parts, storedAs: kind };
  const admitted = await mutated(ofBody, attributes, body, context, signal);
  const made = await read(admitted);
  await parts.admission.validate(attributes, admitted, signal);
  return made;
}

/** What such a POST answers with. */
export function statusRecord(parts: StoreParts): ResourceInfo {
  const status = recordOf(parts, { group: '', version: 'v1', kind: 'Status' });
  invariant(status !== undefined, 'Status is a kind of every group version');
  return status;
}

export function succeeded(status: ResourceInfo): WriteAnswer {
  const success = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  } as const satisfies StatusBody;
  return { item: objectItem(success, status, 0), created: true };
}
