import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { StatusError } from '../base/status.ts';
import { stringify } from './json.ts';
import { widgetType } from './testing/sample-types.ts';
import { readYaml } from './yaml-reader.ts';
import { encodeYaml, yamlCodec, yamlListEnds, yamlListEntry } from './yaml.ts';

const value = (text: string): string => stringify(readYaml(text).value);
function failure(text: string): string {
  try {
    readYaml(text);
  } catch (error) {
    if (error instanceof StatusError) return `${String(error.code)} ${error.message}`;
    throw error;
  }
  return 'read';
}

describe('scalars of YAML 1.1', () => {
  test.each([
    ['y', 'true'],
    ['Yes', 'true'],
    ['ON', 'true'],
    ['true', 'true'],
    ['n', 'false'],
    ['no', 'false'],
    ['Off', 'false'],
    ['False', 'false'],
    ['yEs', '"yEs"'],
    ['"yes"', '"yes"'],
    ["'on'", '"on"'],
    ['!!str yes', '"yes"'],
    ['~', 'null'],
    ['', 'null'],
    ['null', 'null'],
    ['NULL', 'null'],
    ['nil', '"nil"'],
    ['0', '0'],
    ['12', '12'],
    ['-3', '-3'],
    ['+3', '3'],
    ['1_000', '1000'],
    ['010', '8'],
    ['0o10', '8'],
    ['0x1F', '31'],
    ['0b101', '5'],
    ['08', '8'],
    ['1.5', '1.5'],
    ['.5', '0.5'],
    ['1e3', '1000'],
    ['1e+3', '1000'],
    ['-1.0', '-1'],
    ['1:30', '"1:30"'],
    ['2024-01-01', '"2024-01-01"'],
    ['2024-01-01T00:00:00Z', '"2024-01-01T00:00:00Z"'],
    ['9007199254740993', '9007199254740993'],
    ['18446744073709551615', '18446744073709551615'],
    ['99999999999999999999', '100000000000000000000'],
    ['64Mi', '"64Mi"'],
    ['1_0.5', '10.5'],
    ['_1', '"_1"'],
    ['-0x10', '-16'],
    ['0b102', '"0b102"'],
    ['!!int 0x10', '16'],
    ['!!float 1', '1'],
    ['!!bool "yes"', 'true'],
    ['!!null x', 'null'],
    ['!<tag:yaml.org,2002:str> 1', '"1"'],
    ['!custom 1', '1'],
    ['! 1', '"1"'],
    ['-', '[null]'],
    ['=', '"="'],
    ['1.2.3', '"1.2.3"'],
    ['_', '"_"'],
    ['!!binary YWI=', '"ab"'],
    ['|\n  a\n  b\n', '"a\\nb\\n"'],
    ['>-\n  a\n  b\n', '"a b"'],
    ['"\\ud800"', '"\ufffd"'],
  ])('%j is %s', (text, expected) => {
    expect(value(text)).toBe(expected);
  });
  test('keys resolve the same way and become text', () => {
    expect(value('y: 1\n010: 2\n"on": 3\n1.5: 4\n')).toBe('{"8":2,"true":1,"on":3,"1.5":4}');
  });
});

describe('anchors, aliases and merges', () => {
  test.each([
    ['a: &x {k: 1}\nb: *x\n', '{"a":{"k":1},"b":{"k":1}}'],
    ['a: &x 1\nb: &x 2\nc: *x\n', '{"a":1,"b":2,"c":2}'],
    [
      'base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  x: 3\n',
      '{"base":{"x":1,"true":2},"use":{"x":3,"true":2}}',
    ],
    [
      'l: [&a {p: 1}, &b {p: 2, q: 3}]\nuse:\n  <<: [*a, *b]\n',
      '{"l":[{"p":1},{"p":2,"q":3}],"use":{"p":1,"q":3}}',
    ],
    ['"<<": 1\n', '{"<<":1}'],
    ['a: &k key\n*k : 1\n', '{"a":"key","key":1}'],
  ])('%j', (text, expected) => {
    expect(value(text)).toBe(expected);
  });
  test('an alias is a copy', () => {
    const { a, b } = readYaml('a: &x {k: [1]}\nb: *x\n').value as { a: JsonObject; b: JsonObject };
    expect(a).not.toBe(b);
    expect(a['k']).not.toBe(b['k']);
  });
  test('expansion has a budget of nodes and of text', () => {
    const times = (count: number, text: string): string[] =>
      Array.from({ length: count }, () => text);
    const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 9; level += 1) {
      const aliases = times(10, `*a${String(level - 1)}`);
      bomb.push(`a${String(level)}: &a${String(level)} [${aliases.join(', ')}]`);
    }
    expect(failure(bomb.join('\n'))).toContain(
      '400 the aliases of the YAML body expand to too much',
    );
    const text = 'x'.repeat(100_000);
    const long = `a: &a ${text}\nb: [${times(1000, '*a').join(', ')}]\n`;
    expect(failure(long)).toContain('400 the aliases of the YAML body expand to too much');
    const merges = `a: &a {k: ${text}}\nb:\n${times(1000, '- <<: *a\n').join('')}`;
    expect(failure(merges)).toContain('400 the aliases of the YAML body expand to too much');
  });
});

describe('refused', () => {
  test.each([
    ['a: 1\n---\nb: 2\n', 'more than one YAML document'],
    ['a: [1\n', 'not valid YAML: line'],
    ['a: "x\n', 'not valid YAML: line'],
    ['a: b: c\n', 'not valid YAML: line 1'],
    ['\ta: 1\n', 'not valid YAML'],
    ['a: *nobody\n', 'a is an alias of something unknown'],
    ['a: &x [*x]\n', 'alias of something unknown or of itself'],
    ['a: .nan\n', 'a must be a finite number'],
    ['- .inf\n', '[0] must be a finite number'],
    ['? [1, 2]\n: 3\n', 'a key that is not a scalar'],
    ['~: 1\n', 'a key that is not a scalar'],
    ['<<: 1\n', 'merges something that is not a map'],
    [`a: ${'['.repeat(101)}${']'.repeat(101)}`, 'nests deeper than 100 levels'],
    ['['.repeat(50_000), 'nests deeper than 100 levels'],
    ['- '.repeat(20_000), 'nests deeper than 100 levels'],
    [`a: ${'{a: '.repeat(200)}1${'}'.repeat(200)}`, 'nests deeper than 100 levels'],
  ])('case %#', (text, message) => {
    expect(failure(text)).toMatch(/^400 /);
    expect(failure(text)).toContain(message);
  });
  test.each([
    ['more text than allowed', `a: ${'x'.repeat(limits.requestBodyBytesMax)}`, '413'],
    ['many documents with content', 'a: 1\n---\n'.repeat(50_000), '400'],
    ['a tag that does not fit', 'a: !!int x', '400'],
    ['a tag of truth that does not fit', '!!bool 1', '400'],
    ['a null byte', 'a: \u0000', '400'],
  ])('%s', (_claim, text, code) => {
    expect(failure(text)).toMatch(new RegExp(`^${code} `));
  });
  test.each([
    ['list entries', '- x\n'],
    ['nested pairs', '[a: [b: c]],'],
    ['empty documents', '---\n'],
    ['anchors', '- &a b\n'],
    ['keys that turn out to be none', '[a,b,c]: x\n'],
    ['nested keys', `${'{'.repeat(40)}a${'}'.repeat(40)}: 1\n`],
    ['open quotes', '"a" \''],
  ])('64 KB of %s are answered at once', (_claim, piece) => {
    const text = piece.repeat(Math.ceil((64 * 1024) / piece.length));
    failure(text); // The first time is the compiler's.
    const started = process.cpuUsage();
    failure(text);
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1000).toBeLessThan(200);
  });
  test('the message does not repeat the body', () => {
    expect(failure('data:\n  password: "hunter2\n')).not.toContain('hunter2');
  });
  test('text that is not UTF-8', () => {
    expect(() => yamlCodec.decode(Buffer.from([0x61, 0xff]), widgetType)).toThrow(
      'not valid UTF-8',
    );
  });
});

describe('objects', () => {
  const text =
    'apiVersion: v1\nkind: Widget\nnosuch: x\nmetadata:\n  name: a\n  labels:\n' +
    '    k: "1"\n    k: "2"\n';
  test('are read through the same walk as JSON, duplicates first', () => {
    const { object, problems } = yamlCodec.decode(Buffer.from(text), widgetType);
    expect(Object.keys(object)).toEqual(['kind', 'apiVersion', 'metadata', 'spec', 'status']);
    expect(object.metadata).toEqual({ name: 'a', labels: { k: '2' } });
    expect(problems).toEqual([
      { kind: 'duplicate', path: 'metadata.labels.k' },
      { kind: 'unknown', path: 'nosuch' },
    ]);
  });
  test.each(['', '---\n', '--- # nothing\n...\n', '{}'])('%j is the empty object', (empty) => {
    expect(yamlCodec.decode(Buffer.from(empty), widgetType).object.metadata).toEqual({});
  });
  test('wrong types name the field', () => {
    expect(() =>
      yamlCodec.decode(Buffer.from('metadata:\n  labels:\n    a: yes\n'), widgetType),
    ).toThrow('metadata.labels.a must be a string, not a boolean');
  });
  test('keys of users are data', () => {
    const { object } = yamlCodec.decode(
      Buffer.from('metadata:\n  labels:\n    __proto__: x\n'),
      widgetType,
    );
    expect(Object.keys(object.metadata?.labels ?? {})).toEqual(['__proto__']);
  });
  test('are written with ascending keys', () => {
    const object = {
      kind: 'Widget',
      apiVersion: 'v1',
      metadata: { name: 'a', finalizers: ['x', 'yes'] },
    };
    const written = Buffer.from(yamlCodec.encode(object, widgetType)).toString();
    expect(written).toBe(
      'apiVersion: v1\nkind: Widget\nmetadata:\n  finalizers:\n  - x\n  - "yes"\n' +
        '  name: a\nspec:\n  count: 0\n  ports: null\n  raw: null\n  request: "0"\n' +
        '  selector: null\n  started: null\nstatus: {}\n',
    );
  });
});

/** Text that a reader could take for something else. */
const texts = [
  '',
  ' ',
  'yes',
  'n',
  'on',
  '~',
  'null',
  '010',
  '0x1',
  '1_0',
  '1e3',
  '1:30',
  '.5',
  '.inf',
  '<<',
  '- a',
  'a: b',
  '# c',
  '*x',
  '&x',
  '!t',
  '%',
  '@',
  '`',
  '"',
  "'",
  'a\nb\n',
  ' lead',
  'trail ',
  '\t',
  'ä😀',
  '2024-01-01',
  '=',
  '?',
  '{',
  '__proto__',
  '\u0000',
  '\u2028',
  'x'.repeat(200),
  '---',
  '...',
  '0o7',
  '0b1',
  '+1',
  '-',
  '1.',
  '12e03',
];

test('what is written reads back the same (seeded)', () => {
  let state = 11;
  const pick = (below: number): number => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return Math.floor((state / 4294967296) * below);
  };
  const random = (depth: number): JsonValue => {
    switch (pick(depth === 0 ? 4 : 6)) {
      case 0:
        return texts[pick(texts.length)] ?? '';
      case 1:
        return pick(2000) - 1000;
      case 2:
        return [true, false, null, 1.5, 9007199254740993n][pick(5)] ?? null;
      case 3:
        return texts[pick(texts.length)] ?? '';
      case 4:
        return Array.from({ length: pick(4) }, () => random(depth - 1));
      default: {
        const object = Object.create(null) as JsonObject;
        for (let count = pick(4); count > 0; count -= 1)
          object[texts[pick(texts.length)] ?? ''] = random(depth - 1);
        return object;
      }
    }
  };
  const sorted = (of: JsonValue): string => stringify(sortKeys(of));
  for (let round = 0; round < 1_500; round += 1) {
    const given = random(3);
    const written = Buffer.from(encodeYaml(given)).toString();
    expect([round, written, sorted(readYaml(written).value)]).toEqual([
      round,
      written,
      sorted(given),
    ]);
  }
});

function sortKeys(of: JsonValue): JsonValue {
  if (typeof of !== 'object' || of === null) return of;
  if (Array.isArray(of)) return of.map(sortKeys);
  const result = Object.create(null) as JsonObject;
  for (const key of Object.keys(of).sort()) result[key] = sortKeys(of[key] ?? null);
  return result;
}

test('a list from its entries is the list as a whole', () => {
  const entries: JsonValue[] = [
    {
      metadata: { name: 'a' },
      data: { text: 'one\n\n two\n', lead: '  x\ny', keep: 'x\n\n', '': '' },
    },
    { list: [{ a: [] }, [1, ['x\ny\n']], 'a\nb'], empty: {} },
    { a: null },
    {},
  ];
  const of = { kind: 'PodList', apiVersion: 'v1' };
  const metadata = { resourceVersion: '7', continue: 'yes' };
  for (const count of [0, 1, entries.length]) {
    const { open, close } = yamlListEnds(of, metadata, count);
    const items = entries.slice(0, count);
    const whole = Buffer.from(encodeYaml({ ...of, metadata, items })).toString();
    const joined = Buffer.concat([open, ...items.map(yamlListEntry), close]).toString();
    expect(joined).toBe(whole);
  }
});
