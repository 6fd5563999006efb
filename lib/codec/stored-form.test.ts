import { describe, expect, test } from '@jest/globals';
import { comparedText } from '../api/selectable-fields.ts';
import type { JsonObject, TypeInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { StatusError } from '../base/status.ts';
import type { ApiObject } from './codec.ts';
import { encodeText } from './json.ts';
import { encodeStored, openStored, schemaGeneration, withResourceVersion } from './stored-form.ts';
import type { OpenedStored } from './stored-form.ts';
import { createStoredMedia } from './stored-media.ts';
import type { StoredTypeMeta } from './stored-media.ts';
import { field, message, schemaType, widgetResource, widgetType } from './testing/sample-types.ts';

const schema = schemaGeneration(widgetResource);
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
/** What lies between the offsets that the header gives for labels. */
const labelsIn = ({ header, payload }: OpenedStored): Record<string, unknown> => {
  const [start, end] = header.labels ?? [0, 0];
  const json = text(payload.subarray(start, end));
  return json === '' ? {} : (JSON.parse(json) as Record<string, unknown>);
};
function opened(object: ApiObject): OpenedStored {
  const result = openStored(encodeStored(object, widgetResource).value);
  if (result === undefined) throw new Error('what was encoded opens');
  return result;
}
const widget = (metadata: JsonObject, spec: JsonObject = {}): ApiObject => ({
  kind: 'Widget',
  apiVersion: 'example.com/v1',
  metadata,
  spec,
});

describe('a stored object', () => {
  test.each<[string, JsonObject]>([
    [
      'with every kind of member',
      {
        name: 'a',
        namespace: 'n',
        uid: 'u',
        generation: 2,
        creationTimestamp: '2024-01-01T00:00:00Z',
        labels: { b: '1', a: '2' },
        finalizers: ['f'],
      },
    ],
    ['without labels', { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z' }],
    ['whose metadata ends before the version', { name: 'a', uid: 'u' }],
    [
      'with text beyond ASCII before and in the labels',
      { name: 'ä😀', labels: { é: 'ü' }, annotations: { x: '漢' } },
    ],
    ['with quotes and braces in its text', { name: 'a"}{,', labels: { '"labels":{': '\\"' } }],
  ])('%s opens and shows any version', (_claim, metadata) => {
    const object = widget({ ...metadata, resourceVersion: '999' }, { nodeName: 'n1' });
    const stored = opened(object);
    expect(text(stored.payload)).not.toContain('999');
    for (const revision of [1, 9_007_199_254_740_991]) {
      const sent = text(withResourceVersion(stored, revision));
      const wanted = widget({ ...metadata, resourceVersion: String(revision) }, { nodeName: 'n1' });
      const asObject = JSON.parse(sent) as ApiObject;
      expect(encodeText(asObject, widgetType)).toBe(encodeText(wanted, widgetType));
      expect(`{${text(withResourceVersion(stored, revision).subarray(stored.header.bodyAt))}`).toBe(
        sent.replace('"kind":"Widget","apiVersion":"example.com/v1",', ''),
      );
    }
    expect(labelsIn(stored)).toEqual(metadata['labels'] ?? {});
  });

  test('keeps schema order where metadata has a later member', () => {
    const stored = opened(
      widget({ name: 'a', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' }),
    );
    const metadata =
      '{"name":"a","uid":"u","resourceVersion":"7","creationTimestamp":"2024-01-01T00:00:00Z"}';
    const start = `{"kind":"Widget","apiVersion":"example.com/v1","metadata":${metadata},"spec":`;
    expect(text(withResourceVersion(stored, 7)).startsWith(start)).toBe(true);
  });

  test('names its kind and version when the object does not', () => {
    const stored = opened({ metadata: { name: 'a' } });
    expect(text(stored.payload)).toMatch(
      /^\{"kind":"Widget","apiVersion":"example.com\/v1","metadata":/,
    );
  });

  test('its header holds the generation and the selectable fields that are set', () => {
    expect(opened(widget({ name: 'a', namespace: 'n' }, { nodeName: 'n1' })).header).toMatchObject({
      media: 'json',
      schema,
      fields: { 'spec.nodeName': 'n1' },
    });
    expect(opened(widget({ name: 'a' })).header.fields).toBeUndefined();
  });

  test('its header stays short, however long selectable values are', () => {
    const nodeName = '漢'.repeat(70_000);
    const value = encodeStored(widget({ name: 'a' }, { nodeName }), widgetResource).value;
    expect(value.indexOf(0x0a)).toBeLessThan(300);
    const stored = openStored(value);
    expect(stored?.header.fields).toEqual({ 'spec.nodeName': comparedText(nodeName) });
    expect(JSON.parse(text(stored?.payload ?? new Uint8Array()))).toMatchObject({
      spec: { nodeName },
    });
  });

  test('with a long header, as earlier releases wrote it, opens', () => {
    const nodeName = 'n'.repeat(70_000);
    const value = encodeStored(widget({ name: 'a' }, { nodeName }), widgetResource).value;
    const end = value.indexOf(0x0a);
    const header = JSON.parse(text(value.subarray(0, end))) as JsonObject;
    const fields = { 'spec.nodeName': nodeName };
    const long = `${JSON.stringify({ ...header, fields })}${text(value.subarray(end))}`;
    expect(openStored(Buffer.from(long))).toEqual(openStored(value));
  });

  test('is opened before it is given out', () => {
    const metadata = message('OddMeta', [field('name', 'string'), field('labels', 'string')]);
    const type = message('Odd', [field('metadata', metadata)]);
    const object = { metadata: { name: 'a', labels: 'no map' } } as unknown as ApiObject;
    const encode = (): Uint8Array => encodeStored(object, { ...widgetResource, type }).value;
    expect(encode).toThrow('can be opened');
  });

  test('labels are data whatever their keys', () => {
    const labels = Object.create(null) as Record<string, string>;
    labels['__proto__'] = 'x';
    expect(Object.keys(labelsIn(opened(widget({ name: 'a', labels }))))).toEqual(['__proto__']);
  });
});

describe('values that are not ours', () => {
  const good = encodeStored(widget({ name: 'a', labels: { l: 'm' } }), widgetResource).value;
  const headerOf = (change: (header: JsonObject) => void): Uint8Array => {
    const [line = '', payload = ''] = text(good).split('\n');
    const header = JSON.parse(line) as JsonObject;
    change(header);
    return Buffer.from(`${JSON.stringify(header)}\n${payload}`);
  };
  test('the header of this test opens unchanged', () => {
    expect(openStored(headerOf(() => undefined))).toBeDefined();
  });
  test.each<[string, Uint8Array]>([
    ['empty', Buffer.alloc(0)],
    ['Protobuf', Buffer.from([0x6b, 0x38, 0x73, 0, 1, 2])],
    ['plain JSON', Buffer.from('{"kind":"Widget"}')],
    ['plain JSON of several lines', Buffer.from('{\n"kind":"Widget"\n}')],
    ['header without payload', Buffer.from(text(good).split('\n')[0] ?? '')],
    ['cut payload', good.subarray(0, good.length - 1)],
    ['cut header', good.subarray(10)],
    ['version outside', headerOf((header) => (header['versionAt'] = 1e6))],
    ['version negative', headerOf((header) => (header['versionAt'] = -1))],
    [
      'version in the middle of a name',
      headerOf((header) => (header['versionAt'] = Number(header['versionAt']) + 1)),
    ],
    ['version not a number', headerOf((header) => (header['versionAt'] = '5'))],
    ['version missing', headerOf((header) => delete header['versionAt'])],
    [
      'body after the version',
      headerOf((header) => (header['bodyAt'] = Number(header['versionAt']) + 3)),
    ],
    ['labels outside', headerOf((header) => (header['labels'] = [1, 1e6]))],
    ['labels elsewhere', headerOf((header) => (header['labels'] = [2, 9]))],
    ['labels no range', headerOf((header) => (header['labels'] = 'x'))],
    ['fields no texts', headerOf((header) => (header['fields'] = { a: 1 }))],
    ['schema no text', headerOf((header) => (header['schema'] = 1))],
  ])('%s', (_claim, value) => {
    expect(openStored(value)).toBeUndefined();
  });
  test('any single changed byte either fails to open or still opens into bounds (seeded)', () => {
    let state = 7;
    for (let round = 0; round < 3_000; round += 1) {
      state = (state * 1664525 + 1013904223) % 4294967296;
      const copy = Buffer.from(good);
      copy[state % copy.length] = (state >>> 8) % 256;
      const result = openStored(copy);
      if (result === undefined) continue;
      expect(withResourceVersion(result, 5).length).toBe(
        result.payload.length + '"resourceVersion":"5",'.length,
      );
    }
  });
});

describe('foreign forms', () => {
  const media = createStoredMedia('json', namingProfile('svc'));
  const named: StoredTypeMeta[] = [];
  const typeOf = (of: StoredTypeMeta): TypeInfo => {
    named.push({ kind: of.kind, apiVersion: of.apiVersion });
    return widgetType;
  };

  test('plain JSON is read, unknown fields are dropped', () => {
    const text = '{"metadata":{"name":"a","odd":1},"apiVersion":"v0","kind":"Widget"}\n';
    expect(media.read(Buffer.from(text), typeOf).metadata).toEqual({ name: 'a' });
    expect(named.at(-1)).toEqual({ kind: 'Widget', apiVersion: 'v0' });
  });
  test.each([
    '',
    '{',
    '[]',
    'k8s\0\x0a\xff',
    '\xd9\xd9\xf7',
    '{"metadata":{"name":5}}',
    '{"a":1}{',
  ])('%j is corrupted', (value) => {
    expect(() => media.read(Buffer.from(value, 'latin1'), typeOf)).toThrow(StatusError);
  });
  test('a payload of another generation is read the same way', () => {
    const stored = opened(widget({ name: 'a' }, { nodeName: 'n' }));
    expect(media.read(stored.payload, typeOf).metadata).toEqual({ name: 'a' });
    const value = encodeStored(widget({ name: 'b' }, {}), widgetResource).value;
    expect(media.read(value, typeOf).metadata).toEqual({ name: 'b' });
  });
});

describe('schema generation', () => {
  const one = (options: Parameters<typeof field>[2]): string => {
    const type = message('T', [field('x', message('Inner', [field('a', 'string', options)]))]);
    return schemaGeneration({ ...widgetResource, type });
  };
  test('is the same for the same types', () => {
    expect(schemaGeneration({ ...widgetResource })).toBe(schema);
    expect(one({})).toBe(one({}));
  });
  test('covers types that hold themselves', () => {
    expect(schemaGeneration({ ...widgetResource, type: schemaType })).toHaveLength(12);
  });
  test.each<[string, Parameters<typeof field>[2]]>([
    ['name', { jsonName: 'b' }],
    ['omit rule', { omit: 'never' }],
    ['zero', { zero: '' }],
    ['default', { options: { defaultValue: 'x' } }],
    ['cardinality', { cardinality: 'list' }],
  ])('changes with the %s of a field below', (_claim, options) => {
    expect(one(options)).not.toBe(one({}));
  });
  test('changes with the selectable fields', () => {
    expect(schemaGeneration({ ...widgetResource, fieldSelectors: [] })).not.toBe(schema);
    const defaultsVersion = 'a/v1.B:2';
    expect(schemaGeneration({ ...widgetResource, defaultsVersion })).not.toBe(schema);
  });
});
