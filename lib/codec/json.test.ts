import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { StatusError } from '../base/status.ts';
import { isNameless } from '../base/nameless.ts';
import { encodeText, jsonCodec, parseCanonical, parseData, stringify } from './json.ts';
import { readObject } from './normalise.ts';
import { schemaType, widgetType } from './testing/sample-types.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string): { object: JsonObject; problems: string[] } => {
  const { object, problems } = jsonCodec.decode(bytes(text), widgetType);
  return { object, problems: problems.map((one) => `${one.kind} ${one.path}`) };
};
/** Canonical text of a widget whose spec is `spec`, of the spec alone. */
function specText(spec: string): string {
  const { object } = read(`{"spec":${spec}}`);
  const text = JSON.stringify(object['spec'], (_key, value: unknown) =>
    typeof value === 'bigint' ? `big ${String(value)}` : value,
  );
  return text;
}
function failure(text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof StatusError) return `${String(error.code)} ${error.message}`;
    throw error;
  }
  return 'accepted';
}
const rest = { count: 0, ports: null, request: '0', started: null, raw: null, selector: null };
/** Members that every spec has, merged in schema order by the reader itself. */
const withRest = (spec: JsonObject): JsonValue => {
  const { object } = readObject({ spec: { ...rest, ...spec } }, widgetType);
  return (object as JsonObject)['spec'] as JsonValue;
};

describe('canonical form', () => {
  test('members come in schema order, kind and apiVersion first', () => {
    const { object } = read(
      '{"status":{},"spec":{"enabled":true,"nodeName":"n"},"metadata":{"uid":"u",' +
        '"name":"a"},"apiVersion":"v1","kind":"Widget"}',
    );
    expect(JSON.stringify(object)).toBe(
      '{"kind":"Widget","apiVersion":"v1","metadata":{"name":"a","uid":"u"},"spec":{"nodeNa' +
        'me":"n","count":0,"enabled":true,"ports":null,"request":"0","started":null,' +
        '"raw":null,"selector":null},"status":{}}',
    );
  });
  test('an empty body object shows every field that is always written', () => {
    expect(JSON.stringify(read('{}').object)).toBe(
      `{"metadata":{},"spec":${JSON.stringify(rest)},"status":{}}`,
    );
    expect(read('null').object).toEqual(read('{}').object);
  });
  test.each([
    ['empty scalars are left out', '{"nodeName":"","size":0,"enabled":false,"token":""}', {}],
    [
      'set pointers are kept when zero',
      '{"replicas":0,"paused":false}',
      { replicas: 0, paused: false },
    ],
    ['null pointers are left out', '{"replicas":null,"paused":null,"schema":null}', {}],
    ['empty lists and maps are left out', '{"numbers":[],"limits":{},"secrets":{}}', {}],
    ['an empty list of a Protobuf field is unset', '{"ports":[]}', { ports: null }],
    ['an empty list of a JSON-only field is kept', '{"cells":[]}', { cells: [] }],
    [
      'null in lists and maps is the zero value',
      '{"numbers":[null],"limits":{"a":null}}',
      { numbers: [0], limits: { a: '0' } },
    ],
    [
      'null messages in lists are zero messages',
      '{"ports":[null]}',
      { ports: [{ port: 0, targetPort: 0 }] },
    ],
    ['inlined fields stand beside the others', '{"weight":1.5,"size":3}', { size: 3, weight: 1.5 }],
    ['map keys are sorted', '{"selector":{"b":"1","a":"2"}}', { selector: { a: '2', b: '1' } }],
    [
      'times become UTC',
      '{"started":"2024-03-01T01:30:00.987+02:00"}',
      { started: '2024-02-29T23:30:00Z' },
    ],
    ['the zero time is null', '{"started":"0001-01-01T00:00:00Z"}', {}],
    [
      'micro times have six digits',
      '{"renewed":"2024-03-01T02:30:00.500000+01:00"}',
      { renewed: '2024-03-01T01:30:00.500000Z' },
    ],
    ['durations are canonical', '{"timeout":"90m"}', { timeout: '1h30m0s' }],
    [
      'quantities are canonical',
      '{"limits":{"a":"1000m","b":0.5,"c":2}}',
      { limits: { a: '1', b: '500m', c: '2' } },
    ],
    [
      'int-or-string keeps both',
      '{"ports":[{"targetPort":"http"},{"targetPort":8}]}',
      {
        ports: [
          { port: 0, targetPort: 'http' },
          { port: 0, targetPort: 8 },
        ],
      },
    ],
    ['base64 loses line breaks and spare bits', '{"token":"YW\\nI="}', { token: 'YWI=' }],
    ['named lists are lists', '{"extra":{"k":["x"],"n":null}}', { extra: { k: ['x'], n: null } }],
    [
      'schema unions take each form',
      '{"schema":{"items":[{"type":"a"}],"additionalProperties":false,"dependencies":{"a":[' +
        '"b"],"c":{"type":"d"}},"default":{"x":1}}}',
      {
        schema: {
          default: { x: 1 },
          items: [{ type: 'a' }],
          additionalProperties: false,
          dependencies: { a: ['b'], c: { type: 'd' } },
        },
      },
    ],
  ])('%s', (_claim, spec, expected) => {
    expect(specText(spec)).toBe(JSON.stringify(withRest(expected)));
  });
  test('creationTimestamp is left out when null, deletionTimestamp when unset', () => {
    const { object } = read(
      '{"metadata":{"creationTimestamp":null,"deletionTimestamp":null,"name":"a"}}',
    );
    expect(JSON.stringify(object['metadata'])).toBe('{"name":"a"}');
  });
});

describe('integers', () => {
  test.each([
    ['9007199254740991', '9007199254740991'],
    ['9007199254740993', '"big 9007199254740993"'],
    ['-9223372036854775808', '"big -9223372036854775808"'],
    ['9223372036854775807', '"big 9223372036854775807"'],
  ])('%s is exact', (number, shown) => {
    expect(specText(`{"numbers":[${number}]}`)).toContain(`"numbers":[${shown}]`);
    const again = jsonCodec.decode(bytes(`{"spec":{"numbers":[${number}]}}`), widgetType).object;
    expect(encodeText(again, widgetType)).toContain(`"numbers":[${number}]`);
  });
});

describe('refused with the name of the field', () => {
  test.each([
    ['{"spec":{"numbers":[9223372036854775808]}}', 'spec.numbers[0] must be an integer of 64 bits'],
    ['{"spec":{"size":2147483648}}', 'spec.size must be an integer of 32 bits, not an integer'],
    ['{"spec":{"size":1.5}}', 'spec.size must be an integer of 32 bits, not a number'],
    ['{"spec":{"size":"ten"}}', 'spec.size must be an integer of 32 bits, not a string'],
    ['{"metadata":{"labels":{"a":1}}}', 'metadata.labels.a must be a string, not an integer'],
    ['{"metadata":{"labels":"x"}}', 'metadata.labels must be an object, not a string'],
    ['{"metadata":[]}', 'metadata must be an object, not a list'],
    ['{"spec":{"ports":{}}}', 'spec.ports must be a list, not an object'],
    [
      '{"spec":{"ports":[{"port":true}]}}',
      'spec.ports[0].port must be an integer of 32 bits, not a boolean',
    ],
    ['{"spec":{"paused":"yes"}}', 'spec.paused must be true or false, not a string'],
    [
      '{"spec":{"started":"yesterday"}}',
      'spec.started must be a time such as 2006-01-02T15:04:05Z, not "yesterday"',
    ],
    ['{"spec":{"started":"2023-02-29T00:00:00Z"}}', 'spec.started must be a time'],
    ['{"spec":{"timeout":"5"}}', 'spec.timeout must be a duration'],
    ['{"spec":{"limits":{"cpu":"lots"}}}', 'spec.limits.cpu must be a quantity'],
    [
      '{"spec":{"ports":[{"targetPort":1.5}]}}',
      'spec.ports[0].targetPort must be an integer of 32 bits or a string',
    ],
    ['{"kind":5}', 'kind must be a string, not an integer'],
    ['[]', 'Widget cannot be read: it must be an object, not a list'],
    ['"x"', 'it must be an object, not a string'],
    ['', 'the body is empty'],
    [' \n', 'the body is empty'],
    ['{', 'the body is not valid JSON'],
    ['{"a":1}}', 'the body is not valid JSON: unexpected text at character 7'],
    ['{"a":NaN}', 'the body is not valid JSON'],
    ['\ufeff{}', 'the body is not valid JSON'],
  ])('%s', (text, message) => {
    expect(failure(text)).toMatch(/^400 /);
    expect(failure(text)).toContain(message);
  });
  test('bytes are not repeated in the message', () => {
    expect(failure('{"spec":{"secrets":{"k":"!!hunter2"}}}')).toBe(
      '400 Widget cannot be read: spec.secrets.k must be base64 with padding',
    );
    expect(failure('{"spec":{"token":"hunter2"')).not.toContain('hunter2');
  });
  test('the body must be UTF-8', () => {
    const broken = Buffer.concat([
      Buffer.from('{"metadata":{"name":"'),
      Buffer.from([0xff]),
      Buffer.from('"}}'),
    ]);
    expect(() => jsonCodec.decode(broken, widgetType)).toThrow('not valid UTF-8');
  });
  test('nesting is bounded, also far beyond any stack', () => {
    const nested = (depth: number): string =>
      `{"spec":{"raw":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
    expect(failure(nested(98))).toBe('accepted');
    expect(failure(nested(99))).toContain('nests deeper than 100 levels');
    expect(failure(nested(1_000_000))).toContain('nests deeper than 100 levels');
    expect(failure('['.repeat(1_000_000))).toContain('nests deeper than 100 levels');
  });
});

describe('unknown and duplicate fields', () => {
  test.each([
    [
      '{"x":1,"spec":{"y":{"deep":[1]},"ports":[{"nam":"a"}]}}',
      ['unknown x', 'unknown spec.y', 'unknown spec.ports[0].nam'],
    ],
    ['{"Metadata":{}}', ['unknown Metadata']],
    ['{"metadata":{"labels":{"a":"1","a":"2"}}}', ['duplicate metadata.labels.a']],
    [
      '{"metadata":{"name":"c","name":"c"},"spec":{"raw":{"k":[{"z":1,"z":2}]}},"spec":{}}',
      ['duplicate metadata.name', 'duplicate spec'],
    ],
    ['{"metadata":{"name":"a","\\u006eame":"b"}}', ['duplicate metadata.name']],
    ['{"x":1,"x":2}', ['duplicate x', 'unknown x']],
    ['{"metadata":{"name":"a:\\":b,{","annotations":{"a\\\\":"\\\\\\""}}}', []],
    ['{"spec":{"numbers":[1,2],"raw":[{"a":1},{"a":1}]}}', []],
    [
      '{"__proto__":{"a":1},"constructor":1,"metadata":{"toString":1}}',
      ['unknown __proto__', 'unknown constructor', 'unknown metadata.toString'],
    ],
  ])('%s', (text, problems) => {
    expect(read(text).problems).toEqual(problems);
  });
  test('of duplicates the last one counts', () => {
    expect(read('{"metadata":{"labels":{"a":"1","a":"2"}}}').object['metadata']).toEqual({
      labels: { a: '2' },
    });
  });
  test('reports stay small', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `"u${String(index)}":1`).join(',');
    const key = 'k'.repeat(100_000);
    const { problems } = read(`{"spec":{"schema":{"properties":{"${key}":{${many}}}}}}`);
    expect(problems.length).toBe(100);
    expect(problems.join('').length).toBeLessThan(100_000);
  });
});

describe('keys of users are data', () => {
  const hostile =
    '{"metadata":{"labels":{"__proto__":"a","constructor":"b","toString":"c","1":"d"}}}';
  test('in maps', () => {
    const labels = (read(hostile).object['metadata'] as JsonObject)['labels'] as JsonObject;
    expect(isNameless(Object.getPrototypeOf(labels))).toBe(true);
    expect(Object.keys(labels)).toEqual(['1', '__proto__', 'constructor', 'toString']);
    expect(labels['__proto__']).toBe('a');
    expect(({} as { a?: string }).a).toBeUndefined();
    expect(encodeText(read(hostile).object, widgetType)).toContain('"__proto__":"a"');
  });
  test('in bodies without a schema', () => {
    const value = parseData(bytes('{"__proto__":{"x":1},"a":{"constructor":2}}')) as JsonObject;
    expect(isNameless(Object.getPrototypeOf(value))).toBe(true);
    expect(Object.keys(value)).toEqual(['__proto__', 'a']);
    expect(value['x']).toBeUndefined();
  });
});

describe('lone surrogates', () => {
  test.each([
    ['"\\ud800"', '\ufffd'],
    ['"\\udc00x"', '\ufffdx'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\\\ud800"', '\\ud800'],
    ['"\\ud800\\ud83d\\ude00"', '\ufffd😀'],
  ])('%s', (text, expected) => {
    const { object } = read(`{"metadata":{"name":${text}}}`);
    expect((object['metadata'] as JsonObject)['name']).toBe(expected);
  });
});

describe('encoding', () => {
  test('orders, drops and fills without touching the given object', () => {
    const object = Object.freeze({
      spec: Object.freeze({ nodeName: '', enabled: true, request: '1000m' }),
      kind: 'Widget',
      metadata: Object.freeze({ labels: Object.freeze({ b: '1', a: '2' }), name: 'a', extra: 1 }),
    });
    expect(encodeText(object, widgetType)).toBe(
      '{"kind":"Widget","metadata":{"name":"a","labels":{"a":"2","b":"1"}},"spec":{"count":' +
        '0,"enabled":true,"ports":null,"request":"1","started":null,"raw":null,"selector":nul' +
        'l},"status":{}}',
    );
  });
  test('is a fixed point: decoding and encoding again changes nothing (seeded)', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const text = JSON.stringify(randomWidget(seed));
      const first = encodeText(jsonCodec.decode(bytes(text), widgetType).object, widgetType);
      const decoded = jsonCodec.decode(bytes(first), widgetType);
      expect([seed, decoded.problems]).toEqual([seed, []]);
      expect([seed, encodeText(decoded.object, widgetType)]).toEqual([seed, first]);
      expect([
        seed,
        encodeText(readObject(JSON.parse(text) as JsonValue, widgetType).object, widgetType),
      ]).toEqual([seed, first]);
    }
  });
  test('recursive types work', () => {
    const text = '{"properties":{"a":{"items":{"type":"x"}}}}';
    expect(encodeText(jsonCodec.decode(bytes(text), schemaType).object, schemaType)).toBe(text);
  });
});

test('an object from memory reports unknown fields and wrong types too', () => {
  const value = { metadata: { name: 'a', nosuch: 1 } };
  expect(readObject(value, widgetType).problems).toEqual([
    { kind: 'unknown', path: 'metadata.nosuch' },
  ]);
  expect(value).toEqual({ metadata: { name: 'a', nosuch: 1 } });
  expect(() => readObject({ metadata: { name: 5 } }, widgetType)).toThrow(
    'metadata.name must be a string',
  );
});

function randomWidget(seed: number): JsonObject {
  let state = seed;
  const random = (below: number): number => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return Math.floor((state / 4294967296) * below);
  };
  const word = (): string => ['', 'a', 'Zß', '__proto__', '😀', '10', '9', 'x"y'][random(8)] ?? '';
  const maybe = (make: () => JsonValue): JsonValue | undefined =>
    random(3) === 0 ? undefined : random(6) === 0 ? null : make();
  const map = (make: () => JsonValue): JsonValue => {
    const result = Object.create(null) as JsonObject;
    for (let count = random(4); count > 0; count -= 1) result[word()] = make();
    return result;
  };
  const time = (ends = ['Z', '.25Z', '+03:00']): string =>
    `20${String(10 + random(80))}-0${String(1 + random(9))}-1${String(random(10))}` +
    `T0${String(random(10))}:00:0${String(random(10))}${ends[random(ends.length)] ?? 'Z'}`;
  return {
    status: maybe(() => ({ phase: word() })),
    spec: maybe(() => ({
      selector: maybe(() => map(word)),
      extra: maybe(() => map(() => [word()])),
      limits: maybe(() =>
        map(() => `${String(random(3000))}${['', 'm', 'Ki', 'e3'][random(4)] ?? ''}`),
      ),
      ports: maybe(() => [{ targetPort: random(2) === 0 ? word() : random(9), port: random(9) }]),
      started: maybe(() => time()),
      renewed: maybe(() => time(['.000000Z', '.250000+03:00'])),
      nodeName: maybe(word),
      size: maybe(() => random(3)),
      // Of one member each: raw JSON without a text of its own is sorted.
      raw: maybe(() => ({ [word()]: [random(5), { [word()]: null }] })),
      timeout: maybe(() => `${String(random(5000))}ms`),
    })),
    metadata: maybe(() => ({
      labels: maybe(() => map(word)),
      name: maybe(word),
      creationTimestamp: maybe(time),
    })),
  };
}

test('JSON that a codec wrote is read back with exact integers', () => {
  const text = '{"kind":"Widget","spec":{"count":9007199254740993,"raw":{"__proto__":{"a":1}}}}';
  expect(stringify(parseCanonical(bytes(text)))).toBe(text);
  const listed = '{"spec":{"raw":[-9007199254740993,"1234567890123456789"]}}';
  expect(stringify(parseCanonical(bytes(listed)))).toBe(listed);
  const plain = '{"spec":{"count":7}}';
  expect(parseCanonical(bytes(plain))).toEqual({ spec: { count: 7 } });
});
