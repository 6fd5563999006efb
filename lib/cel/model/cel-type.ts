// Static types of expressions, their texts, and exact comparison.

export type TypeKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'duration'
  | 'timestamp'
  | 'type'
  | 'list'
  | 'map'
  /** An object with declared fields. */
  | 'struct'
  /** A type without fields that a library declares; `optional_type` is one. */
  | 'opaque'
  /** A type parameter of a declaration, or a variable that stands for a type not known yet. */
  | 'param';

export interface CelType {
  readonly kind: TypeKind;
  readonly name: string;
  readonly params: readonly CelType[];
  /**
   * What comparing two values costs at most, for types of libraries: fixed, or by the length of
   * their text.
   */
  readonly equality?: 'fixed' | 'format' | 'url';
}

const none: readonly CelType[] = [];
const simple = (kind: TypeKind, name: string = kind): CelType => ({ kind, name, params: none });

export const dynType = simple('dyn');
/** As dyn, but for loops: nothing of this type can be looped over. */
export const anyType = simple('dyn', 'any');
export const errorType = simple('error', '!error!');
export const nullType = simple('null', 'null_type');
export const boolType = simple('bool');
export const intType = simple('int');
export const uintType = simple('uint');
export const doubleType = simple('double');
export const stringType = simple('string');
export const bytesType = simple('bytes');
export const durationType = simple('duration', 'google.protobuf.Duration');
export const timestampType = simple('timestamp', 'google.protobuf.Timestamp');
/** `type` without saying of what. */
export const typeType = simple('type');

export const listType = (element: CelType): CelType => ({
  kind: 'list',
  name: 'list',
  params: [element],
});
export const mapType = (key: CelType, value: CelType): CelType => ({
  kind: 'map',
  name: 'map',
  params: [key, value],
});
export const structType = (name: string): CelType => simple('struct', name);
export const opaqueType = (name: string, ...params: readonly CelType[]): CelType => ({
  kind: 'opaque',
  name,
  params,
});
export const optionalType = (value: CelType): CelType => opaqueType('optional_type', value);
export const paramType = (name: string): CelType => simple('param', name);
export const typeOfType = (type: CelType): CelType => ({
  kind: 'type',
  name: 'type',
  params: [type],
});

export const isOptionalType = (type: CelType): boolean =>
  type.kind === 'opaque' && type.name === 'optional_type';

export const isDynOrError = (type: CelType): boolean =>
  type.kind === 'dyn' || type.kind === 'error';

/** The parameter at `index`; types are built with all their parameters. */
export function typeParam(type: CelType, index: number): CelType {
  return type.params[index] ?? dynType;
}

export function sameType(left: CelType, right: CelType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind || left.name !== right.name) return false;
  if (left.params.length !== right.params.length) return false;
  return left.params.every((param, index) => sameType(param, typeParam(right, index)));
}

const withParams = (name: string, type: CelType, text: (param: CelType) => string): string =>
  type.params.length === 0 ? name : `${name}(${type.params.map(text).join(', ')})`;

const errorNames: Partial<Record<TypeKind, string>> = {
  null: 'null',
  duration: 'duration',
  timestamp: 'timestamp',
};

/** A type as error texts show it. */
export function errorTypeText(type: CelType): string {
  return withParams(errorNames[type.kind] ?? type.name, type, errorTypeText);
}

/** A type as declarations and results show it. */
export function typeText(type: CelType): string {
  return withParams(type.name, type, typeText);
}

const simpleTypes: ReadonlyMap<string, CelType> = new Map(
  [
    dynType,
    nullType,
    boolType,
    intType,
    uintType,
    doubleType,
    stringType,
    bytesType,
    durationType,
    timestampType,
    typeType,
  ].map((type) => [type.name, type]),
);

/** Reads a type from its text; names that are not built in become objects with that name. */
export function parseTypeText(text: string): CelType {
  const match = /^([^(]+)(?:\((.*)\))?$/.exec(text.trim());
  const name = match?.[1] ?? text;
  const known = simpleTypes.get(name);
  if (match?.[2] === undefined) return known ?? structType(name);
  const params = splitParams(match[2]).map(parseTypeText);
  if (name === 'list') return listType(params[0] ?? dynType);
  if (name === 'map') return mapType(params[0] ?? dynType, params[1] ?? dynType);
  if (name === 'type') return typeOfType(params[0] ?? dynType);
  return opaqueType(name, ...params);
}

function splitParams(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= text.length; index++) {
    const character = text[index];
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (index === text.length || (character === ',' && depth === 0)) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return parts;
}
