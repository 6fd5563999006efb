import { describe, expect, test } from '@jest/globals';
import { fieldSetOf, fieldSetText, putFieldSetsBack, setFieldSetsAside } from './field-set-json.ts';
import type { JsonObject, JsonValue } from './type-info.ts';

const entry = (fieldsV1: JsonValue, subresource?: string): JsonObject => ({
  manager: 'a"}},{"manager":"b',
  operation: 'Update',
  fieldsV1,
  ...(subresource === undefined ? {} : { subresource }),
});
const objectOf = (...managedFields: JsonValue[]): JsonObject => ({
  metadata: { annotations: { a: '"fieldsV1":{},{"' }, managedFields },
  spec: { a: [{ b: {} }] },
});
const plain = { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } }, 'f:data': {} };
const listed = { 'f:list': { 'k:{"name":"}}]"}': { '.': {}, 'f:name': {} }, 'v:"},{"': {} } };

describe('field sets of an object', () => {
  test.each<[string, JsonObject, number]>([
    ['of one manager', objectOf(entry(plain)), 1],
    ['of several, one of a subresource', objectOf(entry(plain), entry(plain, 'status')), 2],
    ['that are empty', objectOf(entry({}), entry({}, 'status'), entry(plain)), 3],
    ['beside an entry without one', objectOf({ manager: 'm' }, entry(plain)), 1],
  ])('%s are set aside and put back', (_name, object, count) => {
    const aside = setFieldSetsAside(JSON.stringify(object));
    expect(aside?.sets).toHaveLength(count);
    expect(aside?.text).not.toContain('f:');
    const parsed = JSON.parse(aside?.text ?? '') as { metadata: { managedFields: JsonValue } };
    expect(putFieldSetsBack(parsed.metadata.managedFields, aside?.sets ?? [])).toBe(true);
    expect(parsed).toEqual(object);
  });

  test.each<[string, string]>([
    ['there are none', JSON.stringify({ metadata: { annotations: { a: '"fieldsV1":{}}]' } } })],
    ['they are spelled otherwise', JSON.stringify(objectOf(entry(plain)), undefined, 1)],
    ['their keys hold what ends them', JSON.stringify(objectOf(entry(listed)))],
    ['the text is cut', JSON.stringify(objectOf(entry(plain))).slice(0, -30)],
  ])('stay where they are when %s', (_name, text) => {
    expect(setFieldSetsAside(text)).toBeUndefined();
  });

  test('elsewhere than in the list are not put back', () => {
    const object = { ...objectOf(entry(plain)), template: objectOf(entry(plain)) };
    const aside = setFieldSetsAside(JSON.stringify(object));
    const parsed = JSON.parse(aside?.text ?? '') as { metadata: { managedFields: JsonValue } };
    expect(putFieldSetsBack(parsed.metadata.managedFields, aside?.sets ?? [])).toBe(false);
    expect(putFieldSetsBack(undefined, aside?.sets ?? [])).toBe(false);
  });
});

test('one text has one value, which has that text', () => {
  const text = JSON.stringify(plain);
  expect(fieldSetOf(text)).toBe(fieldSetOf(`${text} `.trim()));
  expect(fieldSetText(fieldSetOf(text))).toBe(text);
  expect(fieldSetText(plain)).toBe(text);
});

test('what is not shared is written as it is now', () => {
  const set: JsonObject = { 'f:a': {} };
  expect(fieldSetText(set)).toBe('{"f:a":{}}');
  set['f:b'] = {};
  expect(fieldSetText(set)).toBe('{"f:a":{},"f:b":{}}');
});
