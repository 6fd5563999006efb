// Paths to fields: the JSONPath of a rule's `fieldPath`, checked against its schema, and the paths
// that errors show.
import type { StructuralSchema } from './structural.ts';

/** A path that does not lead to a field. */
export class FieldPathError extends Error {}

/**
 * `.a['b']` as the path that errors show below the rule's own: `a.b`, or `a[b]` where `a` is a map.
 */
export function relativeFieldPath(path: string, schema: StructuralSchema): string {
  const tokens = tokensOf(path);
  let current = schema;
  let result = '';
  let index = 0;
  const next = (): string => {
    const token = tokens[index++];
    if (token === undefined) throw new FieldPathError('unexpected end of JSON path');
    return token;
  };
  while (index < tokens.length) {
    const token = next();
    let name: string;
    if (token === '[') {
      name = unquoted(next());
      const close = next();
      if (close !== ']') throw new FieldPathError(`expected ] but got ${close}`);
    } else if (token === '.') {
      name = next();
    } else {
      throw new FieldPathError(`expected [ or . but got: ${token}`);
    }
    const step = stepInto(current, name, result);
    current = step.schema;
    result = step.path;
  }
  return result;
}

function stepInto(
  schema: StructuralSchema,
  name: string,
  path: string,
): { readonly schema: StructuralSchema; readonly path: string } {
  if (schema.properties !== undefined) {
    const property = schema.properties.get(name);
    if (property === undefined) throw new FieldPathError('does not refer to a valid field');
    return { schema: property, path: childPath(path, name) };
  }
  if (schema.additionalProperties === undefined) {
    throw new FieldPathError('does not refer to a valid field');
  }
  return { schema: schema.additionalProperties, path: keyPath(path, name) };
}

/** Dots, brackets, quoted texts, and whatever stands between them. */
function tokensOf(path: string): readonly string[] {
  return path.match(/'(?:\\.|[^'\\])*'|[.[\]]|'[^]*$|[^.[\]][^.[\]]*/g) ?? [];
}

const escapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

function unquoted(token: string): string {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) {
    throw new FieldPathError(`expected single quoted string but got ${token}`);
  }
  return token.slice(1, -1).replace(/\\(.)/g, (sequence, letter: string) => {
    const plain = escapes[letter];
    if (plain === undefined) {
      throw new FieldPathError(`invalid string literal: invalid escape char ${sequence}`);
    }
    return plain;
  });
}

/** The path of a field. */
export const childPath = (path: string, name: string): string =>
  path === '' ? name : `${path}.${name}`;
/** The path of an entry of a map. */
export const keyPath = (path: string, key: string): string => `${path}[${key}]`;
/** The path of an element. */
export const indexPath = (path: string, index: number): string => `${path}[${String(index)}]`;
