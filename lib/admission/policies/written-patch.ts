// Mutations that are written as JSON patches. A `test` that fails leaves the object as it is,
// without an error; what is patched is read strictly.
import { opened } from '../../api/raw-json.ts';
import type { JsonObject, JsonValue, TypeInfo } from '../../api/type-info.ts';
import { JsonPatchMismatch, applyJsonPatch, readJsonPatch } from '../../apply/json-patch.ts';
import type { JsonPatchOperation, JsonPointer } from '../../apply/json-patch.ts';
import { StatusError } from '../../base/status.ts';
import { isList, isMap, listItems } from '../../cel/model/value.ts';
import type { MapValue, Value } from '../../cel/model/value.ts';
import { WrittenObject, mutationProblem } from '../../cel/use/mutation-types.ts';
import { NotJson, writtenJson } from '../../cel/use/written-json.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { readObject } from '../../codec/normalise.ts';
import { MutationFailure } from './mutation-result.ts';
import type { Mutated } from './mutation-result.ts';

/**
 * `value` is what the expression came to, a list of JSONPatch; `type` is that of `live`.
 * @param base as `readObject` takes it
 */
export function applyWrittenPatch(
  live: Readonly<ApiObject>,
  value: Value,
  type: TypeInfo,
  base?: Readonly<ApiObject>,
): Mutated {
  const items = isList(value) ? listItems(value) : [];
  if (items.length === 0) return live;
  const failed = (why: string): Mutated => new MutationFailure(`JSON Patch: ${why}`);
  const operations: JsonValue[] = [];
  try {
    for (const item of items) {
      const operation = operationOf(item);
      if (operation instanceof MutationFailure) return operation;
      operations.push(operation);
    }
    const patched = applyJsonPatch(live, readJsonPatch(operations));
    const { object, problems } = readObject(patched, type, base);
    const [problem] = problems;
    if (problem === undefined) return object;
    return failed(`strict decoding error: ${problem.kind} field "${problem.path}"`);
  } catch (error) {
    if (error instanceof JsonPatchMismatch) {
      return error.operation.op === 'test' &&
        isThere(error.document, parentOf(error.operation.path))
        ? live
        : failed(mismatchText(error));
    }
    if (error instanceof NotJson || error instanceof StatusError) return failed(error.message);
    throw error;
  }
}

const operationNames = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

function operationOf(item: Value): JsonObject | MutationFailure {
  if (!isMap(item)) return new MutationFailure('JSON Patch: an operation must be a JSONPatch');
  const op = fieldOf(item, 'op') ?? '';
  if (typeof op !== 'string' || !operationNames.has(op)) {
    return new MutationFailure(`JSON Patch: Unexpected kind: ${typeof op === 'string' ? op : ''}`);
  }
  const value = fieldOf(item, 'value') ?? null;
  const problem =
    value instanceof WrittenObject ? mutationProblem(value, value.typeName) : undefined;
  if (problem !== undefined) return new MutationFailure(problem);
  const path = writtenJson(fieldOf(item, 'path') ?? '');
  const from = writtenJson(fieldOf(item, 'from') ?? '');
  return { op, path, from, value: writtenJson(value) };
}

const fieldOf = (item: MapValue, name: string): Value | undefined => item.find(name);

const missing = 'missing value';

/** Texts of the library that kube-apiserver patches with: authors look for them. */
function mismatchText({ operation, document }: JsonPatchMismatch): string {
  const { op, path } = operation;
  const at = pointerText(path);
  const hasParent = isThere(document, parentOf(path));
  const key = path.at(-1) ?? '';
  switch (op) {
    case 'add':
      if (!hasParent)
        return `add operation does not apply: doc is missing path: "${at}": ${missing}`;
      return `error in add for path: '${at}': ${indexText(key)}`;
    case 'remove':
      if (!hasParent) {
        return `remove operation does not apply: doc is missing path: "${at}": ${missing}`;
      }
      return `error in remove for path: '${at}': ${absenceText(document, path)}`;
    case 'replace': {
      const what = hasParent ? 'key' : 'path';
      return `replace operation does not apply: doc is missing ${what}: ${at}: ${missing}`;
    }
    case 'test':
      return `test operation does not apply: is missing path: ${at}: ${missing}`;
    case 'move':
    case 'copy':
      return transferText(operation, document, hasParent);
  }
}

function transferText(
  { op, from, path }: Extract<JsonPatchOperation, { op: 'move' | 'copy' }>,
  document: JsonValue,
  hasParent: boolean,
): string {
  if (!isThere(document, parentOf(from))) {
    const source = pointerText(from);
    return `${op} operation does not apply: doc is missing from path: ${source}: ${missing}`;
  }
  if (!hasParent) {
    const target = pointerText(path);
    return `${op} operation does not apply: doc is missing destination path: ${target}: ${missing}`;
  }
  if (isThere(document, from)) {
    return `error in ${op} for path: '${pointerText(path)}': ${indexText(path.at(-1) ?? '')}`;
  }
  const [word, source] = op === 'copy' ? ['from', pointerText(from)] : ['path', from.at(-1) ?? ''];
  return `error in ${op} for ${word}: '${source}': ${absenceText(document, from)}`;
}

function absenceText(document: JsonValue, path: JsonPointer): string {
  const key = path.at(-1) ?? '';
  if (Array.isArray(valueAt(document, parentOf(path)))) return indexText(key);
  return `Unable to remove nonexistent key: ${key}: ${missing}`;
}

const indexText = (key: string): string =>
  /^\d+$/.test(key)
    ? `Unable to access invalid index: ${key}: invalid index referenced`
    : `value was not a proper array index: '${key}'`;

const pointerText = (path: JsonPointer): string =>
  path.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const parentOf = (path: JsonPointer): JsonPointer => path.slice(0, -1);

function isThere(document: JsonValue, path: JsonPointer): boolean {
  return valueAt(document, path) !== undefined;
}

function valueAt(document: JsonValue, path: JsonPointer): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const token of path) {
    const inner: JsonValue = opened(value);
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, token))
      return undefined;
    value = (inner as JsonObject)[token];
    if (value === undefined) return undefined;
  }
  return value;
}
