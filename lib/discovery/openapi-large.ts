// Schemas that are too large to be written in one turn, as JSON and as Protobuf: piece by piece,
// down to schemas that are not.
import { isObject } from '../api/json-value.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { invariant } from '../base/invariant.ts';
import type { Steps } from '../base/steps.ts';
import { stringify } from '../codec/json.ts';
import type { Message } from './openapi-messages.ts';
import type { WrittenSchema } from './openapi-open.ts';
import { encodeMessage, wrap, wrapEntry } from './openapi-protobuf.ts';

/** Members of a schema that hold many schemas: by name, or in a list. */
const named = 'properties';
const listed: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf']);

/** The texts that are the schema's JSON when joined. */
export function* schemaJson({ schema, large }: WrittenSchema): Steps<readonly string[]> {
  const texts: string[] = [];
  yield* addJson(schema, large, texts);
  return texts;
}

function* addJson(value: JsonValue, large: WrittenSchema['large'], texts: string[]): Steps<void> {
  yield;
  if (!isLarge(value, large)) {
    texts.push(stringify(value));
    return;
  }
  let separator = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    texts.push(`${separator}${JSON.stringify(name)}:`);
    separator = ',';
    if (name === named && isObject(member)) yield* addNamed(member, large, texts);
    else if (listed.has(name) && Array.isArray(member)) yield* addListed(member, large, texts);
    else yield* addJson(member, large, texts);
  }
  texts.push('}');
}

function* addNamed(named: JsonObject, large: WrittenSchema['large'], texts: string[]): Steps<void> {
  let separator = '{';
  for (const [name, schema] of Object.entries(named)) {
    if (schema === undefined) continue;
    texts.push(`${separator}${JSON.stringify(name)}:`);
    separator = ',';
    yield* addJson(schema, large, texts);
  }
  texts.push(separator === '{' ? '{}' : '}');
}

function* addListed(
  list: readonly JsonValue[],
  large: WrittenSchema['large'],
  texts: string[],
): Steps<void> {
  let separator = '[';
  for (const schema of list) {
    texts.push(separator);
    separator = ',';
    yield* addJson(schema, large, texts);
  }
  texts.push(separator === '[' ? '[]' : ']');
}

const isLarge = (value: JsonValue, large: WrittenSchema['large']): value is JsonObject =>
  isObject(value) && large.has(value);

/** The pieces of the schema as this message. */
export function* schemaMessage(
  message: Message,
  { schema, large }: WrittenSchema,
): Steps<readonly Uint8Array[]> {
  return yield* messagePieces(message, schema, large);
}

function* messagePieces(
  message: Message,
  value: JsonValue,
  large: WrittenSchema['large'],
): Steps<readonly Uint8Array[]> {
  yield;
  if (!isLarge(value, large)) return [encodeMessage(message, value)];
  const plain = message.plain?.(value);
  if (plain?.as === 'message') {
    return wrap(plain.number, yield* messagePieces(plain.message(), value, large));
  }
  const choice = message.choose?.(value);
  if (choice !== undefined) {
    return wrap(choice.number, yield* messagePieces(choice.message(), value, large));
  }
  const pieces: Uint8Array[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    for (const piece of yield* memberPieces(message, name, member, large)) pieces.push(piece);
  }
  return pieces;
}

function* memberPieces(
  message: Message,
  name: string,
  value: JsonValue,
  large: WrittenSchema['large'],
): Steps<readonly Uint8Array[]> {
  const isMany = name === named || listed.has(name);
  if (!isMany && !isLarge(value, large)) return [encodeMessage(message, { [name]: value })];
  const member = message.members[name];
  invariant(
    member?.as === 'message' || member?.as === 'named',
    'members that hold schemas are messages',
  );
  const pieces: Uint8Array[] = [];
  const inner = member.message();
  if (member.as === 'named' && isObject(value)) {
    for (const [key, schema] of Object.entries(value)) {
      if (schema === undefined) continue;
      const entry = wrapEntry(1, key, yield* messagePieces(inner, schema, large));
      for (const piece of entry) pieces.push(piece);
    }
    return wrap(member.number, pieces);
  }
  for (const schema of Array.isArray(value) ? value : [value]) {
    const wrapped = wrap(member.number, yield* messagePieces(inner, schema, large));
    for (const piece of wrapped) pieces.push(piece);
  }
  return pieces;
}
