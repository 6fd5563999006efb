// Writes a document's JSON form as the Protobuf messages that clients read instead of JSON.
// Members that the message tables do not know are a bug and throw.
import { isObject } from '../api/json-value.ts';
import protobuf from 'protobufjs/minimal.js';
import type { JsonValue } from '../api/type-info.ts';
import { stringify } from '../codec/json.ts';
import { invariant } from '../base/invariant.ts';
import type { Member, Message } from './openapi-messages.ts';

type Writer = protobuf.Writer;

const lengthDelimited = 2;
const tag = (number: number): number => (number << 3) | lengthDelimited;

export function encodeMessage(message: Message, value: JsonValue): Uint8Array {
  const writer = protobuf.Writer.create();
  writeMessage(writer, message, value);
  return writer.finish();
}

/** One entry of a map: `{ name = 1, value = 2 }` at `number`. */
export function encodeEntry(
  number: number,
  name: string,
  message: Message,
  value: JsonValue,
): Uint8Array {
  const writer = protobuf.Writer.create();
  writeEntry(writer, number, name, message, value);
  return writer.finish();
}

/** A member of a message whose bytes are at hand in pieces. */
export function wrap(number: number, pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return [protobuf.Writer.create().uint32(tag(number)).uint32(length).finish(), ...pieces];
}

/** One entry of a map whose value is at hand in pieces. */
export function wrapEntry(
  number: number,
  name: string,
  pieces: readonly Uint8Array[],
): readonly Uint8Array[] {
  const key = protobuf.Writer.create().uint32(tag(1)).string(name).finish();
  return wrap(number, [key, ...wrap(2, pieces)]);
}

function writeMessage(writer: Writer, message: Message, value: JsonValue): void {
  if (message.plain !== undefined) {
    const member = message.plain(value);
    if (member !== undefined) writeMember(writer, member, value);
    return;
  }
  invariant(isObject(value), 'a message is written from an object');
  const choice = message.choose?.(value);
  if (choice !== undefined) {
    writeNested(writer, choice.number, choice.message(), value);
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const member = Object.hasOwn(message.members, name) ? message.members[name] : undefined;
    if (member !== undefined) writeMember(writer, member, inner);
    else if (name.startsWith('x-') && message.extensions !== undefined) {
      writeNamedAny(writer, message.extensions, name, inner);
    } else {
      invariant(message.others !== undefined, `the message tables know ${name}`);
      writeEntry(writer, message.others.number, name, message.others.message(), inner);
    }
  }
}

function writeNested(writer: Writer, number: number, message: Message, value: JsonValue): void {
  writer.uint32(tag(number)).fork();
  writeMessage(writer, message, value);
  writer.ldelim();
}

function writeEntry(
  writer: Writer,
  number: number,
  name: string,
  message: Message,
  value: JsonValue,
): void {
  writer.uint32(tag(number)).fork();
  writer.uint32(tag(1)).string(name);
  writeNested(writer, 2, message, value);
  writer.ldelim();
}

/** The second member of the message holds YAML; JSON is YAML. */
function writeAny(writer: Writer, number: number, value: JsonValue): void {
  writer.uint32(tag(number)).fork();
  writer.uint32(tag(2)).string(`${stringify(value)}\n`);
  writer.ldelim();
}

function writeNamedAny(writer: Writer, number: number, name: string, value: JsonValue): void {
  writer.uint32(tag(number)).fork();
  writer.uint32(tag(1)).string(name);
  writeAny(writer, 2, value);
  writer.ldelim();
}

function writeMember(writer: Writer, member: Member, value: JsonValue): void {
  if (Array.isArray(value) && member.as !== 'any' && member.as !== 'anyList') {
    for (const one of value) writeMember(writer, member, one);
    return;
  }
  switch (member.as) {
    case 'string':
      invariant(typeof value === 'string', 'texts are written from texts');
      writer.uint32(tag(member.number)).string(value);
      return;
    case 'bool':
      writer.uint32(member.number << 3).bool(value === true);
      return;
    case 'double':
      writer.uint32((member.number << 3) | 1).double(Number(value));
      return;
    case 'int64':
      writer.uint32(member.number << 3).int64(Number(value));
      return;
    case 'any':
      writeAny(writer, member.number, value);
      return;
    case 'anyList':
      for (const one of Array.isArray(value) ? value : []) writeAny(writer, member.number, one);
      return;
    case 'message':
      writeNested(writer, member.number, member.message(), value);
      return;
    case 'named':
      invariant(isObject(value), 'named members are an object');
      writer.uint32(tag(member.number)).fork();
      for (const [name, inner] of Object.entries(value)) {
        if (inner !== undefined) writeEntry(writer, 1, name, member.message(), inner);
      }
      writer.ldelim();
      return;
  }
}
