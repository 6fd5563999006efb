// Bodies for a decoder: valid ones of many kinds, changed in a few places or whole. What is
// accepted must survive its own encoding.
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import type { JsonObject, JsonValue, TypeInfo } from '../../lib/api/type-info.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { cborCodec } from '../../lib/codec/cbor.ts';
import type { ApiObject, Codec } from '../../lib/codec/codec.ts';
import { encodeText, jsonCodec, parseData, stringify } from '../../lib/codec/json.ts';
import { createProtobufCodec } from '../../lib/codec/protobuf.ts';
import { ObjectGenerator } from '../../lib/codec/testing/object-generator.ts';
import { yamlCodec } from '../../lib/codec/yaml.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import type { Random } from './random.ts';

const naming = namingProfile('svc');
const codecs = {
  json: jsonCodec,
  yaml: yamlCodec,
  protobuf: createProtobufCodec(naming.protobufMediaType),
  cbor: cborCodec,
} satisfies Record<string, Codec>;
export type DecoderName = keyof typeof codecs;

const bodyBytesMax = 64 * 1024;
const bodiesPerType = 6;

/** Pieces that mean something to a decoder, hostile ones among them. */
const pieces: Readonly<Record<DecoderName, readonly string[]>> = {
  json: [
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\ud800',
    '\\',
    '1e999',
    '-',
    '9007199254740993',
    'null',
    '"__proto__":',
    '{"a":',
    '\u0000',
    '"a":1,"a":2',
    '1E-400',
    '\\u0000',
  ],
  yaml: [
    '- ',
    ': ',
    '? ',
    '&a ',
    '*a',
    '<<: *a',
    '|\n',
    '>\n',
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    '#',
    '\n---\n',
    '\n...\n',
    '%YAML 1.1\n',
    '!!binary ',
    '!!int ',
    '\t',
    '  ',
    '\n',
    '0x',
    '.inf',
    '~',
    'y',
    '\r',
    '__proto__: ',
  ],
  protobuf: [
    '\x0a\xff\xff\xff\xff\x0f',
    '\x0a\x00',
    '\x12\x00',
    '\x0b',
    '\x0c',
    '\xa3\x06',
    '\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01',
    '\x08',
    '\x0a\x80\x80\x80\x80\x08',
    '\x00',
    'k8s\x00',
    '\xc3\x28',
    '\x1a\x00',
    '\x22\x00',
    '{"a":',
    '[[[[',
  ],
  cbor: [
    '\x9f',
    '\xbf',
    '\xff',
    '\x5f',
    '\x7f',
    '\x9b\xff\xff\xff\xff\xff\xff\xff\xff',
    '\xbb\x00\x00\x00\x01\x00\x00\x00\x00',
    '\xd9\xd9\xf7',
    '\xc1',
    '\xc2',
    '\xd5',
    '\xf7',
    '\xf9\x7e\x00',
    '\x81',
    '\xa1',
    '\x5a\xff\xff\xff\xff',
    '\xa0',
    '\x1b\xff\xff\xff\xff\xff\xff\xff\xff',
    '\x3b\xff\xff\xff\xff\xff\xff\xff\xff',
  ],
};

interface Seeded {
  readonly type: TypeInfo;
  readonly body: Buffer;
}

export function decoderTarget(name: DecoderName): FuzzTarget {
  const codec: Codec = codecs[name];
  const bodies = validBodies(codec);
  const types = new WeakMap<Uint8Array, TypeInfo>();
  const meaningful = pieces[name].map((piece) =>
    Buffer.from(piece, name === 'protobuf' || name === 'cbor' ? 'latin1' : 'utf8'),
  );
  return {
    name,
    refusals: [400, 413],
    input(random) {
      const { type, body } = random.of(bodies);
      const changed = mutated(body, random, { meaningful, others: bodies });
      types.set(changed, type);
      return changed;
    },
    run(input) {
      const type = types.get(input) ?? bodies[0]?.type;
      if (type === undefined) return undefined;
      const { object } = codec.decode(input, type);
      return () => lossOf(object, type, codec);
    },
  };
}

function validBodies(codec: Codec): readonly Seeded[] {
  const scheme = builtInScheme({ profile: naming });
  return scheme.resources.flatMap(({ type }, index) =>
    Array.from({ length: bodiesPerType }, (_, round) => {
      const generator = new ObjectGenerator(index * bodiesPerType + round + 1);
      const object = generator.message(type, 0) as JsonObject;
      return { type, body: Buffer.from(codec.encode(object, type)) };
    }),
  );
}

function lossOf(object: ApiObject, type: TypeInfo, codec: Codec): string | undefined {
  const text = sortedText(encodeText(object, type));
  const { object: read } = codec.decode(codec.encode(object, type), type);
  const again = sortedText(encodeText(read, type));
  return again === text
    ? undefined
    : `is ${again.slice(0, 300)} after its own encoding, not ${text.slice(0, 300)}`;
}

/** Members in ascending order: in embedded JSON theirs says nothing, and YAML sorts. */
const sortedText = (text: string): string => stringify(sorted(parseData(Buffer.from(text))));

function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const result = Object.create(null) as JsonObject;
  for (const key of Object.keys(value).sort()) result[key] = sorted(value[key] ?? null);
  return result;
}

interface Material {
  readonly meaningful: readonly Buffer[];
  readonly others: readonly Seeded[];
}

type Change = (body: Buffer, random: Random, material: Material) => Buffer;

const spliced = (body: Buffer, at: number, removed: number, added: Uint8Array): Buffer =>
  Buffer.concat([body.subarray(0, at), added, body.subarray(at + removed)]);

/** A place in the body and some bytes from there. */
function rangeIn(body: Buffer, random: Random): readonly [at: number, length: number] {
  const at = random.below(body.length + 1);
  const most = random.of([4, 32, 512]);
  return [at, Math.min(random.below(most) + 1, body.length - at)];
}

const changes: readonly Change[] = [
  function flipBit(body, random) {
    const at = random.below(body.length);
    const copy = Buffer.from(body);
    copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    return copy;
  },
  function setByte(body, random) {
    const at = random.below(body.length);
    const copy = Buffer.from(body);
    copy[at] = random.of([0, 0xff, 0x7f, 0x80, random.below(256)]);
    return copy;
  },
  function remove(body, random) {
    const [at, length] = rangeIn(body, random);
    return spliced(body, at, length, Buffer.alloc(0));
  },
  function cutOff(body, random) {
    return body.subarray(0, random.below(body.length + 1));
  },
  function insertPiece(body, random, { meaningful }) {
    return spliced(body, random.below(body.length + 1), 0, random.of(meaningful));
  },
  function replaceByPiece(body, random, { meaningful }) {
    const [at, length] = rangeIn(body, random);
    return spliced(body, at, length, random.of(meaningful));
  },
  function copyWithin(body, random) {
    const [at, length] = rangeIn(body, random);
    return spliced(body, random.below(body.length + 1), 0, body.subarray(at, at + length));
  },
  function fromAnother(body, random, { others }) {
    const other = random.of(others).body;
    const [at, length] = rangeIn(other, random);
    return spliced(body, random.below(body.length + 1), 0, other.subarray(at, at + length));
  },
];

/** Makes the body large; rare, since it takes its time. */
const repeats: readonly Change[] = [
  function repeatRange(body, random) {
    const [at, length] = rangeIn(body, random);
    if (length === 0) return body;
    return spliced(body, at, 0, repeated(body.subarray(at, at + length), random));
  },
  function repeatPiece(body, random, { meaningful }) {
    return spliced(body, random.below(body.length + 1), 0, repeated(random.of(meaningful), random));
  },
  function repeatPair(body, random, { meaningful }) {
    const pair = Buffer.concat([random.of(meaningful), random.of(meaningful)]);
    return spliced(body, random.below(body.length + 1), 0, repeated(pair, random));
  },
];

const repeated = (piece: Uint8Array, random: Random): Buffer =>
  Buffer.alloc(random.below(bodyBytesMax), piece);

const repeatChance = 100;

function mutated(body: Buffer, random: Random, material: Material): Buffer {
  let changed = body;
  for (let count = random.below(5); count > 0 && changed.length > 0; count -= 1) {
    changed = random.of(changes)(changed, random, material);
  }
  if (random.below(repeatChance) === 0 && changed.length > 0) {
    changed = random.of(repeats)(changed, random, material);
  }
  // A copy of its own: the input is the key that its type is found by.
  return Buffer.from(changed.subarray(0, bodyBytesMax));
}
