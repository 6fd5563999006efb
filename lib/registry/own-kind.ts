// Kinds that a resource takes or shows beside its own: of a subresource (Scale, Binding), of an
// answer (Status).
import type { GroupVersionKind, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import type { StoreParts } from './store-parts.ts';

/** The resource's record with that kind in place of its own; undefined: it is not known. */
export function recordOf(
  { resource, typeOf }: Pick<StoreParts, 'resource' | 'typeOf'>,
  kind: GroupVersionKind,
): ResourceInfo | undefined {
  const type = typeOf(kind);
  return type === undefined ? undefined : ownRecord(resource, kind, type);
}

/** The same where the type of that kind is known; it asks for the resource's own. */
export function ownRecord(
  resource: ResourceInfo,
  kind: GroupVersionKind,
  type: TypeInfo,
): ResourceInfo {
  const { fieldReaders: _readers, columns: _columns, ...parent } = resource;
  return { ...parent, kind, listKind: '', type };
}
