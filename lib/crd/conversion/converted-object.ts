// One object of a webhook's answer: what it may be, and what becomes of its metadata. Labels and
// annotations may change; whatever else the answer says of metadata is not heard.
import { goType } from '../../api/go-text.ts';
import { isObject } from '../../api/json-value.ts';
import { textMapErrors } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/type-info.ts';
import type { JsonObject, JsonValue, ResourceInfo } from '../../api/type-info.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import { limits } from '../../base/limits.ts';
import { fieldErrorMessage, StatusError } from '../../base/status.ts';
import type { ApiObject, ObjectMeta } from '../../codec/codec.ts';
import { readSentJson } from '../../codec/json.ts';
import { canonicalObject } from '../../codec/normalise.ts';

/** A version of the kind: what is converted to it is what its type knows. */
export type ConvertedVersion = Pick<ResourceInfo, 'kind' | 'type'>;

type Part = 'object' | 'identity' | 'metadata';

/** What is wrong with an object, and in which part of it: messages name the parts differently. */
export class InvalidObject extends Error {
  readonly #part: Part;

  constructor(part: Part, message: string) {
    super(message);
    this.#part = part;
  }

  /** `index`: in the list that is converted; undefined: it is one by itself. */
  textAt(index: number | undefined): string {
    const isMetadata = this.#part === 'metadata';
    if (index !== undefined) {
      const what = isMetadata ? 'invalid metadata in object' : 'invalid converted object';
      return `returned ${what} at index ${String(index)}: ${this.message}`;
    }
    if (isMetadata) return `returned invalid metadata: ${this.message}`;
    const at = this.#part === 'object' ? ' at index 0' : '';
    return `returned invalid object${at}: ${this.message}`;
  }
}

interface Converted {
  readonly original: Readonly<ApiObject>;
  readonly to: ConvertedVersion;
}

/** @throws InvalidObject */
export function convertedObject(text: string, { original, to }: Converted): ApiObject {
  const object = parsed(text);
  requireVersion(object, to);
  requireSame(object, original);
  const metadata = restoredMetadata(object, original);
  try {
    return canonicalObject({ ...object, metadata }, to.type);
  } catch (error) {
    throw asInvalid(error);
  }
}

function parsed(text: string): JsonObject {
  if (text.length > limits.requestBodyBytesMax) {
    const max = String(limits.requestBodyBytesMax);
    throw new InvalidObject('object', `it is longer than ${max} characters`);
  }
  try {
    const { value } = readSentJson(text);
    if (isObject(value)) return value;
  } catch (error) {
    throw asInvalid(error);
  }
  throw new InvalidObject('object', 'it is not a JSON object');
}

function asInvalid(error: unknown): unknown {
  if (!(error instanceof StatusError)) return error;
  return new InvalidObject('object', error.message);
}

function requireVersion(object: JsonObject, { kind: of }: ConvertedVersion): void {
  const { apiVersion, kind } = object;
  if (typeof kind !== 'string' || kind === '') {
    throw new InvalidObject('object', "Object 'Kind' is missing");
  }
  const expected = apiVersionOf(of);
  const received = typeof apiVersion === 'string' ? apiVersion : '';
  if (received !== expected) {
    throw new InvalidObject(
      'object',
      `invalid groupVersion (expected ${expected}, received ${received})`,
    );
  }
  if (kind === of.kind) return;
  throw new InvalidObject('object', `invalid kind (expected ${of.kind}, received ${kind})`);
}

const identity = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

function requireSame(object: JsonObject, { metadata: own = {} }: Readonly<ApiObject>): void {
  const given = isObject(object['metadata']) ? object['metadata'] : {};
  for (const [member, name] of identity) {
    const [expected, received] = [own[member] ?? '', given[member]];
    const text = typeof received === 'string' ? received : '';
    if (text === expected) continue;
    throw new InvalidObject('identity', `must have the same ${name}: ${expected} != ${text}`);
  }
}

function restoredMetadata(object: JsonObject, original: Readonly<ApiObject>): ObjectMeta {
  const given = object['metadata'];
  if (given === undefined) throw metadataError('missing metadata in converted object');
  if (!isObject(given)) {
    throw metadataError(`invalid metadata of type ${goType(given)} in converted object`);
  }
  const metadata: ObjectMeta = { ...original.metadata };
  for (const member of ['labels', 'annotations'] as const) {
    const texts = given[member] ?? null;
    if (texts === null) {
      delete metadata[member];
      continue;
    }
    metadata[member] = checkedTexts(texts, member, metadata[member] ?? {});
  }
  return metadata;
}

function checkedTexts(
  texts: JsonValue,
  member: 'labels' | 'annotations',
  before: Readonly<Record<string, string>>,
): Record<string, string> {
  if (!isObject(texts)) {
    const type = goType(texts);
    throw metadataError(`invalid metadata.${member} of type ${type} in converted object`);
  }
  const entries = Object.entries(texts);
  let isChanged = entries.length !== Object.keys(before).length;
  for (const [key, value] of entries) {
    if (typeof value !== 'string') {
      const type = goType(value ?? null);
      throw metadataError(
        `metadata.${member}[${key}] must be a string, but is ${type} in converted object`,
      );
    }
    if (!Object.hasOwn(before, key) || before[key] !== value) isChanged = true;
  }
  if (isChanged) {
    const path = member === 'labels' ? 'metadata.labels' : 'metadata.annotation';
    const errors = textMapErrors(member, texts, path);
    const found = errors.map((error) => `${error.field}: ${fieldErrorMessage(error)}`);
    if (found.length > 0) {
      throw metadataError(aggregateText(found));
    }
  }
  return texts as Record<string, string>; // Each value was looked at.
}

const metadataError = (text: string): InvalidObject => new InvalidObject('metadata', text);
