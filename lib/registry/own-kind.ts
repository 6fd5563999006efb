// Kinds that a resource takes or shows beside its own: of a subresource (Scale, Binding), of an
// answer (Status).
import type { GroupVersionKind, ResourceInfo } from '../api/type-info.ts';
import type { StoreParts } from './store-parts.ts';

/** The resource's record with that kind in place of its own; undefined: it is not known. */
export function recordOf(
  { resource, typeOf }: Pick<StoreParts, 'resource' | 'typeOf'>,
  kind: GroupVersionKind,
): ResourceInfo | undefined {
  const type = typeOf(kind);
  if (type === undefined) return undefined;
  const { fieldReaders: _, ...parent } = resource;
  return { ...parent, kind, listKind: '', type };
}
