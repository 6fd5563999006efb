import { describe, expect, test } from '@jest/globals';
import { sortedText } from '../api/raw-json.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { StatusError } from '../base/status.ts';
import { rawData } from '../codec/json.ts';
import { applyJsonPatch, parseJsonPatch } from './json-patch.ts';

const bytes = (value: unknown): Uint8Array =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const patchedValues = (document: unknown, patch: unknown): string =>
  JSON.stringify(
    applyJsonPatch(JSON.parse(JSON.stringify(document)) as JsonValue, parseJsonPatch(bytes(patch))),
  );
/** The same with document and patch as raw JSON. */
const patchedText = (document: unknown, patch: unknown): string =>
  sortedText(
    applyJsonPatch(rawData(bytes(JSON.stringify(document))), parseJsonPatch(bytes(patch), rawData)),
  );
function outcome(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return `${String(error.code)} ${error.reason}`;
    throw error;
  }
  return 'applied';
}
/** Both ways agree. */
function patched(document: unknown, patch: unknown): string {
  const text = patchedValues(document, patch);
  expect(JSON.parse(patchedText(document, patch))).toEqual(JSON.parse(text));
  return text;
}
function failure(document: unknown, patch: unknown): string {
  const found = outcome(() => patchedValues(document, patch));
  expect(outcome(() => patchedText(document, patch))).toBe(found);
  return found;
}

const doc = { a: 1, l: ['x', 'y'], 'x/y': 3, 'm~n': 4, o: { p: { q: null } } };

describe('operations', () => {
  test.each<[string, unknown[], unknown]>([
    ['add a member', [{ op: 'add', path: '/b', value: [] }], { ...doc, b: [] }],
    ['add over a member', [{ op: 'add', path: '/a', value: 2 }], { ...doc, a: 2 }],
    ['add null', [{ op: 'add', path: '/a', value: null }], { ...doc, a: null }],
    [
      'insert into a list',
      [{ op: 'add', path: '/l/1', value: 'n' }],
      { ...doc, l: ['x', 'n', 'y'] },
    ],
    ['append by index', [{ op: 'add', path: '/l/2', value: 'n' }], { ...doc, l: ['x', 'y', 'n'] }],
    ['append', [{ op: 'add', path: '/l/-', value: 'n' }], { ...doc, l: ['x', 'y', 'n'] }],
    ['add the whole document', [{ op: 'add', path: '', value: { z: 1 } }], { z: 1 }],
    [
      'replace a member',
      [{ op: 'replace', path: '/o/p/q', value: 5 }],
      { ...doc, o: { p: { q: 5 } } },
    ],
    ['replace an element', [{ op: 'replace', path: '/l/0', value: 5 }], { ...doc, l: [5, 'y'] }],
    ['replace the document', [{ op: 'replace', path: '', value: {} }], {}],
    ['remove an element', [{ op: 'remove', path: '/l/0' }], { ...doc, l: ['y'] }],
    [
      'escaped names',
      [
        { op: 'replace', path: '/x~1y', value: 's' },
        { op: 'replace', path: '/m~0n', value: 't' },
      ],
      { ...doc, 'x/y': 's', 'm~n': 't' },
    ],
    [
      'copy',
      [
        { op: 'copy', from: '/l', path: '/k' },
        { op: 'add', path: '/k/-', value: 1 },
      ],
      { ...doc, k: ['x', 'y', 1] },
    ],
    [
      'copy into itself',
      [{ op: 'copy', from: '/o', path: '/o/copy' }],
      { ...doc, o: { p: { q: null }, copy: { p: { q: null } } } },
    ],
    ['move within a list', [{ op: 'move', from: '/l/0', path: '/l/1' }], { ...doc, l: ['y', 'x'] }],
    ['move onto itself', [{ op: 'move', from: '/l', path: '/l' }], doc],
    [
      'tests that hold',
      [
        { op: 'test', path: '/o', value: { p: { q: null } } },
        { op: 'test', path: '/l', value: ['x', 'y'] },
        { op: 'test', path: '/o/p/q', value: null },
        { op: 'test', path: '', value: { o: doc.o, 'm~n': 4, 'x/y': 3, l: doc.l, a: 1.0 } },
      ],
      doc,
    ],
    ['none', [], doc],
  ])('%s', (_claim, patch, expected) => {
    expect(JSON.parse(patched(doc, patch))).toEqual(expected);
  });
  test('remove and move take the member away', () => {
    expect(patched({ a: 1, b: 2 }, [{ op: 'remove', path: '/a' }])).toBe('{"b":2}');
    expect(patched({ a: 1, b: 2 }, [{ op: 'move', from: '/a', path: '/c' }])).toBe('{"b":2,"c":1}');
  });
  test('neither the document nor the operations are changed', () => {
    const document = Object.freeze({ o: Object.freeze({}) }) as unknown as JsonValue;
    const operations = parseJsonPatch(
      bytes([
        { op: 'add', path: '/n', value: { m: 1 } },
        { op: 'add', path: '/n/k', value: 2 },
        { op: 'add', path: '/o/k', value: 2 },
      ]),
    );
    const first = JSON.stringify(applyJsonPatch(document, operations));
    expect(JSON.stringify(applyJsonPatch(document, operations))).toBe(first);
    expect(first).toBe('{"o":{"k":2},"n":{"m":1,"k":2}}');
  });
});

test.each<[string, unknown]>([
  ['test of another value', [{ op: 'test', path: '/a', value: '1' }]],
  ['test of fewer members', [{ op: 'test', path: '/o', value: {} }]],
  ['test of a missing member', [{ op: 'test', path: '/none', value: null }]],
  ['remove of a missing member', [{ op: 'remove', path: '/none' }]],
  ['remove of everything', [{ op: 'remove', path: '' }]],
  ['replace of a missing member', [{ op: 'replace', path: '/none', value: 1 }]],
  ['replace past the list', [{ op: 'replace', path: '/l/2', value: 1 }]],
  ['add below a missing member', [{ op: 'add', path: '/none/deep', value: 1 }]],
  ['add below a number', [{ op: 'add', path: '/a/deep', value: 1 }]],
  ['add past the list', [{ op: 'add', path: '/l/9', value: 1 }]],
  ['index with a leading zero', [{ op: 'replace', path: '/l/00', value: 1 }]],
  ['negative index', [{ op: 'remove', path: '/l/-1' }]],
  ['end of the list as a source', [{ op: 'remove', path: '/l/-' }]],
  ['move into itself', [{ op: 'move', from: '/o', path: '/o/p/x' }]],
  ['move of a missing member', [{ op: 'move', from: '/none', path: '/x' }]],
  ['copy of a missing member', [{ op: 'copy', from: '/none', path: '/x' }]],
  ['inherited names', [{ op: 'test', path: '/constructor/name', value: 'Object' }]],
  [
    'a later failure',
    [
      { op: 'add', path: '/b', value: 1 },
      { op: 'test', path: '/a', value: 0 },
    ],
  ],
])('does not fit (422): %s', (_claim, patch) => {
  expect(failure(doc, patch)).toBe('422 Invalid');
});

test('a failure names the operation by its index, and its path', () => {
  const patch = [
    { op: 'add', path: '/b', value: 1 },
    { op: 'test', path: '/b', value: 0 },
  ];
  expect(() => patchedValues(doc, patch)).toThrow('operation 1 (test "/b")');
});

test.each<[string, unknown]>([
  ['no list', { op: 'add' }],
  ['no JSON', 'text'],
  ['no operation', [1]],
  ['unknown operation', [{ op: 'bogus', path: '/a' }]],
  ['operation of the prototype', [{ op: 'constructor', path: '/a' }]],
  ['no path', [{ op: 'remove' }]],
  ['path without slash', [{ op: 'remove', path: 'a' }]],
  ['broken escape', [{ op: 'remove', path: '/a~2' }]],
  ['no from', [{ op: 'move', path: '/a' }]],
  ['no value', [{ op: 'add', path: '/a' }]],
])('cannot be read (400): %s', (_claim, patch) => {
  expect(failure(doc, patch)).toBe('400 BadRequest');
});

describe('bounds', () => {
  test('more operations than allowed', () => {
    const patch = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: 1 }));
    expect(failure(doc, patch)).toBe('413 RequestEntityTooLarge');
    expect(failure(doc, patch.slice(1))).toBe('applied');
  });
  test('copies that double each time', () => {
    const patch = Array.from({ length: 64 }, (_, index) => ({
      op: 'copy',
      from: '/o',
      path: `/o/c${String(index)}`,
    }));
    expect(failure({ o: { s: 'x'.repeat(100) } }, patch)).toBe('413 RequestEntityTooLarge');
  });
  test('insertions before the elements of a huge list', () => {
    const list = Array.from({ length: 100_000 }, () => 0);
    const at = (path: string): unknown[] =>
      Array.from({ length: 5_000 }, () => ({ op: 'add', path, value: 0 }));
    expect(failure({ list }, at('/list/0'))).toBe('413 RequestEntityTooLarge');
    expect(failure({ list }, at('/list/-'))).toBe('applied');
  });
  test('moves that nest deeper than any stack', () => {
    const patch: unknown[] = [{ op: 'add', path: '/v', value: {} }];
    for (let index = 0; index < 4_000; index += 1) {
      patch.push({ op: 'add', path: '/w', value: {} }, { op: 'move', from: '/v', path: '/w/v' });
      patch.push({ op: 'move', from: '/w', path: '/v' });
      if (patch.length > 9_990) break;
    }
    expect(failure({}, patch)).toBe('400 BadRequest');
    patch.push({ op: 'copy', from: '/v', path: '/u' });
    expect(failure({}, patch)).toBe('400 BadRequest');
  });
});

describe('raw JSON', () => {
  const text = '{"k":{"b":1.0,"a":[ 1e400 , "\\/" ]},"x": {"z":1, "y":2.0},"l":[{"q":0.10}, 7.0]}';
  test.each([
    ['[]', text],
    ['[{"op":"test","path":"/k/a/1","value":"/"},{"op":"test","path":"/k/b","value":1}]', text],
    [
      '[{"op":"add","path":"/n","value":{"b" : 1.0}}]',
      '{"k":{"b":1.0,"a":[ 1e400 , "\\/" ]},"l":[{"q":0.10}, 7.0],"n":{"b" : 1.0},' +
        '"x":{"z":1, "y":2.0}}',
    ],
    [
      '[{"op":"remove","path":"/k/b"},{"op":"replace","path":"/l/1","value":7.00}]',
      '{"k":{"a":[ 1e400 , "\\/" ]},"l":[{"q":0.10},7.00],"x":{"z":1, "y":2.0}}',
    ],
    [
      '[{"op":"move","from":"/x","path":"/k/a/0"},{"op":"copy","from":"/l/0","path":"/l/-"}]',
      '{"k":{"a":[{"z":1, "y":2.0},1e400,"\\/"],"b":1.0},"l":[{"q":0.10},7.0,{"q":0.10}]}',
    ],
  ])('keeps its text beside what %s changes', (patch, expected) => {
    const document = rawData(bytes(text));
    for (let turn = 0; turn < 2; turn += 1) {
      const found = applyJsonPatch(document, parseJsonPatch(bytes(patch), rawData));
      expect(sortedText(found)).toBe(expected);
    }
  });
});

describe('hostile keys are data (seeded)', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'a', ''];
  test('any sequence of operations leaves Object.prototype alone and keeps the keys', () => {
    const before = Object.getOwnPropertyNames(Object.prototype).sort().join();
    let state = 99;
    const pick = (below: number): number => {
      state = (state * 1664525 + 1013904223) % 4294967296;
      return Math.floor((state / 4294967296) * below);
    };
    const pointer = (): string =>
      Array.from({ length: 1 + pick(3) }, () => `/${names[pick(names.length)] ?? ''}`).join('');
    for (let round = 0; round < 2_000; round += 1) {
      const op = ['add', 'remove', 'replace', 'move', 'copy', 'test'][pick(6)];
      const value = `{"${names[pick(names.length)] ?? ''}":{"polluted":1}}`;
      const [path, from] = [pointer(), pointer()];
      const text = `[{"op":"${op ?? ''}","path":"${path}","from":"${from}","value":${value}}]`;
      const document = JSON.parse(
        '{"__proto__":{"constructor":{"x":1}},"constructor":{"prototype":{}},"a":{}}',
      ) as JsonValue;
      if (failure(document, text) === 'applied') patched(document, text);
      expect(({} as JsonObject)['polluted']).toBeUndefined();
    }
    expect(Object.getOwnPropertyNames(Object.prototype).sort().join()).toBe(before);
  });
  test('added and replaced', () => {
    const result = patched(
      {},
      '[{"op":"add","path":"/__proto__","value":{"x":1}},' +
        '{"op":"add","path":"/__proto__/y","value":2}]',
    );
    expect(result).toBe('{"__proto__":{"x":1,"y":2}}');
  });
});
