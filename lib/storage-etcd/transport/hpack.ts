// Header fields as HPACK has them (RFC 7541), for connections on which neither side keeps a dynamic
// table: a block then means the same wherever it stands.
import { huffmanText } from './hpack-huffman.ts';
import { staticFields } from './hpack-tables.ts';
import { http2Code, Http2Error } from './http2-frames.ts';

/** By name; of a name that comes twice, the last. */
export type Fields = ReadonlyMap<string, string>;

/** What the specification adds for each field to the length of its name and value. */
const overheadBytes = 32;
/** No length or index that is taken here needs more. */
const integerMax = 2 ** 28;

/** @throws Http2Error, also where the fields together are longer than `bytesMax`. */
export function decodeFields(block: Buffer, bytesMax: number): Fields {
  const reader = new BlockReader(block);
  const fields = new Map<string, string>();
  let bytes = 0;
  while (!reader.isAtEnd) {
    const first = reader.peek();
    if ((first & 0xe0) === 0x20) {
      reader.sizeUpdate(bytes === 0);
      continue;
    }
    const [name, value] = (first & 0x80) === 0 ? reader.literal(first) : reader.indexed();
    bytes += name.length + value.length + overheadBytes;
    if (bytes > bytesMax) throw new Http2Error(http2Code.enhanceYourCalm, 'too many header fields');
    fields.set(name, value);
  }
  return fields;
}

class BlockReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  peek(): number {
    return this.#bytes[this.#at] ?? 0;
  }

  /** There is no table whose size could be anything else. */
  sizeUpdate(isAtStart: boolean): void {
    const size = this.#integer(5);
    if (!isAtStart) throw broken('a table size after a field');
    if (size !== 0) throw broken('a table that was not allowed');
  }

  indexed(): readonly [string, string] {
    return staticField(this.#integer(7));
  }

  /** With and without indexing: in a table of size 0 nothing stays. */
  literal(first: number): readonly [string, string] {
    const index = this.#integer((first & 0x40) === 0 ? 4 : 6);
    const name = index === 0 ? this.#text() : staticField(index)[0];
    return [name, this.#text()];
  }

  #text(): string {
    const isHuffman = (this.peek() & 0x80) !== 0;
    const length = this.#integer(7);
    const from = this.#at;
    const to = from + length;
    if (to > this.#bytes.length) throw broken('a string that goes on after its block');
    this.#at = to;
    return isHuffman
      ? huffmanText(this.#bytes, from, to)
      : this.#bytes.toString('latin1', from, to);
  }

  /** Section 5.1. */
  #integer(prefixBits: number): number {
    const prefixMax = 2 ** prefixBits - 1;
    let value = this.#byte() & prefixMax;
    if (value < prefixMax) return value;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (value > integerMax || factor > integerMax) throw broken('an integer too large');
      if (byte < 0x80) return value;
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw broken('a block that ends within a field');
    this.#at++;
    return byte;
  }
}

function staticField(index: number): readonly [string, string] {
  const field = staticFields[index - 1];
  if (field === undefined) throw broken(`no field has the index ${String(index)}`);
  return field;
}

const broken = (details: string): Http2Error => new Http2Error(http2Code.compressionError, details);

/** A field that the other side keeps nowhere: literal, not indexed, its name spelled out. */
export function encodeField(name: string, value: string): Buffer {
  const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
  return Buffer.concat([
    Buffer.of(0),
    integer(nameBytes.length, 7),
    nameBytes,
    integer(valueBytes.length, 7),
    valueBytes,
  ]);
}

function integer(value: number, prefixBits: number): Buffer {
  const prefixMax = 2 ** prefixBits - 1;
  if (value < prefixMax) return Buffer.of(value);
  const bytes = [prefixMax];
  let rest = value - prefixMax;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** Blocks that are kept, and the longest: those of an answer that went well are two. */
const keptMax = 4;
const keptBytesMax = 256;

/** Decodes blocks; knows the last few again, since every answer has the same ones. */
export class FieldDecoder {
  readonly #bytesMax: number;
  readonly #kept: { readonly block: Buffer; readonly fields: Fields }[] = [];
  #next = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @throws Http2Error */
  decode(bytes: Buffer, from: number, to: number): Fields {
    for (const { block, fields } of this.#kept) {
      if (isAt(bytes, from, to, block)) return fields;
    }
    const block = Buffer.from(bytes.subarray(from, to));
    const fields = decodeFields(block, this.#bytesMax);
    if (block.length <= keptBytesMax) {
      this.#kept[this.#next] = { block, fields };
      this.#next = (this.#next + 1) % keptMax;
    }
    return fields;
  }
}

function isAt(bytes: Buffer, from: number, to: number, block: Buffer): boolean {
  const { length } = block;
  if (to - from !== length) return false;
  for (let at = 0; at < length; at++) if (bytes[from + at] !== block[at]) return false;
  return true;
}
