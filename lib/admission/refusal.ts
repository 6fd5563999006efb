// What a plugin says of a write that it refuses.
import { forbidden } from '../base/status.ts';
import type { StatusError } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { AdmissionRequest } from './plugin.ts';

/** 403 of the object that is written, by its name or by what there is of one. */
export const refusal = (
  request: Pick<AdmissionRequest, 'resource' | 'name'>,
  object: Readonly<ApiObject> | undefined,
  detail: string,
): StatusError => forbidden(request.resource, shownName(request, object), detail);

const shownName = (
  { name }: Pick<AdmissionRequest, 'name'>,
  object: Readonly<ApiObject> | undefined,
): string => name || object?.metadata?.name || object?.metadata?.generateName || 'Unknown';
