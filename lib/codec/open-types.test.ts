// Open types: unknown fields, null, values of other types than declared, embedded objects.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject, ValueInfo } from '../api/type-info.ts';
import { createScheme } from '../api/scheme.ts';
import { noKindRules } from '../api/testing/no-kind-rules.ts';
import { typeOf } from '../api/testing/schema-types.ts';
import { namingProfile } from '../api/vendor.ts';
import { cborCodec } from './cbor.ts';
import { jsonCodec, encodeText } from './json.ts';
import { hasProtobufForm } from './protobuf.ts';
import { readObject } from './normalise.ts';
import { encodeStored, openStored, schemaGeneration } from './stored-form.ts';
import { field, message, metaType, special, widgetResource } from './testing/sample-types.ts';
import { yamlCodec } from './yaml.ts';

const drop = { open: { unknownFields: 'drop' } } as const;
const keep = { open: { unknownFields: 'keep' } } as const;
const inner = message('Inner', [field('a', 'int64'), field('b', 'string')], drop);
const embedded = message('Embedded', [field('metadata', metaType), field('spec', inner)], {
  hasTypeMeta: true,
  ...keep,
});
const row: ValueInfo = field('', 'int64', { cardinality: 'list' });
const spec = message(
  'Spec',
  [
    field('text', 'string'),
    field('count', 'int64'),
    field('on', 'bool', { nullable: true }),
    field('any', undefined),
    field('port', special('intOrString')),
    field('inner', inner),
    field('list', inner, { cardinality: 'list' }),
    field('map', inner, { cardinality: 'map' }),
    field('nulls', 'string', {
      cardinality: 'map',
      element: field('', 'string', { nullable: true }),
    }),
    field('rows', undefined, { cardinality: 'list', element: row }),
    field('loose', message('Loose', [field('known', inner)], keep)),
    field('embedded', embedded),
    field('raw', special('rawExtension')),
  ],
  drop,
);
const type = message('Thing', [field('metadata', metaType), field('spec', spec)], {
  hasTypeMeta: true,
  ...drop,
});
const root = message('Root', [field('metadata', metaType), field('spec', spec)], {
  hasTypeMeta: true,
  ...keep,
});

const scheme = createScheme({ profile: namingProfile('kubernetes'), rules: noKindRules });
const inSchemaObject = { type: 'object', properties: { a: { type: 'integer' } } };

const bytes = (text: string): Uint8Array => Buffer.from(text);
const read = (text: string) => jsonCodec.decode(bytes(`{"spec":${text}}`), type);
const canonical = (text: string): string => encodeText(read(text).object, type).slice(8, -1);
const problems = (text: string): string[] =>
  read(text).problems.map(({ kind, path }) => `${kind} ${path}`);

describe('values', () => {
  test.each([
    ['nothing is left out for being empty', '{"text":"","count":0,"any":{},"list":[],"map":{}}'],
    ['other types than declared stay', '{"text":1,"count":"x","inner":[1],"list":{"a":1},"map":3}'],
    ['elements of other types stay', '{"list":[1,null,{"a":"x"}],"map":{"k":"v"},"rows":[1,[2]]}'],
    ['integers of 64 bits are exact', '{"count":9223372036854775807,"any":[-9223372036854775808]}'],
    ['an integer or a string', '{"port":"http"}'],
    ['an integer of 64 bits or none at all', '{"port":9223372036854775807,"rows":[["x"]]}'],
    ['null of a nullable field', '{"on":null,"nulls":{"k":null}}'],
    ['null in what has no schema', '{"any":{"a":null},"loose":{"x":{"y":null}}}'],
    ['raw JSON keeps its text', '{"raw":{"b":1.0,"a":[1e400]}}'],
    ['keys of users', '{"any":{"__proto__":{"z":1}},"map":{"__proto__":{"a":1}}}'],
  ])('%s', (_claim, text) => {
    expect(canonical(text)).toBe(text);
    expect(problems(text)).toEqual([]);
  });
  test.each([
    ['null of other fields is absence', '{"text":null,"inner":null,"list":null}', '{}'],
    ['null of map entries too', '{"map":{"a":null,"b":{"b":null}}}', '{"map":{"b":{}}}'],
    ['fields come in the order of the schema', '{"count":1,"text":"a"}', '{"text":"a","count":1}'],
    [
      'longer integers are doubles',
      '{"any":123456789012345678901}',
      '{"any":123456789012345680000}',
    ],
    ['a whole number is an integer', '{"count":1.0}', '{"count":1}'],
  ])('%s', (_claim, text, expected) => {
    expect(canonical(text)).toBe(expected);
    expect(problems(text)).toEqual([]);
  });
  test('beyond a double it fails', () => {
    expect(() => read('{"any":{"a":1e400}}')).toThrow('spec.any must be a number of 64 bits');
  });
});

describe('unknown fields', () => {
  test('are dropped with a report, at every depth', () => {
    const text =
      '{"x":1,"inner":{"y":{"z":1}},"list":[{"a":1},{"y":2}],"map":{"k":{"y":3}},"rows":[[1]]}';
    expect(canonical(text)).toBe('{"inner":{},"list":[{"a":1},{}],"map":{"k":{}},"rows":[[1]]}');
    expect(problems(text)).toEqual([
      'unknown spec.inner.y',
      'unknown spec.list[1].y',
      'unknown spec.map.k.y',
      'unknown spec.x',
    ]);
  });
  test('are kept where the type keeps them, known ones inside are looked at', () => {
    const text = '{"loose":{"z":{"a":[1]},"known":{"a":1,"y":2},"__proto__":1,"b":null}}';
    expect(canonical(text)).toBe(
      '{"loose":{"known":{"a":1},"z":{"a":[1]},"__proto__":1,"b":null}}',
    );
    expect(problems(text)).toEqual(['unknown spec.loose.known.y']);
  });
  test('duplicates among them are reported', () => {
    expect(problems('{"loose":{"z":{"q":1,"q":2}},"any":{"w":1,"w":1}}')).toEqual([
      'duplicate spec.loose.z.q',
      'duplicate spec.any.w',
    ]);
  });
  test('at the root come after kind and apiVersion, whatever their names', () => {
    const text = '{"10":1,"spec":{},"kind":"Root","apiVersion":"a/v1","metadata":{"name":"n"}}';
    const { object } = jsonCodec.decode(bytes(text), root);
    const written = encodeText(object, root);
    expect(written).toMatch(/^\{"kind":"Root","apiVersion":"a\/v1","/);
    expect(JSON.parse(written)).toEqual(JSON.parse(text));
    expect(encodeText({}, root)).toBe('{}');
    expect(encodeText({ kind: 'Root' }, root)).toBe('{"kind":"Root"}');
  });
  test('a given object is not changed', () => {
    const make = () => ({ spec: { map: { b: null, a: { y: 1 } }, loose: { z: 1 } } });
    const given = make();
    const { object } = readObject(given, type);
    expect(given).toEqual(make());
    expect((object['spec'] as JsonObject)['map']).toEqual({ a: {} });
  });
});

describe('embedded objects', () => {
  test('have kind, apiVersion and metadata, and no empty name of a kind is lost', () => {
    const text =
      '{"embedded":{"kind":"","apiVersion":"v1","metadata":{"name":"a"},"spec":{"a":1},"more":1}}';
    expect(canonical(text)).toBe(text);
  });
  test('their metadata is metadata: unknown fields dropped, wrong types refused', () => {
    expect(problems('{"embedded":{"metadata":{"foo":1}}}')).toEqual([
      'unknown spec.embedded.metadata.foo',
    ]);
    expect(() => read('{"embedded":{"metadata":{"labels":{"a":1}}}}')).toThrow(
      'spec.embedded.metadata: Invalid value: {"labels":{"a":1}}: labels.a must be a string',
    );
    expect(() => read('{"embedded":{"metadata":5}}')).toThrow(
      'spec.embedded.metadata: Invalid value: 5: it must be an object',
    );
    expect(() => read('{"embedded":{"kind":5}}')).toThrow(
      'Thing in version "v1" cannot be handled as a Thing: ' +
        'spec.embedded.kind: Invalid value: 5: must be a string',
    );
  });
});

describe('types from schemas', () => {
  const kept = { 'x-kubernetes-preserve-unknown-fields': true };
  const inSchema = typeOf({
    properties: {
      rows: { type: 'array', items: { type: 'array', items: inSchemaObject } },
      maps: { type: 'object', additionalProperties: { additionalProperties: inSchemaObject } },
      open: { ...kept, properties: { a: inSchemaObject }, items: inSchemaObject },
      defaulted: { type: 'object', additionalProperties: { type: 'string', default: 'x' } },
      nullable: { type: 'object', additionalProperties: { type: 'string', nullable: true } },
    },
  });
  test.each([
    ['lists in lists', '{"rows":[[{"a":1,"y":2}],null,3]}', '{"rows":[[{"a":1}],null,3]}'],
    ['maps in maps', '{"maps":{"k":{"l":{"a":1,"y":2}}}}', '{"maps":{"k":{"l":{"a":1}}}}'],
    [
      'known fields of what has no type',
      '{"open":{"a":{"y":1},"b":{"y":1}}}',
      '{"open":{"a":{},"b":{"y":1}}}',
    ],
    ['items of what has no type', '{"open":[{"a":1,"y":2}]}', '{"open":[{"a":1}]}'],
    [
      'null of an entry stays where it is a value or will be a default',
      '{"defaulted":{"k":null},"nullable":{"k":null}}',
      '{"defaulted":{"k":null},"nullable":{"k":null}}',
    ],
  ])('%s', (_claim, text, expected) => {
    const { object } = jsonCodec.decode(bytes(text), inSchema);
    expect(encodeText(object, inSchema)).toBe(expected);
  });
});

test('what is absent or null in a body has its default, whether read as null or left out', () => {
  const text = { type: 'string', default: 'x' };
  const completedType = typeOf({
    properties: {
      one: text,
      kept: { ...text, nullable: true },
      entries: { type: 'object', additionalProperties: text },
      items: { type: 'array', items: text },
    },
  });
  const body = '{"one":null,"kept":null,"entries":{"k":null},"items":[null]}';
  const { object } = jsonCodec.decode(bytes(body), completedType);
  scheme.defaults.apply(object, completedType);
  expect(encodeText(object, completedType)).toBe(
    '{"one":"x","kept":null,"entries":{"k":"x"},"items":["x"]}',
  );
});

describe('encodings', () => {
  const text =
    '{"text":"","on":null,"inner":{"a":9007199254740993},"list":[null,{"b":"x"}],' +
    '"map":{"k":{}},"loose":{"u":[{"v":null}]}}';
  test.each([
    ['YAML', yamlCodec],
    ['CBOR', cborCodec],
  ])('%s gives back the same object', (_name, codec) => {
    const { object } = read(text);
    const again = codec.decode(codec.encode(object, type), type);
    expect(again.problems).toEqual([]);
    expect(encodeText(again.object, type)).toBe(`{"spec":${text}}`);
  });
  test('there is no Protobuf form', () => {
    expect(hasProtobufForm(message('Empty', [], keep))).toBe(false);
  });
  test('the stored form keeps everything, and its generation tells of unknown fields', () => {
    const resource = { ...widgetResource, type: root };
    const { object } = jsonCodec.decode(
      bytes(`{"metadata":{"name":"a"},"spec":${text},"other":[""]}`),
      root,
    );
    const opened = openStored(encodeStored(object, resource).value);
    expect(Buffer.from(opened?.payload ?? []).toString()).toBe(
      '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a"},' +
        `"spec":${text},"other":[""]}`,
    );
    const closed = { ...resource, type: { ...root, ...drop } };
    expect(schemaGeneration(closed)).not.toBe(schemaGeneration(resource));
  });
  test('special forms inside keep their own rules', () => {
    const timed = message('Timed', [field('at', special('time'))], drop);
    expect(() => jsonCodec.decode(bytes('{"at":"yesterday"}'), timed)).toThrow('at must be a time');
  });
});
