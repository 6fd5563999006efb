import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadProto } from './load-proto.ts';
import type { JsonObject, TypeInfo } from './type-info.ts';
import { validateDeclared } from './validate.ts';
import { namingProfile } from './vendor.ts';

/** Types of one small file. */
function typesOf(body: string): (name: string) => TypeInfo {
  const folder = mkdtempSync(join(tmpdir(), 'rules-'));
  const options = join(import.meta.dirname, 'proto/options.proto');
  writeFileSync(join(folder, 'options.proto'), readFileSync(options));
  const head = 'syntax = "proto3";\npackage sample;\nimport "options.proto";\n';
  writeFileSync(join(folder, 'sample.proto'), head + body);
  const { types } = loadProto(namingProfile('svc'), folder);
  rmSync(folder, { recursive: true });
  return (name) => {
    const type = types.get(`sample.${name}`);
    if (type === undefined) throw new Error(`no type ${name}`);
    return type;
  };
}

const typeOf = typesOf(`
message Thing {
  string name = 1 [(check) = "required", (check) = "format=dns1123Label"];
  int32 size = 2 [(check) = "range=1..5"];
  optional int32 count = 3 [(check) = "minimum=0"];
  string mode = 4 [(check) = "enum=A|B"];
  repeated string words = 5 [(check) = "maxItems=3", (check) = "unique=set"];
  repeated Part parts = 6 [(list) = MAP, (keys) = "name", (check) = "uniqueBy=name"];
  map<string, Part> named = 7 [(check) = "eachKey:format=dns1123Label"];
  string fixed = 8 [(check) = "immutable"];
  string gated = 9 [(check) = "ifEnabled(G):required"];
  string note = 10 [(check) = "maxBytes=4"];
  optional Thing inner = 11;
}
message Part { string name = 1 [(check) = "required"]; int64 amount = 2 [(check) = "minimum=1"]; }
message Choice {
  optional Part one = 1 [(check) = "source=kind:3"];
  optional Part two = 2 [(check) = "source=kind:1"];
  optional Part three = 3 [(check) = "source=kind:2:Three"];
  optional Part four = 4 [(check) = "source=kind:4:"];
}
message Named {
  optional Part part = 1 [(reported_as) = "Other"];
  repeated Part parts = 2 [(reported_as) = "Parts"];
  repeated Part hidden = 3 [(reported_as) = "."];
  repeated string words = 4 [(reported_as) = "words", (check) = "enum=A|B"];
}
message Exactly {
  optional string one = 1 [(check) = "oneOf=kind"];
  optional string two = 2 [(check) = "oneOf=kind"];
}
message Form {
  optional string text = 1 [(rule) = "alpha(1.36):unionMember"];
  optional bool flag = 2 [(rule) = "alpha(1.36):unionMember"];
}
message Migrated {
  string name = 1 [(rule) = "required"];
  string kind = 2 [(rule) = "alpha(1.36):required"];
}
`);

const run = (
  name: string,
  object: JsonObject,
  old?: JsonObject,
  gates: readonly string[] = [],
): string[] =>
  validateDeclared(object, old, typeOf(name), {
    stage: 'plain',
    isOn: (gate) => gates.includes(gate),
  }).map(({ field, reason }) => `${field} ${reason.replace('FieldValue', '')}`);

const good: JsonObject = { name: 'a', size: 1, amount: 1 };

describe('one object', () => {
  test('that keeps every rule has no failures', () => {
    expect(run('Thing', good)).toEqual([]);
  });

  test('tells all failures in the order of its fields', () => {
    const bad = { size: 9, count: -1, mode: 'C', words: ['a', 'a'], note: 'aaaaa' };
    expect(run('Thing', bad)).toEqual([
      'name Required',
      'size Invalid',
      'count Invalid',
      'mode NotSupported',
      'words[1] Duplicate',
      'note TooLong',
    ]);
  });

  test.each<[string, JsonObject, string[]]>([
    ['a number without presence counts as zero', { name: 'a' }, ['size Invalid']],
    ['an absent number with presence is not checked', { ...good, count: null }, []],
    [
      'too many say nothing of the elements',
      { ...good, words: ['a', 'a', 'a', 'a'] },
      ['words TooMany'],
    ],
    [
      'elements have their index',
      { ...good, parts: [{ amount: 1 }, { name: 'x', amount: 0 }] },
      ['parts[0].name Required', 'parts[1].amount Invalid'],
    ],
    [
      'two elements with one key',
      {
        ...good,
        parts: [
          { name: 'x', amount: 1 },
          { name: 'x', amount: 2 },
        ],
      },
      ['parts[1].name Duplicate'],
    ],
    [
      'keys of maps are checked, values have their key',
      { ...good, named: { 'a b': { name: '', amount: 1 } } },
      ['named Invalid', 'named[a b].name Required'],
    ],
    [
      'types that hold themselves',
      { ...good, inner: { name: 'A', size: 1 } },
      ['inner.name Invalid'],
    ],
    [
      'names from users are data',
      { ...good, named: JSON.parse('{"__proto__":{"amount":1}}') as JsonObject },
      ['named Invalid', 'named[__proto__].name Required'],
    ],
  ])('%s', (_claim, object, failures) => {
    expect(run('Thing', object)).toEqual(failures);
  });

  test('a gated rule holds while its gate is on', () => {
    expect(run('Thing', good, undefined, ['G'])).toEqual(['gated Required']);
  });

  test('messages say what would be right', () => {
    const errors = validateDeclared({ name: 'a', size: 9, mode: 'C' }, undefined, typeOf('Thing'), {
      stage: 'plain',
      isOn: () => false,
    });
    expect(errors.map(({ badValue, detail }) => [badValue, detail])).toEqual([
      [9, 'must be between 1 and 5, inclusive'],
      ['C', 'supported values: "A", "B"'],
    ]);
  });
});

describe('an update', () => {
  test('keeps what is fixed', () => {
    expect(run('Thing', { ...good, fixed: 'b' }, { ...good, fixed: 'a' })).toEqual([
      'fixed Invalid',
    ]);
  });

  test('accepts wrong values where they are stored', () => {
    const stored = { size: 9, mode: 'C', words: ['a', 'a'], parts: [{ name: 'x' }] };
    expect(run('Thing', { ...stored, count: 1 }, stored)).toEqual([]);
    expect(run('Thing', { ...stored, size: 8 }, stored)).toEqual(['size Invalid']);
  });

  test('follows list elements by their keys', () => {
    const stored = {
      ...good,
      parts: [
        { name: 'x', amount: 0 },
        { name: 'y', amount: 1 },
      ],
    };
    const next = {
      ...good,
      parts: [
        { name: 'y', amount: 0 },
        { name: 'x', amount: 0 },
      ],
    };
    expect(run('Thing', next, stored)).toEqual(['parts[0].amount Invalid']);
  });

  test('checks what is new below what was not there', () => {
    const next = { ...good, inner: { size: 1, fixed: 'a' } };
    expect(run('Thing', next, good)).toEqual(['inner.name Required']);
  });
});

test('failures have the paths that their fields are reported as', () => {
  const bad = { amount: 1 };
  const object = { part: bad, parts: [bad], hidden: [bad], words: ['C'] };
  expect(run('Named', object)).toEqual([
    'Other.name Required',
    'Parts.name Required',
    'name Required',
    'words NotSupported',
  ]);
});

describe('unions', () => {
  test.each<[string, string, JsonObject, string[]]>([
    ['a source is needed', 'Choice', {}, [' Required']],
    ['one source', 'Choice', { one: good }, []],
    [
      'the first source by rank counts, further ones are refused and not looked into',
      'Choice',
      { one: {}, two: { name: 'b', amount: 0 } },
      ['one Forbidden', 'two.amount Invalid'],
    ],
    [
      'a source may be refused by another name',
      'Choice',
      { two: good, three: {} },
      ['Three Forbidden'],
    ],
    [
      'a source may never be refused',
      'Choice',
      { two: good, four: {} },
      ['four.name Required', 'four.amount Invalid'],
    ],
    ['none of exactly one', 'Exactly', {}, [' Invalid']],
    ['two of exactly one', 'Exactly', { one: 'a', two: 'b' }, [' Invalid']],
    ['an empty text of exactly one', 'Exactly', { one: '' }, [' Invalid']],
    ['a member that is false', 'Form', { flag: false }, []],
    ['a member that is empty, and another', 'Form', { text: '', flag: true }, [' Invalid']],
  ])('%s', (_claim, type, object, failures) => {
    expect(run(type, object)).toEqual(failures);
  });
});

test('rules of the two stages are apart', () => {
  const type = typeOf('Migrated');
  const found = (stage: 'plain' | 'migrated'): string[] =>
    validateDeclared({}, undefined, type, { stage, isOn: () => true }).map(({ field }) => field);
  expect(found('migrated')).toEqual(['name']);
  expect(found('plain')).toEqual(['kind']);
});

test.each(['nonsense', 'format=nonsense', 'enum'])('%s is no rule', (rule) => {
  const type = typesOf(`message T { string a = 1 [(check) = "${rule}"]; }`)('T');
  expect(() =>
    validateDeclared({}, undefined, type, { stage: 'plain', isOn: () => true }),
  ).toThrow();
});
