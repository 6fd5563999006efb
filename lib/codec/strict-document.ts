// Configuration files: one document in YAML or JSON of a known kind, decoded strictly, since a rule
// that is misspelt would not hold. What a field may hold beyond its type is the caller's to say.
import { textAt } from '../api/json-access.ts';
import { childPath } from '../api/field-errors.ts';
import { isObject } from '../api/json-value.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { readYaml } from './yaml-reader.ts';

/** What a value of a document may be; null stands for an absent one. */
export type DocumentShape =
  | 'text'
  | 'flag'
  | { readonly listOf: DocumentShape }
  | { readonly fields: Readonly<Record<string, DocumentShape>> };

export interface DocumentKind {
  readonly kind: string;
  /** Of the versions that are read. */
  readonly apiVersions: readonly string[];
  /** Besides `kind` and `apiVersion`. */
  readonly fields: Readonly<Record<string, DocumentShape>>;
}

/**
 * @param text YAML or JSON
 * @throws Error that names what is wrong, all of it, without the name of the file
 */
export function readStrictDocument(text: string, wanted: DocumentKind): JsonObject {
  if (text.trim() === '') throw new Error('the file is empty');
  const { value, duplicates } = readYaml(text);
  if (!isObject(value)) throw new Error('must hold an object');
  const [kind, apiVersion] = [textAt(value, 'kind'), textAt(value, 'apiVersion')];
  if (kind !== wanted.kind || !wanted.apiVersions.includes(apiVersion)) {
    throw new Error(
      `must be of kind ${wanted.kind} in version ${wanted.apiVersions.join(' or ')}, it is of ` +
        `kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
    );
  }
  const problems = duplicates.map(({ path }) => `duplicate field "${path}"`);
  const fields = { kind: 'text', apiVersion: 'text', ...wanted.fields } as const;
  checkShape(value, { fields }, '', problems);
  if (problems.length > 0) throw new Error(`strict decoding error: ${problems.join(', ')}`);
  return value;
}

function checkShape(
  value: JsonValue | undefined,
  shape: DocumentShape,
  path: string,
  problems: string[],
): void {
  if (value === undefined || value === null) return;
  if (shape === 'text' || shape === 'flag') {
    const type = shape === 'text' ? 'string' : 'boolean';
    if (typeof value !== type) problems.push(`${path}: must be a ${type}`);
  } else if ('listOf' in shape) {
    if (!Array.isArray(value)) problems.push(`${path}: must be a list`);
    else
      value.forEach((one, at) => checkShape(one, shape.listOf, `${path}[${String(at)}]`, problems));
  } else if (!isObject(value)) {
    problems.push(`${path}: must be an object`);
  } else {
    for (const [name, member] of Object.entries(value)) {
      const known = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
      const at = childPath(path, name);
      if (known === undefined) problems.push(`unknown field "${at}"`);
      else checkShape(member, known, at, problems);
    }
  }
}
