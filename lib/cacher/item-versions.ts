// Sources of items that stay in the version in which they were stored: one for each version.
import type { ResourceInfo } from '../api/type-info.ts';
import type { ItemSource } from './item.ts';

/** `source` for items that stay in the version that they were stored in, which is one of these. */
export function withVersions(source: ItemSource, others: readonly ResourceInfo[]): ItemSource {
  if (others.length === 0) return source;
  const versions = others.map((resource): ItemSource => {
    return { ...source, resource, schema: source.transcoder.schemaOf(resource) };
  });
  return { ...source, versions: new Map(versions.map((version) => [version.schema, version])) };
}
