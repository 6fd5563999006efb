import { describe, expect, test } from '@jest/globals';
import { readStrictDocument } from './strict-document.ts';

const wanted = {
  kind: 'Example',
  apiVersions: ['e/v1', 'e/v1beta1'],
  fields: {
    name: 'text',
    isOn: 'flag',
    parts: { listOf: { fields: { key: 'text' } } },
    texts: { listOf: 'text' },
  },
} as const;
const read = (lines: string) =>
  readStrictDocument(`kind: Example\napiVersion: e/v1\n${lines}`, wanted);

describe('a document of a configuration file', () => {
  test.each([
    ['name: a\nisOn: true\nparts: [{key: b}]\ntexts: [c]', { name: 'a', parts: [{ key: 'b' }] }],
    ['name: null\nparts:', { name: null, parts: null }],
    ['', { kind: 'Example' }],
  ])('%j is read', (lines, expected) => {
    expect(read(lines)).toMatchObject(expected);
  });

  test('JSON is YAML', () => {
    expect(readStrictDocument('{"kind":"Example","apiVersion":"e/v1beta1"}', wanted)).toEqual({
      kind: 'Example',
      apiVersion: 'e/v1beta1',
    });
  });

  test.each([
    ['nane: a', 'strict decoding error: unknown field "nane"'],
    ['parts: [{key: a, more: b}]', 'unknown field "parts[0].more"'],
    ['__proto__: {}', 'unknown field "__proto__"'],
    ['name: a\nname: b', 'duplicate field "name"'],
    ['name: 1', 'name: must be a string'],
    ['isOn: "true"', 'isOn: must be a boolean'],
    ['parts: {}', 'parts: must be a list'],
    ['parts: [a]', 'parts[0]: must be an object'],
    ['texts: [a, 1]', 'texts[1]: must be a string'],
    ['x: 1\nz: 2', 'unknown field "x", unknown field "z"'],
    ['name: [', 'not valid YAML'],
  ])('%j is refused', (lines, problem) => {
    expect(() => read(lines)).toThrow(problem);
  });

  test.each([
    ['', 'the file is empty'],
    ['- a', 'must hold an object'],
    ['kind: Other\napiVersion: e/v1', 'must be of kind Example in version e/v1 or e/v1beta1'],
    ['kind: Example\napiVersion: e/v2', 'in version "e/v2"'],
    ['kind: Example', 'in version ""'],
  ])('the whole text %j is refused', (text, problem) => {
    expect(() => readStrictDocument(text, wanted)).toThrow(problem);
  });
});
