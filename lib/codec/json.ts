// The JSON codec: strict UTF-8, bounded depth, duplicate and unknown fields with their paths, exact
// integers, raw JSON as it is written. The fast path is one scan, JSON.parse and one walk; what is
// rare (duplicates, huge integers, types with raw JSON) runs only when seen.
import { putFieldSetsBack, setFieldSetsAside } from '../api/field-set-json.ts';
import { findDuplicates, replaceLoneSurrogates, scanJson } from '../api/json-scan.ts';
import type { JsonScan } from '../api/json-scan.ts';
import { recordAt } from '../api/json-access.ts';
import { parseExact } from '../api/parse-exact.ts';
import { RawJson } from '../api/raw-json.ts';
import type { JsonObject, JsonValue, TypeInfo } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { badRequest } from '../base/status.ts';
import { isAscii, isUtf8 } from 'node:buffer';
import type { ApiObject, Codec, Decoded, FieldProblem } from './codec.ts';
import { canonicalObject, normalise } from './normalise.ts';
import { makeRecords, recordPlanOf } from './record-plan.ts';
import { holdsRaw, sentText, setRawAside } from './raw-fields.ts';
import { countMembers, pathText, toData, tooDeep } from './walk.ts';

export const jsonCodec: Codec = {
  mediaType: 'application/json',
  decode: (body, type) => decodeJson(decodeText(body), type),
  encode: (object, type) => Buffer.from(encodeText(object, type)),
};

/** Canonical JSON text of an object. */
export function encodeText(object: Readonly<ApiObject>, type: TypeInfo): string {
  const canonical = canonicalObject(object, type);
  const textOf = holdsRaw(type) ? sentText : stringify;
  return type.open === undefined ? textOf(canonical) : openText(canonical, textOf);
}

/** Names of users that look like list indexes would come before kind and apiVersion. */
function openText(
  { kind, apiVersion, ...rest }: ApiObject,
  textOf: (object: Readonly<ApiObject>) => string,
): string {
  const head = stringify({
    ...(kind === undefined ? {} : { kind }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
  }).slice(0, -1);
  const members = textOf(rest).slice(1);
  return head === '{' || members === '}' ? head + members : `${head},${members}`;
}

/** Reads a body without a schema. @throws StatusError 400. */
export type ReadJson = (body: Uint8Array) => JsonValue;

/** A body without a schema, such as a patch. */
export interface ReadData {
  /** Objects have no prototype, of duplicate keys the last one counts; or raw JSON. */
  readonly value: JsonValue;
  /** Members whose key came before. */
  duplicates(): readonly FieldProblem[];
}

/** `isRaw`: checked, and opened where somebody looks into it. @throws StatusError 400. */
export function readData(body: Uint8Array, { isRaw }: { readonly isRaw: boolean }): ReadData {
  const text = decodeText(body);
  const parsed = parse(text);
  return {
    value: isRaw ? RawJson.of(text) : toData(parsed.value),
    duplicates: () =>
      countMembers(parsed.value) === parsed.scan.members ? [] : duplicatesOf(parsed),
  };
}

export const parseData: ReadJson = (body) => readData(body, { isRaw: false }).value;
export const rawData: ReadJson = (body) => readData(body, { isRaw: true }).value;

/**
 * Integers that a double may not hold, in JSON without white space. Long digits within strings
 * (hashes, serial numbers) are common and must not send the text to the slow parser.
 */
const manyDigits = /[:,[]-?\d{16}/;

/** The object of JSON that a codec wrote: canonical, and nothing in it needs to be looked at. */
export function parseCanonical(json: Uint8Array): ApiObject {
  const text = decodeText(json);
  return parseAny(text) as ApiObject;
}

/**
 * As the codec decodes a body, for JSON that it wrote itself: bounded, without duplicates, and
 * nobody is told of problems. Field sets are shared (field-set-json.ts).
 * @throws StatusError 400 when the bytes are no such JSON.
 */
export function decodeCanonical(json: Uint8Array, type: TypeInfo): ApiObject {
  const given = decodeText(json);
  return orMalformed(given, () => {
    const { text, raws } = holdsRaw(type) ? setRawAside(given, type) : { text: given };
    const isShared = raws === undefined && type.open === undefined;
    const value = isShared ? parseSharing(text) : parseAny(text);
    return normalise(value, type, { owned: true, reporting: false, raws }).object;
  });
}

/**
 * The same for JSON that was written by the type as it is now: canonical, so nothing in it is
 * looked at that JSON.parse makes as it should be.
 */
export function decodeOwn(json: Uint8Array, type: TypeInfo): ApiObject {
  const plan = recordPlanOf(type);
  if (plan === undefined) return decodeCanonical(json, type);
  const text = decodeText(json);
  const object = orMalformed(text, () => parseSharing(text)) as ApiObject;
  makeRecords(object, plan);
  return object;
}

const parseAny = (text: string): JsonValue =>
  manyDigits.test(text) ? parseExact(text) : (JSON.parse(text) as JsonValue);

/** With its field sets shared, unless some of them are no managed fields of its own. */
function parseSharing(text: string): JsonValue {
  const aside = setFieldSetsAside(text);
  if (aside === undefined) return parseAny(text);
  const value = parseAny(aside.text);
  const list = recordAt(value as JsonObject, 'metadata')?.['managedFields'];
  return putFieldSetsBack(list, aside.sets) ? value : parseAny(text);
}

/** @throws StatusError 400 for what the parser refuses in `text`. */
function orMalformed<T>(text: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw malformed(text, error);
  }
}

/** JSON.stringify that also writes integers beyond 2^53. */
export function stringify(value: JsonValue | Readonly<ApiObject>, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // A bigint is the only value that JSON refuses here.
    return JSON.stringify(value, writeBigint, indent);
  }
}

/** The body as text. @throws StatusError 400 unless it is UTF-8. */
export function decodeText(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (!isUtf8(bytes)) throw badRequest('the body is not valid UTF-8');
  return bytes.toString('utf8');
}

/**
 * For readers of YAML, which holds JSON: tools send JSON under YAML's media types, and large bodies
 * come that way. undefined: the text is not JSON, YAML may read it.
 */
export function decodeIfJson(text: string, type: TypeInfo): Decoded | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined; // Flow style that is not JSON, or broken: YAML's reader says which.
  }
  return decodeJson(text, type);
}

/** As the codec decodes a body. */
export function decodeJson(text: string, type: TypeInfo): Decoded {
  const whole = parse(text);
  if (!holdsRaw(type)) return finish(whole, type, { owned: true });
  const aside = setRawAside(text, type);
  return finish(parse(aside.text), type, { owned: true, raws: aside.raws });
}

/** JSON of an object as it was sent: not completed, and nothing is left out. */
export interface SentJson {
  readonly value: JsonValue;
  /** What a codec would report of it. @throws StatusError 400 as `decodeJson`. */
  readonly problems: (type: TypeInfo) => readonly FieldProblem[];
}

/** @throws StatusError 400 */
export function readSentJson(text: string): SentJson {
  const whole = parse(text);
  return {
    value: whole.value,
    problems: (type) =>
      (holdsRaw(type) ? decodeJson(text, type) : finish(whole, type, { owned: false })).problems,
  };
}

interface Parsed {
  readonly value: JsonValue;
  readonly text: string;
  readonly scan: JsonScan;
}

function parse(given: string): Parsed {
  const scan = scanJson(given, limits.bodyDepthMax);
  if (scan.depth > limits.bodyDepthMax) throw tooDeep();
  const text = scan.surrogates ? replaceLoneSurrogates(given) : given;
  const value = orMalformed(
    text,
    () => (scan.bigDigits ? parseExact(text) : JSON.parse(text)) as JsonValue,
  );
  return { value, text, scan };
}

function finish(
  parsed: Parsed,
  type: TypeInfo,
  mode: { readonly owned: boolean; readonly raws?: readonly JsonValue[] },
): Decoded {
  const read = normalise(parsed.value, type, { ...mode, reporting: true });
  if (read.members === parsed.scan.members) return { object: read.object, problems: read.problems };
  return { object: read.object, problems: [...duplicatesOf(parsed), ...read.problems] };
}

function duplicatesOf({ text }: Parsed): readonly FieldProblem[] {
  const duplicates: FieldProblem[] = [];
  findDuplicates(text, (path) => {
    if (duplicates.length >= limits.fieldProblemsMax) return;
    duplicates.push({ kind: 'duplicate', path: pathText(path) });
  });
  return duplicates;
}

/**
 * Says what is wrong and where; the parser's own text may quote the body, which can hold secrets.
 */
function malformed(text: string, error: SyntaxError): Error {
  if (text.trim() === '') return badRequest('the body is empty, a JSON object is needed');
  const position = /at position (\d+)/.exec(error.message)?.[1];
  if (position !== undefined) {
    return badRequest(`the body is not valid JSON: unexpected text at character ${position}`);
  }
  const end = error.message.includes('end of JSON input') || error.message.includes('Unterminated');
  return badRequest(`the body is not valid JSON${end ? ': it ends too early' : ''}`);
}

const rawJson = (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON;
const writeBigint = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? rawJson(value.toString()) : value;
