// Types that come from a description of objects: their static type, the sizes that declared limits
// allow, and how small their JSON can be. value-types.ts makes them.
import type { CelType } from '../model/cel-type.ts';
import type { FieldDeclaration, ObjectTypes } from '../model/declarations.ts';
import type { SizeEstimator } from '../model/cost-node.ts';
import { isReservedWord } from './escaping.ts';

/** First version in which reserved words may be selected as fields. */
export const keywordFieldsSince = 30;

/** Largest request that is accepted: what does not declare a limit is limited by it. */
export const requestSizeMax = 3 * 1024 * 1024;

export interface DeclaredType {
  readonly celType: CelType;
  /** Fields by identifier; only objects have them. */
  readonly fields: ReadonlyMap<string, DeclaredType> | undefined;
  /** Element of a list, value of a map. */
  readonly element: DeclaredType | undefined;
  /** Most elements, entries or characters; 0 for what has no size. */
  readonly maxElements: number;
  /** Fewest bytes of its JSON. */
  readonly minSerializedSize: number;
}

/**
 * The object types within declared types, by their names. `keywordsAsFields`: fields named like
 * reserved words may also be selected as they are (`self.if`), which older versions refuse.
 */
export function objectTypesOf(
  roots: readonly (DeclaredType | undefined)[],
  keywordsAsFields: boolean,
): ObjectTypes {
  const objects = new Map<string, ReadonlyMap<string, FieldDeclaration>>();
  const collect = (type: DeclaredType): void => {
    if (type.fields !== undefined && !objects.has(type.celType.name)) {
      const fields = [...type.fields].map(
        ([name, field]) => [name, { name, type: field.celType }] as const,
      );
      objects.set(type.celType.name, new Map(fields));
      for (const field of type.fields.values()) collect(field);
    }
    if (type.element !== undefined) collect(type.element);
  };
  for (const root of roots) if (root !== undefined) collect(root);
  return {
    has: (typeName) => objects.has(typeName),
    field: (typeName, field) => {
      const fields = objects.get(typeName);
      const keyword = keywordsAsFields && isReservedWord(field) ? `__${field}__` : field;
      return fields?.get(field) ?? fields?.get(keyword);
    },
  };
}

/**
 * Sizes from the limits of a type: all variables are of this type, so the first part of a path is
 * skipped.
 */
export function sizesFrom(root: DeclaredType): SizeEstimator {
  return (path) => {
    if (path.length === 0) return undefined;
    let current: DeclaredType | undefined = root;
    for (const part of path.slice(1)) {
      if (current === undefined) return undefined;
      // Keys of maps have no declared limit, and count as empty.
      if (part === '@keys')
        return current.element === undefined || current.fields ? undefined : emptySize(current);
      current =
        part === '@items' || part === '@values' ? current.element : current.fields?.get(part);
    }
    return current === undefined ? undefined : { min: 0n, max: BigInt(current.maxElements) };
  };
}

function emptySize(container: DeclaredType): ReturnType<SizeEstimator> {
  return container.celType.kind === 'map' ? { min: 0n, max: 0n } : undefined;
}

/** How many values of a type fit into one request. */
export function maxCardinality(type: DeclaredType): bigint {
  // At least one comma between elements.
  return BigInt(Math.floor(requestSizeMax / (type.minSerializedSize + 1)));
}
