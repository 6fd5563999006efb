// Header fields as HPACK has them (RFC 7541). What is sent uses no dynamic table, so that a block
// means the same wherever it stands; the other side may have one.
import { http2Code, Http2Error } from './frames.ts';
import { huffmanText } from './huffman.ts';
import { staticFields } from './hpack-tables.ts';

/** What the specification adds for each field to the length of its name and value. */
const overheadBytes = 32;
/** No length or index that is taken here needs more. */
const integerMax = 2 ** 28;

type Field = readonly [name: string, value: string];

/** The last fields that a side has told the other to keep (sections 2.3.2 and 4). */
class DynamicTable {
  /** The newest is the last; those before `#first` were evicted. */
  #fields: (Field | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** 0: the newest. */
  get(index: number): Field | undefined {
    const at = this.#fields.length - 1 - index;
    return at < this.#first ? undefined : this.#fields[at];
  }

  /** A field that is too long for it empties it. */
  add(field: Field): void {
    const bytes = sizeOf(field);
    this.#evict(this.#bytesMax - bytes);
    if (bytes > this.#bytesMax) return;
    this.#fields.push(field);
    this.#bytes += bytes;
  }

  resize(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#evict(bytesMax);
  }

  #evict(toBytes: number): void {
    while (this.#bytes > toBytes) {
      const oldest = this.#fields[this.#first];
      if (oldest === undefined) break;
      this.#bytes -= sizeOf(oldest);
      this.#fields[this.#first++] = undefined;
    }
    if (this.#first > 64 && this.#first * 2 > this.#fields.length) {
      this.#fields = this.#fields.slice(this.#first);
      this.#first = 0;
    }
  }
}

const sizeOf = ([name, value]: Field): number => name.length + value.length + overheadBytes;

class BlockReader {
  readonly #bytes: Buffer;
  readonly #table: DynamicTable;
  #at: number;
  readonly #to: number;
  /** The table is another one than before. */
  changesTable = false;

  constructor(table: DynamicTable, bytes: Buffer, from: number, to: number) {
    this.#table = table;
    this.#bytes = bytes;
    this.#at = from;
    this.#to = to;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#to;
  }

  /** Whether a change of the table's size comes next; only before the first field may it. */
  get isSizeUpdate(): boolean {
    return (this.#peek() & 0xe0) === 0x20;
  }

  sizeUpdate(tableBytesMax: number): void {
    const bytes = this.#integer(5);
    if (bytes > tableBytesMax) throw broken('a table that was not allowed');
    this.#table.resize(bytes);
    this.changesTable = true;
  }

  field(): Field {
    const first = this.#peek();
    if ((first & 0x80) !== 0) return this.#known(this.#integer(7));
    const isKept = (first & 0x40) !== 0;
    const index = this.#integer(isKept ? 6 : 4);
    const name = index === 0 ? this.#text() : this.#known(index)[0];
    const field = [name, this.#text()] as const;
    if (isKept) {
      this.#table.add(field);
      this.changesTable = true;
    }
    return field;
  }

  #known(index: number): Field {
    const field =
      index <= staticFields.length
        ? staticFields[index - 1]
        : this.#table.get(index - staticFields.length - 1);
    if (field === undefined) throw broken(`no field has the index ${String(index)}`);
    return field;
  }

  #peek(): number {
    return this.#bytes[this.#at] ?? 0;
  }

  #text(): string {
    const isHuffman = (this.#peek() & 0x80) !== 0;
    const length = this.#integer(7);
    const from = this.#at;
    const to = from + length;
    if (to > this.#to) throw broken('a string that goes on after its block');
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
    if (this.#at === this.#to) throw broken('a block that ends within a field');
    return this.#bytes[this.#at++] ?? 0;
  }
}

const broken = (details: string): Http2Error => new Http2Error(http2Code.compressionError, details);

/** Blocks that are kept, and the longest: clients and members send the same few again and again. */
const keptMax = 4;
const keptBytesMax = 256;

export interface FieldDecoderOptions<T> {
  /** Of one block: lengths of names and values, and 32 bytes for each field. */
  readonly listBytesMax: number;
  /** What the other side may have this one keep for it; as this one's settings say. */
  readonly tableBytesMax: number;
  /** What a block is decoded to: of the same bytes the same object may be given again. */
  readonly make: (fields: Fields) => T;
}

/** Names and values by turns, as they came; undefined: they are longer than they may be. */
export type Fields = readonly string[] | undefined;

/** Decodes the blocks of one side of a connection, each of which has to be given to it. */
export class FieldDecoder<T> {
  readonly #options: FieldDecoderOptions<T>;
  readonly #table: DynamicTable;
  /** They mean the same as long as the table is the same. */
  readonly #kept: { readonly block: Buffer; readonly made: T }[] = [];
  #next = 0;

  constructor(options: FieldDecoderOptions<T>) {
    this.#options = options;
    this.#table = new DynamicTable(options.tableBytesMax);
  }

  /** @throws Http2Error */
  decode(bytes: Buffer, from: number, to: number): T {
    for (const { block, made } of this.#kept) if (isAt(bytes, from, to, block)) return made;
    const reader = new BlockReader(this.#table, bytes, from, to);
    const made = this.#options.make(this.#fieldsOf(reader));
    if (reader.changesTable) {
      this.#kept.length = 0;
      this.#next = 0;
    } else if (to - from <= keptBytesMax) {
      this.#kept[this.#next] = { block: Buffer.from(bytes.subarray(from, to)), made };
      this.#next = (this.#next + 1) % keptMax;
    }
    return made;
  }

  /** To the end of the block, whatever its length: the next ones build on its changes. */
  #fieldsOf(reader: BlockReader): Fields {
    const { listBytesMax, tableBytesMax } = this.#options;
    const fields: string[] = [];
    let bytes = 0;
    while (!reader.isAtEnd) {
      if (reader.isSizeUpdate) {
        if (bytes > 0) throw broken('a table size after a field');
        reader.sizeUpdate(tableBytesMax);
        continue;
      }
      const field = reader.field();
      bytes += sizeOf(field);
      if (bytes <= listBytesMax) fields.push(field[0], field[1]);
    }
    return bytes > listBytesMax ? undefined : fields;
  }
}

function isAt(bytes: Buffer, from: number, to: number, block: Buffer): boolean {
  const { length } = block;
  if (to - from !== length) return false;
  for (let at = 0; at < length; at++) if (bytes[from + at] !== block[at]) return false;
  return true;
}

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

/** Section 5.1, the bits before it 0. */
export function integer(value: number, prefixBits: number): Buffer {
  const prefixMax = 2 ** prefixBits - 1;
  if (value < prefixMax) return Buffer.of(value);
  const bytes = [prefixMax];
  let rest = value - prefixMax;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
  bytes.push(rest);
  return Buffer.from(bytes);
}
