// The form of an object in etcd: one line of header (JSON), then the object's canonical JSON
// without resourceVersion. The header names the schema generation and byte offsets, so that a
// replica of the same release serves the bytes as they are.
import { createHash } from 'node:crypto';
import { fieldSetText } from '../api/field-set-json.ts';
import { isObject } from '../api/json-value.ts';
import { comparedText, selectableFields } from '../api/selectable-fields.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonValue, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { asBuffer } from '../base/as-buffer.ts';
import { invariant } from '../base/invariant.ts';
import type { ApiObject, ObjectMeta } from './codec.ts';
import { stringify } from './json.ts';
import { canonicalObject } from './normalise.ts';
import { typesBelow } from '../api/value-info.ts';
import { holdsRaw, keptText, spelledAsSent } from './raw-fields.ts';

const quote = 0x22;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const newline = 0x0a;

/** Offsets count bytes of the object's JSON (the payload after the header line). */
export interface StoredHeader {
  /** Form of the payload; `json` is the only one written so far. */
  readonly media: 'json';
  /** Schema generation of the resource (schemaGeneration) that wrote the payload. */
  readonly schema: string;
  /** Bytes of the payload: a value that was cut is seen. */
  readonly size: number;
  /** Where `"resourceVersion":"…",` belongs: always followed by another member of metadata. */
  readonly versionAt: number;
  /**
   * Where the members after kind and apiVersion begin (the `"metadata"` key): entries of typed
   * lists start there.
   */
  readonly bodyAt: number;
  /** Start and end of the labels object, or absent without labels. */
  readonly labels?: readonly [number, number];
  /**
   * Values of selectable fields other than metadata.name and metadata.namespace, as they are
   * compared (`comparedText`): the header stays short. Unset ones are left out.
   */
  readonly fields?: Readonly<Record<string, string>>;
  /** false: raw JSON in the payload is spelt otherwise than answers show it (`RawJson.sent`). */
  readonly rawAsSent?: false;
}

export interface OpenedStored {
  readonly header: StoredHeader;
  /** A view into the given bytes: copy what you keep. */
  readonly payload: Uint8Array;
}

/** An encoded object as it would be opened, and the value to put under its key. */
export interface EncodedStored extends OpenedStored {
  readonly value: Uint8Array;
  /** The object that was encoded, in canonical form. Not to be changed. */
  readonly canonical: Readonly<ApiObject>;
}

/** `metadata.resourceVersion` of the object is ignored. */
export type EncodeStored = (object: Readonly<ApiObject>, resource: ResourceInfo) => EncodedStored;
/**
 * undefined: not written by this product (plain JSON, Protobuf, another product): decode it by its
 * own form.
 */
export type OpenStored = (value: Uint8Array) => OpenedStored | undefined;
/** The value that opens as this. */
export type CloseStored = (opened: OpenedStored) => Uint8Array;
/** The payload with `resourceVersion` set: one allocation, ready to send. */
export type WithResourceVersion = (opened: OpenedStored, revision: number) => Uint8Array;

/** Members of metadata that come before resourceVersion in schema order. */
const beforeVersion: ReadonlySet<string> = new Set([
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
]);

/** `resource` is the record of the version that is stored, and the object is in that version. */
export const encodeStored: EncodeStored = (object, resource) => {
  const canonical = canonicalObject(object, resource.type);
  const kind = JSON.stringify(canonical.kind ?? resource.kind.kind);
  const apiVersion = JSON.stringify(canonical.apiVersion ?? apiVersionOf(resource.kind));
  const head = `{"kind":${kind},"apiVersion":${apiVersion},`;
  const metadata = encodeMetadata(canonical.metadata ?? {}, `${head}"metadata":{`);
  let { text } = metadata;
  const spelling = holdsRaw(resource.type) ? { isAsSent: true } : undefined;
  for (const key of Object.keys(canonical)) {
    if (key === 'kind' || key === 'apiVersion' || key === 'metadata') continue;
    const value = canonical[key] as JsonValue;
    const written = spelling === undefined ? stringify(value) : keptText(value, spelling);
    text += `,${JSON.stringify(key)}:${written}`;
  }
  text += '}';
  const size = Buffer.byteLength(text);
  const bytesAt = byteOffsets(text, size);
  const { labels } = metadata;
  const fields = selectableFields(canonical, resource);
  const header: StoredHeader = {
    media: 'json',
    schema: schemaGeneration(resource),
    size,
    versionAt: bytesAt(metadata.versionAt),
    bodyAt: bytesAt(head.length),
    ...(labels === undefined ? {} : { labels: [bytesAt(labels[0]), bytesAt(labels[1])] as const }),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
    ...(spelling?.isAsSent === false ? { rawAsSent: false } : {}),
  };
  const value = joinedLines(JSON.stringify(header), text, size);
  const payload = value.subarray(value.length - size);
  invariant(fits(header, payload), 'what is stored can be opened again');
  return { header, payload, value, canonical };
};

/** `size`: bytes of the second. Each is written by itself: joined, they would be copied again. */
function joinedLines(header: string, text: string, size: number): Buffer {
  const textAt = Buffer.byteLength(header) + 1;
  const bytes = Buffer.allocUnsafe(textAt + size);
  bytes.write(header);
  bytes[textAt - 1] = newline;
  bytes.write(text, textAt);
  return bytes;
}

export const closeStored: CloseStored = ({ header, payload }) =>
  Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), payload]);

interface MetadataText {
  /** `before` and the members of metadata, closed. */
  readonly text: string;
  readonly versionAt: number;
  readonly labels: readonly [number, number] | undefined;
}

function encodeMetadata(metadata: Readonly<ObjectMeta>, before: string): MetadataText {
  let text = before;
  let versionAt: number | undefined;
  let labels: readonly [number, number] | undefined;
  for (const key of Object.keys(metadata)) {
    const value = metadata[key];
    if (key === 'resourceVersion' || value === undefined) continue;
    if (text.length > before.length) text += ',';
    if (!beforeVersion.has(key)) versionAt ??= text.length;
    text += `${JSON.stringify(key)}:`;
    const from = text.length;
    text += key === 'managedFields' ? managedFieldsText(value) : stringify(value);
    if (key === 'labels') labels = [from, text.length];
  }
  invariant(text.length > before.length, 'a stored object has metadata');
  return { text: `${text}}`, versionAt: versionAt ?? before.length, labels };
}

const managedFieldsText = (entries: JsonValue): string =>
  Array.isArray(entries) ? `[${entries.map(managedEntryText).join()}]` : stringify(entries);

function managedEntryText(entry: JsonValue): string {
  const set = isObject(entry) ? entry['fieldsV1'] : undefined;
  if (!isObject(entry) || !isObject(set)) return stringify(entry);
  const text = stringify({ ...entry, fieldsV1: 0 });
  return text.replace('"fieldsV1":0', () => `"fieldsV1":${fieldSetText(set)}`);
}

/** From offsets in text to offsets in its UTF-8 bytes, of which it has `size`. */
function byteOffsets(text: string, size: number): (offset: number) => number {
  if (size === text.length) return (offset) => offset;
  return (offset) => Buffer.byteLength(text.slice(0, offset));
}

const opening = Buffer.from('{"media":"json","schema":"');

export const openStored: OpenStored = (value) => {
  const bytes = asBuffer(value);
  for (let at = 0; at < opening.length; at += 1) if (bytes[at] !== opening[at]) return undefined;
  const end = bytes.indexOf(newline);
  if (end === -1) return undefined;
  const payload = bytes.subarray(end + 1);
  const header = parseHeader(bytes.toString('utf8', 0, end));
  if (header === undefined || !fits(header, payload)) return undefined;
  return { header: withComparedFields(header), payload };
};

/** Earlier releases wrote values of any length. */
function withComparedFields(header: StoredHeader): StoredHeader {
  const { fields } = header;
  for (const path in fields) {
    const value = fields[path] ?? '';
    if (comparedText(value) === value) continue;
    const entries = Object.entries(fields).map(([name, text]) => [name, comparedText(text)]);
    return { ...header, fields: Object.fromEntries(entries) as Record<string, string> };
  }
  return header;
}

function parseHeader(line: string): StoredHeader | undefined {
  try {
    return JSON.parse(line) as StoredHeader; // Checked member by member in `fits`.
  } catch {
    return undefined; // Not a header line: the value is another form or corrupted.
  }
}

/** Every offset lies where an offset of its kind must: what follows may rely on it. */
function fits(header: StoredHeader, payload: Uint8Array): boolean {
  const { versionAt, bodyAt, labels, fields } = header;
  const last = payload.length - 1;
  if (payload.length !== header.size || payload[0] !== openBrace || payload[last] !== closeBrace)
    return false;
  if (typeof header.schema !== 'string') return false;
  if (!(Number.isInteger(versionAt) && Number.isInteger(bodyAt))) return false;
  if (!(bodyAt > 0 && bodyAt < versionAt && versionAt < last)) return false;
  if (payload[bodyAt] !== quote || payload[versionAt] !== quote) return false;
  const before = payload[versionAt - 1];
  if (before !== openBrace && before !== comma) return false;
  if (labels !== undefined && !fitsLabels(labels, payload)) return false;
  return fields === undefined || areTexts(fields);
}

function fitsLabels(labels: unknown, payload: Uint8Array): boolean {
  if (!Array.isArray(labels)) return false;
  const [from, to] = labels as readonly unknown[];
  if (!(Number.isInteger(from) && Number.isInteger(to))) return false;
  const [first, end] = [Number(from), Number(to)];
  return (
    first > 0 &&
    end < payload.length &&
    payload[first] === openBrace &&
    payload[end - 1] === closeBrace
  );
}

function areTexts(fields: unknown): boolean {
  if (typeof fields !== 'object' || fields === null) return false;
  return Object.values(fields).every((value) => typeof value === 'string');
}

export const withResourceVersion: WithResourceVersion = ({ header, payload }, revision) => {
  const insert = `"resourceVersion":"${String(revision)}",`;
  const bytes = Buffer.allocUnsafe(payload.length + insert.length);
  const { versionAt } = header;
  const source = asBuffer(payload);
  source.copy(bytes, 0, 0, versionAt);
  bytes.write(insert, versionAt, 'latin1');
  source.copy(bytes, versionAt + insert.length, versionAt);
  return bytes;
};

/** What the JSON of `withResourceVersion` holds, of the object that was encoded. */
export function objectAtVersion(
  canonical: Readonly<ApiObject>,
  revision: number,
): Readonly<ApiObject> {
  const version = String(revision);
  const metadata: ObjectMeta = {};
  for (const key of Object.keys(canonical.metadata ?? {})) {
    if (!beforeVersion.has(key)) metadata.resourceVersion ??= version;
    if (key !== 'resourceVersion') metadata[key] = canonical.metadata?.[key];
  }
  return { ...canonical, metadata };
}

/** The same with raw JSON spelt as answers show it; it lies behind what the header points to. */
export function asSent({ header, payload }: OpenedStored, { type }: ResourceInfo): OpenedStored {
  const sent = Buffer.from(spelledAsSent(asBuffer(payload).toString('utf8'), type));
  const { rawAsSent: _rawAsSent, ...rest } = header;
  return { header: { ...rest, size: sent.length }, payload: sent };
}

const generations = new WeakMap<ResourceInfo, string>();

/**
 * Fingerprint of what decides a resource's stored bytes: its type with all types below (names, omit
 * rules, zero values, defaults and other options) and its selectable fields. Payloads that carry it
 * are served without decoding.
 */
export function schemaGeneration(resource: ResourceInfo): string {
  const known = generations.get(resource);
  if (known !== undefined) return known;
  if (resource.fingerprint !== undefined) return resource.fingerprint;
  const hash = createHash('sha256');
  hash.update(
    fingerprint([
      apiVersionOf(resource.kind),
      resource.kind.kind,
      resource.fieldSelectors,
      resource.defaultsVersion,
      // Payloads of releases that did not keep the text are parsed again.
      ...(holdsRaw(resource.type) ? ['raw JSON is text'] : []),
    ]),
  );
  for (const type of typesBelow(resource.type)) {
    hash.update(
      fingerprint([type.id, type.hasTypeMeta, type.special, type.isNamedList, type.options]),
    );
    if (type.open !== undefined) hash.update(fingerprint(type.open));
    for (const field of type.fields) hash.update(fingerprint({ ...field, description: undefined }));
  }
  const generation = hash.digest('base64url').slice(0, 12);
  generations.set(resource, generation);
  return generation;
}

/** Messages are fingerprinted by themselves: here their ids stand for them. */
const fingerprint = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return member.toString();
    return isType(member) ? member.id : member;
  });

const isType = (member: unknown): member is TypeInfo =>
  typeof member === 'object' &&
  member !== null &&
  'fieldByJsonName' in member &&
  member.fieldByJsonName instanceof Map;
