// The members of metadata that code asks of any object.
import { isAbsent } from '../api/presence.ts';
import { newRecord } from '../api/record.ts';
import type { ApiObject, ObjectMeta } from './codec.ts';

/** Metadata of `object`, made when it has none. */
export function metaOf(object: ApiObject): ObjectMeta {
  return (object.metadata ??= newRecord() as ObjectMeta);
}

/** Deletion has begun. */
export const isDeleting = (object: Readonly<ApiObject>): boolean =>
  !isAbsent(object.metadata?.deletionTimestamp);

export const nameOf = (object: Readonly<ApiObject>): string => object.metadata?.name ?? '';
