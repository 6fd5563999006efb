// Documents of OpenAPI in bytes: the fragments of their sources between a head and an end. What
// fragments hold is shared by all documents, and nothing of it is copied.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../api/type-info.ts';
import type { Fragments, OpenApiForm, Source } from './openapi-fragments.ts';
import { v2Document, v3Document } from './openapi-messages.ts';
import { encodeMessage, wrap } from './openapi-protobuf.ts';
import type { OpenApiVersion } from './openapi-schemas.ts';
import { passTurnOn } from './openapi-steps.ts';

/** Members beside paths and schemas. */
export interface DocumentHead {
  readonly members: JsonObject;
  /** Members of `components` beside the schemas (OpenAPI 3.0). */
  readonly components: JsonObject;
}

/** Pieces of one body; `totalBytes` is their sum. */
export interface DocumentBytes extends Iterable<Uint8Array> {
  readonly totalBytes: number;
}

export async function documentBytes(options: {
  readonly version: OpenApiVersion;
  readonly form: OpenApiForm;
  readonly head: DocumentHead;
  readonly sources: readonly Source[];
  readonly fragments: Fragments;
}): Promise<DocumentBytes> {
  const { version, form, head, sources, fragments } = options;
  const paths: Uint8Array[] = [];
  const schemas: Uint8Array[] = [];
  const add = (to: Uint8Array[], piece: Uint8Array): void => {
    if (piece.length > 0) to.push(piece);
  };
  for (const source of sources) {
    const fragment = await fragments.of(source, version, form);
    add(paths, fragment.paths);
    add(schemas, fragment.schemas);
    await passTurnOn();
  }
  const join = form === 'json' ? joinJson : joinProtobuf;
  const pieces = join[version](head, paths, schemas);
  let totalBytes = 0;
  for (const { length } of pieces) totalBytes += length;
  return { totalBytes, [Symbol.iterator]: () => pieces[Symbol.iterator]() };
}

type Join = (
  head: DocumentHead,
  paths: readonly Uint8Array[],
  schemas: readonly Uint8Array[],
) => readonly Uint8Array[];

const text = (part: string): Buffer => Buffer.from(part);
const open = (members: JsonObject): string => JSON.stringify(members).slice(0, -1);

/** Entries begin with a comma, which the first of all has not. */
const members = ([first, ...others]: readonly Uint8Array[]): readonly Uint8Array[] =>
  first === undefined ? [] : [first.subarray(1), ...others];

const joinJson: Readonly<Record<OpenApiVersion, Join>> = {
  v2: (head, paths, schemas) => [
    text(`${open(head.members)},"paths":{`),
    ...members(paths),
    text('},"definitions":{'),
    ...members(schemas),
    text('}}\n'),
  ],
  v3: (head, paths, schemas) => [
    text(`${open(head.members)},"paths":{`),
    ...members(paths),
    text(`},"components":${open(head.components)},"schemas":{`),
    ...members(schemas),
    text('}}}\n'),
  ],
};

const joinProtobuf: Readonly<Record<OpenApiVersion, Join>> = {
  v2: (head, paths, schemas) => [
    encodeMessage(v2Document, head.members),
    ...wrap(8, paths),
    ...wrap(9, schemas),
  ],
  // Two members of one number are one message with the members of both.
  v3: ({ members: own, components }, paths, schemas) => [
    encodeMessage(v3Document, { ...own, components }),
    ...wrap(4, paths),
    ...wrap(5, wrap(1, schemas)),
  ],
};

/** SHA-512 in upper-case hexadecimal of everything that a document is made of. */
export function hashOfAll(parts: Iterable<string>): string {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part).update('\n');
  return hash.digest('hex').toUpperCase();
}
