// JSON Patch (RFC 6902) as pure functions: the result shares what a patch leaves with the document.
// Any key is data, work is bounded. A patch that cannot be read is a 400, one that does not fit a
// 422, one without bound a 413.
import { copyOfLevel, isRecord, jsonEqual, ownMember, setMember } from '../api/json-value.ts';
import { opened, parsed, RawJson, sortedText } from '../api/raw-json.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { StatusError, badRequest, requestEntityTooLarge } from '../base/status.ts';
import { parseData } from '../codec/json.ts';
import type { ReadJson } from '../codec/json.ts';
import { toData } from '../codec/walk.ts';

/** Reference tokens of a JSON pointer; `[]` is the whole document. */
export type JsonPointer = readonly string[];

export type JsonPatchOperation =
  | {
      readonly op: 'add' | 'replace' | 'test';
      readonly path: JsonPointer;
      readonly value: JsonValue;
    }
  | { readonly op: 'remove'; readonly path: JsonPointer }
  | { readonly op: 'move' | 'copy'; readonly path: JsonPointer; readonly from: JsonPointer };

/**
 * `read` gives values, or raw JSON for objects whose text counts.
 * @throws StatusError 400 when the body is not a list of operations, 413 when there are too many.
 */
export function parseJsonPatch(
  body: Uint8Array,
  read: ReadJson = parseData,
): readonly JsonPatchOperation[] {
  const value = opened(read(body));
  if (!Array.isArray(value)) throw badRequest('a JSON patch must be a list of operations');
  return readJsonPatch(value);
}

/** The same of a list that is there as JSON. @throws StatusError 400, 413 */
export function readJsonPatch(value: readonly JsonValue[]): readonly JsonPatchOperation[] {
  const max = limits.jsonPatchOperationsMax;
  if (value.length > max) {
    throw requestEntityTooLarge(
      `a JSON patch may hold ${String(max)} operations, this one has ${String(value.length)}`,
    );
  }
  return value.map(parseOperation);
}

/** An operation that does not fit the document as those before it have left it. */
export class JsonPatchMismatch extends StatusError {
  readonly operation: JsonPatchOperation;
  /** Not to be changed. */
  readonly document: JsonValue;

  constructor(message: string, operation: JsonPatchOperation, document: JsonValue) {
    super(422, 'Invalid', message);
    this.operation = operation;
    this.document = document;
  }
}

/**
 * The result is not to be changed: it shares parts with the document, which is no deeper than
 * `limits.bodyDepthMax`. @throws JsonPatchMismatch, StatusError 413 when copies grow beyond the
 * limit, 400 when values are nested too deep
 */
export function applyJsonPatch(
  document: JsonValue,
  operations: readonly JsonPatchOperation[],
): JsonValue {
  const state: PatchState = {
    root: document,
    own: new Set(),
    mayBeDeep: document instanceof RawJson,
    copyBytesLeft: limits.jsonPatchCopyBytesMax,
    shiftsLeft: limits.jsonPatchShiftsMax,
  };
  for (const [index, operation] of operations.entries()) apply(state, operation, index);
  if (state.mayBeDeep && isDeeperThan(state.root, limits.bodyDepthMax)) throw tooDeep();
  return state.root;
}

interface PatchState {
  root: JsonValue;
  /** Objects and lists of the result that the document does not have: they may be changed. */
  readonly own: Set<JsonValue>;
  /** Something was put where it may be too deep. */
  mayBeDeep: boolean;
  copyBytesLeft: number;
  shiftsLeft: number;
}

function parseOperation(operation: JsonValue, index: number): JsonPatchOperation {
  const invalid = (why: string): StatusError =>
    badRequest(`invalid operation ${String(index)} of the JSON patch: ${why}`);
  const value = opened(operation);
  if (!isRecord(value)) throw invalid('it must be an object');
  const op = parsed(value['op'] ?? null);
  const pointer = (member: 'path' | 'from'): JsonPointer => {
    const text = parsed(value[member] ?? null);
    const tokens = typeof text === 'string' ? parsePointer(text) : undefined;
    if (tokens === undefined)
      throw invalid(`"${member}" must be a JSON pointer such as /metadata/labels/a`);
    return tokens;
  };
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      if (!Object.hasOwn(value, 'value')) throw invalid('"value" is missing');
      return { op, path: pointer('path'), value: value['value'] ?? null };
    case 'remove':
      return { op, path: pointer('path') };
    case 'move':
    case 'copy':
      return { op, path: pointer('path'), from: pointer('from') };
    default:
      throw invalid('"op" must be one of add, remove, replace, move, copy, test');
  }
}

function parsePointer(text: string): JsonPointer | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  const tokens = text.slice(1).split('/');
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function apply(state: PatchState, operation: JsonPatchOperation, index: number): void {
  const { path } = operation;
  const fail: Fail = (why) => {
    const pointer = path
      .map((token) => `/${token}`)
      .join('')
      .slice(0, limits.fieldPathLengthMax);
    const at = `operation ${String(index)} (${operation.op} "${pointer}")`;
    const message = `the JSON patch does not fit the object: ${at}: ${why}`;
    throw new JsonPatchMismatch(message, operation, state.root);
  };
  switch (operation.op) {
    case 'add':
      add(state, path, given(state, operation), fail);
      break;
    case 'remove':
      remove(state, path, fail);
      break;
    case 'replace':
      replace(state, path, given(state, operation), fail);
      break;
    case 'test':
      if (!isEqual(get(state.root, path, fail), operation.value)) fail('the value is another one');
      break;
    case 'copy':
      add(state, path, copied(state, get(state.root, operation.from, fail)), fail);
      break;
    case 'move':
      move(state, operation.from, path, fail);
      break;
  }
}

type Fail = (why: string) => never;

/** What an operation puts at its path. */
function given(
  state: PatchState,
  { path, value }: { readonly path: JsonPointer; readonly value: JsonValue },
): JsonValue {
  if (isDeeperThan(value, limits.bodyDepthMax - path.length)) state.mayBeDeep = true;
  return toData(value);
}

function get(root: JsonValue, path: JsonPointer, fail: Fail): JsonValue {
  let value = root;
  for (const token of path) value = child(opened(value), token, fail);
  return value;
}

/** `parent` is open. */
function child(parent: JsonValue, token: string, fail: Fail): JsonValue {
  if (Array.isArray(parent)) {
    return parent[listIndex(token, parent.length - 1, fail)] ?? null;
  }
  const value = isRecord(parent) ? ownMember(parent, token) : undefined;
  return value === undefined ? fail(`there is no ${JSON.stringify(token)}`) : value;
}

/** What lies at the path, to be changed: it and all that is around it belong to the document. */
function openAt(state: PatchState, path: JsonPointer, fail: Fail): JsonValue {
  let value = (state.root = ownLevel(state, state.root));
  for (const token of path) {
    const inner = child(value, token, fail);
    const own = ownLevel(state, inner);
    if (own !== inner) setChild(value, token, own);
    value = own;
  }
  return value;
}

/** The value without what lies in it: a copy, unless that was made already. */
function ownLevel({ own }: PatchState, value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || own.has(value)) return value;
  const open = opened(value);
  const copy = Array.isArray(open) ? open.slice() : isRecord(open) ? copyOfLevel(open) : open;
  own.add(copy);
  return copy;
}

/** `child` has found it, so the parent is a list or an object. */
function setChild(parent: JsonValue, token: string, value: JsonValue): void {
  if (Array.isArray(parent)) parent[Number(token)] = value;
  else setMember(parent as JsonObject, token, value);
}

/** An index from 0 to `last`. */
function listIndex(token: string, last: number, fail: Fail): number {
  if (!/^(?:0|[1-9]\d{0,9})$/.test(token))
    return fail(`${JSON.stringify(token)} is no index of a list`);
  const index = Number(token);
  return index <= last ? index : fail(`the list has no index ${token}`);
}

function add(state: PatchState, path: JsonPointer, value: JsonValue, fail: Fail): void {
  const last = path.at(-1);
  if (last === undefined) {
    state.root = value;
    return;
  }
  const parent = openAt(state, path.slice(0, -1), fail);
  if (Array.isArray(parent)) {
    const index = last === '-' ? parent.length : listIndex(last, parent.length, fail);
    countShifts(state, parent.length - index);
    parent.splice(index, 0, value);
  } else if (isRecord(parent)) setMember(parent, last, value);
  else fail('its parent is neither an object nor a list');
}

function replace(state: PatchState, path: JsonPointer, value: JsonValue, fail: Fail): void {
  const last = path.at(-1);
  if (last === undefined) {
    state.root = value;
    return;
  }
  const parent = openAt(state, path.slice(0, -1), fail);
  child(parent, last, fail);
  setChild(parent, last, value);
}

function remove(state: PatchState, path: JsonPointer, fail: Fail): JsonValue {
  const last = path.at(-1);
  if (last === undefined) return fail('the whole object cannot be removed');
  const parent = openAt(state, path.slice(0, -1), fail);
  const removed = child(parent, last, fail);
  if (Array.isArray(parent)) {
    countShifts(state, parent.length - Number(last));
    parent.splice(Number(last), 1);
  } else {
    Reflect.deleteProperty(parent as JsonObject, last); // `child` found it, so it is an object.
  }
  return removed;
}

function countShifts(state: PatchState, count: number): void {
  state.shiftsLeft -= count;
  if (state.shiftsLeft < 0) {
    throw requestEntityTooLarge('the JSON patch shifts too many elements of long lists');
  }
}

function move(state: PatchState, from: JsonPointer, path: JsonPointer, fail: Fail): void {
  const isPrefix = from.length <= path.length && from.every((token, at) => path[at] === token);
  if (isPrefix && from.length < path.length) fail('a value cannot be moved into itself');
  if (isPrefix) {
    get(state.root, from, fail);
    return;
  }
  state.mayBeDeep = true;
  add(state, path, remove(state, from, fail), fail);
}

function copied(state: PatchState, value: JsonValue): JsonValue {
  if (isDeeperThan(value, limits.bodyDepthMax)) throw tooDeep();
  state.mayBeDeep = true;
  state.copyBytesLeft -= Buffer.byteLength(sortedText(value));
  if (state.copyBytesLeft < 0) {
    const max = String(limits.jsonPatchCopyBytesMax);
    throw requestEntityTooLarge(`copy operations of a JSON patch may add ${max} bytes`);
  }
  return toData(value);
}

/** Level by level: raw JSON may lie anywhere in what was found. */
function isEqual(found: JsonValue, wanted: JsonValue): boolean {
  const [value, expected] = [parsed(found), parsed(wanted)];
  if (Array.isArray(expected)) {
    if (!Array.isArray(value) || value.length !== expected.length) return false;
    return expected.every((element, index) => isEqual(value[index] ?? null, element));
  }
  if (!isRecord(expected) || !isRecord(value)) return jsonEqual(value, expected);
  const keys = namesOf(expected);
  if (keys.length !== namesOf(value).length) return false;
  return keys.every(
    (key) => Object.hasOwn(value, key) && isEqual(value[key] ?? null, expected[key] ?? null),
  );
}

const namesOf = (object: Readonly<JsonObject>): readonly string[] =>
  Object.keys(object).filter((name) => object[name] !== undefined);

/** Goes no deeper than `depthMax`: moves can nest a document deeper than any stack. */
function isDeeperThan(value: JsonValue, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof RawJson) return value.depth > depthMax;
  if (depthMax <= 0) return true;
  if (Array.isArray(value)) return value.some((element) => isDeeperThan(element, depthMax - 1));
  for (const name in value) {
    const member = value[name];
    if (typeof member === 'object' && isDeeperThan(member, depthMax - 1)) return true;
  }
  return false;
}

const tooDeep = (): StatusError =>
  badRequest(`the patched object nests deeper than ${String(limits.bodyDepthMax)} levels`);
