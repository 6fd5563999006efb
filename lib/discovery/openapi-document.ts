// One OpenAPI document as bytes, made piece by piece so that nobody else waits for it.
// Paths come before schemas: what they refer to decides which schemas follow.
import { limits } from '../base/limits.ts';
import { createHash } from 'node:crypto';
import type { JsonObject } from '../api/type-info.ts';
import { stringify } from '../codec/json.ts';
import { nextTurn, turnMs } from '../base/turn.ts';
import { pathItemObject } from './openapi-paths.ts';
import type { PathWriting } from './openapi-paths.ts';
import type { PathItem } from './openapi-operations.ts';
import {
  v2Document,
  v2PathItem,
  v2Schema,
  v3Document,
  v3PathItem,
  v3SchemaOrReference,
} from './openapi-messages.ts';
import { encodeEntry, encodeMessage, wrap } from './openapi-protobuf.ts';
import type { Definitions } from './openapi-schemas.ts';

const { openapiTurnMsMax } = limits;

async function passTurnOn(): Promise<void> {
  if (turnMs() >= openapiTurnMsMax) await nextTurn();
}

export interface DocumentSource {
  /** Members beside paths and schemas, all but those of `components`. */
  readonly head: JsonObject;
  /** Members of `components` beside the schemas (OpenAPI 3.0). */
  readonly components: JsonObject;
  readonly items: readonly PathItem[];
  readonly writing: PathWriting;
}

interface Pieces {
  readonly path: (name: string, value: JsonObject) => void;
  readonly schema: (name: string, value: JsonObject) => void;
}

async function visit(source: DocumentSource, pieces: Pieces): Promise<void> {
  await passTurnOn();
  for (const item of source.items) {
    pieces.path(item.path, pathItemObject(source.writing, item));
    await passTurnOn();
  }
  for (const [name, schema] of source.writing.definitions.schemas()) {
    pieces.schema(name, schema);
    await passTurnOn();
  }
}

export interface HashedBytes {
  readonly bytes: Uint8Array;
  /** SHA-512 in upper-case hexadecimal. */
  readonly hash: string;
}

export function hashed(pieces: readonly Uint8Array[]): HashedBytes {
  const hash = createHash('sha512');
  for (const piece of pieces) hash.update(piece);
  return { bytes: Buffer.concat(pieces), hash: hash.digest('hex').toUpperCase() };
}

export async function jsonDocument(source: DocumentSource): Promise<HashedBytes> {
  const paths: Buffer[] = [];
  const schemas: Buffer[] = [];
  const entry = (to: Buffer[], name: string, value: JsonObject): void => {
    const comma = to.length === 0 ? '' : ',';
    to.push(Buffer.from(`${comma}${JSON.stringify(name)}:${stringify(value)}`));
  };
  await visit(source, {
    path: (name, value) => entry(paths, name, value),
    schema: (name, value) => entry(schemas, name, value),
  });
  const isV2 = versionOf(source) === 'v2';
  const components = JSON.stringify(source.components).slice(0, -1);
  const text = (part: string): Buffer => Buffer.from(part);
  return hashed([
    text(`${JSON.stringify(source.head).slice(0, -1)},"paths":{`),
    ...paths,
    text(isV2 ? '},"definitions":{' : `},"components":${components},"schemas":{`),
    ...schemas,
    text(isV2 ? '}}\n' : '}}}\n'),
  ]);
}

export async function protobufDocument(source: DocumentSource): Promise<Uint8Array> {
  const paths: Uint8Array[] = [];
  const schemas: Uint8Array[] = [];
  const version = versionOf(source);
  const { pathNumber, pathMessage, schemaMessage } = entries[version];
  await visit(source, {
    path: (name, value) => paths.push(encodeEntry(pathNumber, name, pathMessage, value)),
    schema: (name, value) => schemas.push(encodeEntry(1, name, schemaMessage, value)),
  });
  if (version === 'v2') {
    const head = encodeMessage(v2Document, source.head);
    return Buffer.concat([head, ...wrap(8, paths), ...wrap(9, schemas)]);
  }
  const head = encodeMessage(v3Document, { ...source.head, components: source.components });
  // Two members of one number are one message with the members of both.
  return Buffer.concat([head, ...wrap(4, paths), ...wrap(5, wrap(1, schemas))]);
}

const versionOf = ({ writing }: DocumentSource): Definitions['version'] =>
  writing.definitions.version;

const entries = {
  v2: { pathNumber: 2, pathMessage: v2PathItem, schemaMessage: v2Schema },
  v3: { pathNumber: 1, pathMessage: v3PathItem, schemaMessage: v3SchemaOrReference },
} as const;
