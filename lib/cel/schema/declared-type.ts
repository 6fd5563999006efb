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

/** A map, or what makes its values when somebody asks. */
export interface FieldTypes {
  get(identifier: string): DeclaredType | undefined;
  values(): Iterable<DeclaredType>;
}

export interface DeclaredType {
  readonly celType: CelType;
  /** Fields by identifier; only objects have them. */
  readonly fields: FieldTypes | undefined;
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
  const objects = new Map<string, FieldTypes>();
  const collect = (type: DeclaredType): void => {
    if (type.fields !== undefined && !objects.has(type.celType.name)) {
      objects.set(type.celType.name, type.fields);
      for (const field of type.fields.values()) collect(field);
    }
    if (type.element !== undefined) collect(type.element);
  };
  for (const root of roots) if (root !== undefined) collect(root);
  return objectTypesIn((typeName) => objects.get(typeName), { keywordsAsFields });
}

/** As `objectTypesOf`, of the object types that `fieldsOf` knows by name. */
export function objectTypesIn(
  fieldsOf: (typeName: string) => FieldTypes | undefined,
  { keywordsAsFields }: { readonly keywordsAsFields: boolean },
): ObjectTypes {
  const declared = (name: string, type: DeclaredType | undefined): FieldDeclaration | undefined =>
    type && { name, type: type.celType };
  return {
    has: (typeName) => fieldsOf(typeName) !== undefined,
    field: (typeName, field) => {
      const fields = fieldsOf(typeName);
      const keyword = keywordsAsFields && isReservedWord(field) ? `__${field}__` : field;
      return declared(field, fields?.get(field)) ?? declared(keyword, fields?.get(keyword));
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
