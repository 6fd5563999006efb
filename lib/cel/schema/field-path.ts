// Paths to fields: the JSONPath of a rule's `fieldPath`, checked against its type, and the paths
// that errors show.
import { childPath } from '../../api/field-errors.ts';
import type { ValueInfo } from '../../api/type-info.ts';
import { memberOf } from '../../api/value-info.ts';

/** A path that does not lead to a field. */
export class FieldPathError extends Error {}

/**
 * `.a['b']` as the path that errors show below the rule's own: `a.b`, or `a[b]` where `a` is a map.
 */
export function relativeFieldPath(path: string, value: ValueInfo): string {
  const tokens = tokensOf(path);
  let current = value;
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
    const member = memberOf(current, name);
    if (member === undefined) throw new FieldPathError('does not refer to a valid field');
    result = current.cardinality === 'map' ? keyPath(result, name) : childPath(result, name);
    current = member;
  }
  return result;
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

/** The path of an entry of a map. */
export const keyPath = (path: string, key: string): string => `${path}[${key}]`;
/** The path of an element. */
export const indexPath = (path: string, index: number): string => `${path}[${String(index)}]`;
