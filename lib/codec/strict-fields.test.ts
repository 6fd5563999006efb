import { describe, expect, test } from '@jest/globals';
import { StrictFields } from './strict-fields.ts';

const wanted = { kind: 'Example', apiVersions: ['e/v1', 'e/v1beta1'] };

function readExample(text: string) {
  const root = StrictFields.read(text, wanted);
  const example = {
    name: root.text('name'),
    note: root.optionalText('note'),
    isOn: root.flag('isOn'),
    keys: root.objects('parts').map((part) => part.text('key')),
    texts: root.texts('texts'),
    inner: root.objectOrEmpty('inner').text('key'),
    record: root.record('record'),
  };
  root.finish();
  return example;
}
const read = (lines: string) => readExample(`kind: Example\napiVersion: e/v1\n${lines}`);

describe('a document of a configuration file', () => {
  test.each([
    ['name: a\nisOn: true\nparts: [{key: b}]', { name: 'a', isOn: true, keys: ['b'] }],
    ['texts: [c]\ninner: {key: d}\nrecord: {e: 1}', { texts: ['c'], inner: 'd', record: {} }],
    ['name: null\nparts:', { name: '', keys: [] }],
    ['note: ""', { note: '' }],
    ['', { name: '', note: undefined, isOn: undefined, inner: '', record: undefined }],
  ])('%j is read', (lines, expected) => {
    expect(read(lines)).toMatchObject(expected);
  });

  test('JSON is YAML', () => {
    const text = '{"kind":"Example","apiVersion":"e/v1beta1","name":"a"}';
    expect(readExample(text)).toMatchObject({ name: 'a' });
  });

  test.each([
    ['nane: a', 'strict decoding error: unknown field "nane"'],
    ['parts: [{key: a, more: b}]', 'unknown field "parts[0].more"'],
    ['inner: {more: b}', 'unknown field "inner.more"'],
    ['__proto__: {}', 'unknown field "__proto__"'],
    ['name: a\nname: b', 'strict decoding error: duplicate field "name"'],
    ['record: {a: 1, a: 2}', 'duplicate field "record.a"'],
    ['name: 1', 'name: must be a text'],
    ['isOn: "true"', 'isOn: must be true or false'],
    ['parts: {}', 'parts: must be a list'],
    ['parts: [a]', 'parts[0]: must be an object'],
    ['record: [a]', 'record: must be an object'],
    ['texts: [a, 1]', 'texts[1]: must be a text'],
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
    expect(() => readExample(text)).toThrow(problem);
  });
});
