// What types and fields are for, in words: the comments right above them in the .proto files.
// A version without words of its own takes those of the other versions of its group.
import type { FieldInfo, TypeInfo } from './type-info.ts';

/** The text of a comment as one paragraph per blank line; undefined: there is none. */
export function commentText(comment: string | null): string | undefined {
  if (comment === null) return undefined;
  const text = comment
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
  return text === '' ? undefined : text;
}

interface Described {
  description?: string;
}

/** `core/v1.Pod` → `core/`, 3001. Stable versions rank above beta, beta above alpha. */
function placeOf(type: TypeInfo): { readonly group: string; readonly rank: number } {
  const slash = type.id.indexOf('/') + 1;
  const match = /^v([0-9]+)(alpha|beta)?([0-9]*)\./.exec(type.id.slice(slash));
  const [, major = '0', stage, minor = '0'] = match ?? [];
  const level = stage === undefined ? 3 : stage === 'beta' ? 2 : 1;
  return {
    group: type.id.slice(0, slash),
    rank: level * 1000 + Number(major) * 100 + Number(minor),
  };
}

/** Fills in what is missing from types of the same name, the most settled version first. */
export function inheritDescriptions(types: ReadonlyMap<string, TypeInfo>): void {
  const byName = new Map<string, { readonly type: TypeInfo; readonly rank: number }[]>();
  for (const type of types.values()) {
    const { group, rank } = placeOf(type);
    const key = `${group}${type.name}`;
    const versions = byName.get(key) ?? [];
    versions.push({ type, rank });
    byName.set(key, versions);
  }
  for (const versions of byName.values()) {
    const sources = [...versions].sort((one, other) => other.rank - one.rank);
    for (const { type } of versions) {
      for (const source of sources) if (source.type !== type) mutateFrom(type, source.type);
    }
  }
}

function mutateFrom(type: TypeInfo, source: TypeInfo): void {
  mutateMissing(type, source.description);
  const byName = new Map(source.fields.map((field) => [field.protoName, field]));
  for (const field of type.fields) {
    mutateMissing(field, byName.get(field.protoName)?.description);
  }
}

function mutateMissing(of: TypeInfo | FieldInfo, description: string | undefined): void {
  if (of.description === undefined && description !== undefined) {
    (of as Described).description = description; // While loading, before anyone reads it.
  }
}
