// What types and fields are for, in words: the comments right above them in the .proto files.
// A version without words of its own takes those of a stable version of its group.
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

const stable = /^v[1-9][0-9]*$/;
const versionOf = (type: TypeInfo): string => /\/([^/.]+)\./.exec(type.id)?.[1] ?? '';
const groupOf = (type: TypeInfo): string => type.id.slice(0, type.id.indexOf('/') + 1);

/** Fills in what is missing from the stable version of the same name, the highest one first. */
export function inheritDescriptions(types: ReadonlyMap<string, TypeInfo>): void {
  const sources = new Map<string, TypeInfo[]>();
  for (const type of types.values()) {
    if (!stable.test(versionOf(type))) continue;
    const key = `${groupOf(type)}${type.name}`;
    const versions = sources.get(key) ?? [];
    versions.push(type);
    sources.set(key, versions);
  }
  for (const versions of sources.values()) {
    versions.sort((one, other) => Number(versionOf(other).slice(1)) - Number(versionOf(one).slice(1)));
  }
  for (const type of types.values()) {
    for (const source of sources.get(`${groupOf(type)}${type.name}`) ?? []) {
      if (source !== type) mutateFrom(type, source);
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
