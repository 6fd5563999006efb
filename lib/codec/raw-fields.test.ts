// Raw JSON through every codec: the text that a client sent is what the next client gets, and what
// has no text is spelt in one way.
import { describe, expect, test } from '@jest/globals';
import { RawJson } from '../api/raw-json.ts';
import type { JsonValue, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { StatusError } from '../base/status.ts';
import { cborCodec } from './cbor.ts';
import type { ApiObject, Codec } from './codec.ts';
import { decodeCanonical, encodeText, jsonCodec } from './json.ts';
import { createProtobufCodec, envelope } from './protobuf.ts';
import { holdsRaw } from './raw-fields.ts';
import { asSent, encodeStored, openStored } from './stored-form.ts';
import type { OpenedStored } from './stored-form.ts';
import { field, message, metaType, special, widgetResource } from './testing/sample-types.ts';
import { yamlCodec } from './yaml.ts';

const rawType = special('rawExtension', [field('raw', 'bytes')]);
const inner = message('Inner', [field('opaque', rawType), field('name', 'string', { number: 2 })]);
const named = message('Raws', [field('items', rawType, { cardinality: 'list' })], {
  isNamedList: true,
});
const type: TypeInfo = message(
  'Holder',
  [
    field('metadata', message('Meta', [field('name', 'string')]), { zero: {} }),
    field('data', rawType, { number: 2 }),
    field('list', rawType, { number: 3, cardinality: 'list' }),
    field('map', rawType, { number: 4, cardinality: 'map' }),
    field('', message('Common', [field('inlined', rawType)]), { number: 5 }),
    field('inner', inner, { number: 6, cardinality: 'list' }),
    field('named', named, { number: 7, pointer: true }),
    field('plain', 'string', { number: 8 }),
  ],
  { hasTypeMeta: true },
);
const resource: ResourceInfo = { ...widgetResource, type, fieldSelectors: [] };
const protobufCodec = createProtobufCodec('application/protobuf');

const decode = (text: string, codec: Codec = jsonCodec): ApiObject =>
  codec.decode(Buffer.from(text), type).object;
const textOf = (value: JsonValue | undefined): string =>
  value instanceof RawJson ? value.text : JSON.stringify(value);
const failure = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return `${String(error.code)} ${error.message}`;
    throw error;
  }
  return 'accepted';
};

const rawOf = (value: JsonValue): JsonValue => RawJson.of(JSON.stringify(value));
/** The same type without raw JSON. */
const plain: TypeInfo = message(
  'Holder',
  [field('data', undefined, { number: 0, pointer: true })],
  {
    hasTypeMeta: true,
  },
);
/** A Protobuf body whose raw JSON is `bytes`. */
function holderOf(bytes: Buffer): Uint8Array {
  const raw = Buffer.concat([Buffer.from([0x0a]), varint(bytes.length), bytes]);
  const holder = Buffer.concat([Buffer.from([0x12]), varint(raw.length), raw]);
  return envelope(holder, { kind: 'Holder', apiVersion: 'v1' });
}
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Texts that answers show as they are. */
const compact = [
  '{}',
  '[]',
  '"x"',
  'false',
  '1.0',
  '{"b":1.0,"a":1e400,"10":-0,"9":12345678901234567890.10}',
  '{"a":"\\u0026\\u003c\\u003e\\u2028\\/\\u00e9é"}',
  '{"a":1,"a":2,"b":[{"c":1,"c":{}}]}',
  '{"__proto__":{"polluted":true},"constructor":1}',
  '{"a":"\\ud800","\\udc00":1}',
  '{"kind":"Other","metadata":{"name":5},"x":[null,true]}',
];
/** Texts that answers show in another spelling. */
const loose = [
  ['{"a":"<&>\u2028"}', '{"a":"\\u003c\\u0026\\u003e\\u2028"}'],
  ['{ "b" : [ 1.0,\n2 ] }', '{"b":[1.0,2]}'],
] as const;
const all = [...compact.map((text) => [text, text] as const), ...loose];

test('types hold raw JSON when a part of them does', () => {
  expect(holdsRaw(type)).toBe(true);
  expect(holdsRaw(inner)).toBe(true);
  expect(holdsRaw(metaType)).toBe(false);
});

const head = '"kind":"Holder","apiVersion":"v1","metadata":{"name":"a"}';
/** An object that holds the text in every place, as a client may write it. */
const written = (text: string): string =>
  `{ "plain":"p", "data" :${text}, "list":[ ${text},null,${text}],"map":{"k":${text}, "n":null},` +
  `"inlined":\t${text} ,"inner":[{"name":"a"},{"\\u006fpaque":${text},"name":"b"}],` +
  `"named":[${text}],${head}}`;
/** The same as it is shown and stored. */
const canonical = (text: string): string =>
  `{${head},"data":${text},"list":[${text},null,${text}],"map":{"k":${text},"n":null},` +
  `"inlined":${text},"inner":[{"name":"a"},{"opaque":${text},"name":"b"}],` +
  `"named":[${text}],"plain":"p"}`;

describe.each(all)('the text %s', (text, shown) => {
  const object = decode(written(text));

  test('is what JSON answers show', () => {
    expect(textOf(object['data'])).toBe(text);
    expect(encodeText(object, type)).toBe(canonical(shown));
    expect(encodeText(decode(canonical(shown)), type)).toBe(canonical(shown));
  });

  test('is stored', () => {
    const stored = openStored(encodeStored(object, resource).value);
    if (stored === undefined) throw new Error('it opens');
    const payload = ({ payload: bytes }: OpenedStored): string => Buffer.from(bytes).toString();
    expect(payload(stored)).toBe(canonical(text));
    expect(stored.header.rawAsSent).toBe(text === shown ? undefined : false);
    expect(payload(asSent(stored, resource))).toBe(canonical(shown));
    expect(decodeCanonical(stored.payload, type)).toEqual(object);
  });

  test('is kept by Protobuf, byte for byte', () => {
    const bytes = protobufCodec.encode(object, type);
    expect(Buffer.from(bytes).includes(text)).toBe(true);
    const read = protobufCodec.decode(bytes, type).object;
    expect(textOf(read['data'])).toBe(text);
    expect(encodeText(read, type)).toBe(canonical(shown));
    expect(protobufCodec.encode(read, type)).toEqual(bytes);
  });
});

describe('values without a text', () => {
  const value = { b: [1, 1.5, null], a: '<&>', 10: { z: true, w: {} }, '😀': 1, '～': 2 };
  const text =
    '{"10":{"w":{},"z":true},"a":"\\u003c\\u0026\\u003e","b":[1,1.5,null],"～":2,"😀":1}';
  test.each<[string, () => ApiObject]>([
    [
      'YAML',
      () =>
        decode(
          `data:\n  b: [1, 1.5, null]\n  a: <&>\n  10: {z: true, w: {}}\n` + `  😀: 1\n  ～: 2\n`,
          yamlCodec,
        ),
    ],
    ['CBOR', () => cborCodec.decode(cborCodec.encode({ data: value }, plain), type).object],
    ['memory', () => ({ data: value })],
  ])('from %s are sorted', (_from, make) => {
    expect(JSON.parse(encodeText(make(), type))).toMatchObject({ data: value });
    expect(encodeText(make(), type)).toContain(`"data":${text}`);
  });

  test('CBOR and YAML answers show the values', () => {
    const object = decode(written('{"b":1.0,"a":[12345678901234567890,123456789012345678901234]}'));
    const shown = { b: 1, a: [12345678901234567890n, Number('123456789012345678901234')] };
    const bytes = cborCodec.encode(object, type);
    expect(cborCodec.decode(bytes, plain).object['data']).toEqual(shown);
    expect(Buffer.from(yamlCodec.encode(object, type)).toString()).toContain(
      'data:\n  a:\n  - 12345678901234567890\n  - 123456789012345678901234\n  b: 1\n',
    );
  });
});

describe('bodies', () => {
  const problems = (text: string): string[] =>
    jsonCodec.decode(Buffer.from(text), type).problems.map(({ kind, path }) => `${kind} ${path}`);

  test('duplicates and names within raw JSON are no problems, those around it are', () => {
    expect(problems('{"data":{"a":1,"a":2,"odd":{}},"list":[{"a":1,"a":1}]}')).toEqual([]);
    expect(problems('{"data":{"a":1,"a":2},"odd":1,"data":{},"inner":[{"x":1}]}')).toEqual([
      'duplicate data',
      'unknown odd',
      'unknown inner[0].x',
    ]);
    expect(textOf(decode('{"data":{"a":1},"data":{"b":2}}')['data'])).toBe('{"b":2}');
  });

  test('what has the wrong shape around raw JSON is refused with its path', () => {
    expect(failure(() => decode('{"list":{"a":1}}'))).toMatch(/^400 .*: list must be a list/);
    expect(failure(() => decode('{"inner":[5]}'))).toMatch(/inner\[0\] must be an object/);
    expect(failure(() => decode('{"map":[{}]}'))).toMatch(/map must be an object/);
  });

  test('numbers that look like places of raw JSON are data', () => {
    expect(textOf(decode('{"data":0}')['data'])).toBe('0');
    expect(decode('{"list":[1,0,{"a":0}]}')['list']).toEqual([1, 0, { a: 0 }].map(rawOf));
  });

  test.each(['{"a":01}', '{"a":1,}', '{', '"\n"', '1 2', 'nul'])(
    'raw JSON must be JSON: %j',
    (raw) => {
      expect(failure(() => decode(`{"data":${raw}}`))).toMatch(/^400 .*not valid JSON/);
      const read = (): unknown => protobufCodec.decode(holderOf(Buffer.from(raw)), type);
      expect(failure(read)).toMatch(/^400 .*not valid JSON/);
    },
  );

  test('raw JSON is UTF-8', () => {
    const bytes = Buffer.from('"\xff"', 'latin1');
    expect(failure(() => protobufCodec.decode(holderOf(bytes), type))).toMatch(/^400 .*UTF-8/);
  });

  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  test.each<[string, (raw: string) => unknown]>([
    ['JSON', (raw) => decode(`{"data":${raw}}`)],
    ['YAML', (raw) => decode(`data: ${raw}`, yamlCodec)],
    ['Protobuf', (raw) => protobufCodec.decode(holderOf(Buffer.from(raw)), type)],
    [
      'CBOR',
      (raw) =>
        cborCodec.decode(cborCodec.encode({ data: JSON.parse(raw) as JsonValue }, plain), type),
    ],
  ])('%s: raw JSON counts in the depth of a body', (_name, read) => {
    expect(failure(() => read(nested(99)))).toBe('accepted');
    expect(failure(() => read(nested(100)))).toMatch(/^400 .*nests deeper than 100/);
    expect(failure(() => read(nested(1_000)))).toMatch(/^4\d\d .*nests deeper than 100/);
  });
});
