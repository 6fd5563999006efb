// Every encoding of every form holds what JSON holds: objects, lists, watches, Status, bodies.
import { describe, expect, test } from '@jest/globals';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import type { JsonObject, JsonValue, TypeInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { StatusError, notFound } from '../base/status.ts';
import type { Item, WatchEvent } from '../cacher/resource-view.ts';
import { readCbor } from '../codec/cbor-read.ts';
import type { ApiObject } from '../codec/codec.ts';
import { createEncodings } from '../codec/encodings.ts';
import { jsonCodec, parseData, stringify } from '../codec/json.ts';
import { createProtobufCodec } from '../codec/protobuf.ts';
import { encodeStored, withResourceVersion } from '../codec/stored-form.ts';
import { ObjectGenerator } from '../codec/testing/object-generator.ts';
import { widgetResource } from '../codec/testing/sample-types.ts';
import { readYaml } from '../codec/yaml-reader.ts';
import { objectItem } from '../registry/converted-item.ts';
import type { ListAnswer } from '../registry/requests.ts';
import type { Pieces } from './pieces.ts';
import type { HttpRequest } from './request-context.ts';
import { createSerializers } from './serializers.ts';

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const encodings = createEncodings(naming, { cbor: true });
const serializers = createSerializers({ scheme, encodings });
const protobufCodec = createProtobufCodec(naming.protobufMediaType);
const configMaps = scheme.resource({ group: '', version: 'v1', resource: 'configmaps' });
if (configMaps === undefined) throw new Error('config maps are served');
const meta = 'v=v1;g=meta.svc.io';

const request = (headers: Record<string, string>, query = ''): HttpRequest =>
  ({ headers, context: { info: { query: new URLSearchParams(query) } } }) as unknown as HttpRequest;
const objects: ApiObject[] = ['a', 'b'].map((name) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, resourceVersion: '7', labels: { l: 'ü' } },
  data: { key: 'value', [name]: 'yes' },
  binaryData: { bytes: 'AQI=' },
}));
const items: Item[] = objects.map((object) => objectItem(object, configMaps, 7));
const answer: ListAnswer = {
  items,
  revision: 9,
  continueToken: 'token',
  remainingItemCount: 4,
};
const bytesOf = async (made: Promise<Pieces>): Promise<Buffer> => {
  const pieces = await made;
  const bytes = Buffer.concat([...pieces]);
  expect(pieces.totalBytes).toBe(bytes.length);
  return bytes;
};

/** What a body holds, in the form that JSON has. */
function dataOf(body: Uint8Array, mediaType: string, type: TypeInfo): JsonValue {
  switch (mediaType) {
    case 'application/json':
      return parseData(body);
    case 'application/yaml':
      return readYaml(Buffer.from(body).toString()).value;
    case 'application/cbor':
      return readCbor(body).value;
    default:
      return protobufCodec.decode(body, type).object;
  }
}
const text = (value: JsonValue): string => stringify(sorted(value));
function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]));
}

const listType = scheme.type('core/v1.ConfigMapList');
const statusType = scheme.type('meta/v1.Status');
const partialType = scheme.type('meta/v1.PartialObjectMetadata');
const partialListType = scheme.type('meta/v1.PartialObjectMetadataList');
const mediaTypes = encodings.map(({ mediaType }) => mediaType);

test('what was just written is encoded as what its bytes hold (seeded)', () => {
  for (const [index, resource] of scheme.storedResources.entries()) {
    const { type } = resource;
    const offered = encodings.filter((one) => one.holds(type));
    for (let round = 0; round < 2; round += 1) {
      const object = new ObjectGenerator(index * 2 + round).message(type, 0) as ApiObject;
      const metadata = { ...object.metadata, name: 'a', resourceVersion: '3' };
      const encoded = encodeStored({ ...object, metadata }, resource);
      const sent = jsonCodec.decode(withResourceVersion(encoded, 77), type).object;
      const [item, decoded] = [objectItem(sent, resource, 77), objectItem(sent, resource, 77)];
      for (const { mediaType } of offered) {
        const serializer = serializers.of(request({ accept: mediaType }), resource, 'object');
        const own = serializer.object(item, { item, canonical: encoded.canonical });
        expect([type.id, mediaType, Buffer.compare(own, serializer.object(decoded))]).toEqual([
          type.id,
          mediaType,
          0,
        ]);
      }
    }
  }
});

describe.each(mediaTypes)('%s', (mediaType) => {
  const of = (accept: string, shape: 'object' | 'list'): ReturnType<typeof serializers.of> =>
    serializers.of(request({ accept }), configMaps, shape);
  const same = (body: Uint8Array, type: TypeInfo, json: Uint8Array): void => {
    expect(text(dataOf(body, mediaType, type))).toBe(text(dataOf(json, 'application/json', type)));
  };
  test('an object', () => {
    const serializer = of(mediaType, 'object');
    expect(serializer.contentType).toBe(mediaType);
    for (const item of items) same(serializer.object(item), configMaps.type, item.json());
  });
  test('a list', async () => {
    const json = await bytesOf(of('application/json', 'list').list(answer));
    same(await bytesOf(of(mediaType, 'list').list(answer)), listType, json);
  });
  test('an empty list', async () => {
    const empty: ListAnswer = {
      items: [],
      revision: 9,
      continueToken: '',
      remainingItemCount: undefined,
    };
    const data = dataOf(await bytesOf(of(mediaType, 'list').list(empty)), mediaType, listType);
    const { items: none, metadata } = data as JsonObject;
    expect([none ?? [], metadata]).toEqual([[], { resourceVersion: '9' }]);
  });
  test('metadata alone, of an object and of a list', async () => {
    const accept = `${mediaType};as=PartialObjectMetadata;${meta}`;
    const [item] = items;
    if (item === undefined) throw new Error('there are items');
    const metadata = objects[0]?.metadata;
    const partial = dataOf(of(accept, 'object').object(item), mediaType, partialType);
    expect(partial).toMatchObject({ kind: 'PartialObjectMetadata', metadata });
    const list = of(`${mediaType};as=PartialObjectMetadataList;${meta}`, 'list').list(answer);
    const data = dataOf(await bytesOf(list), mediaType, partialListType) as { items: JsonObject[] };
    expect(data.items.map((one) => one['metadata'])).toEqual(objects.map((one) => one.metadata));
  });
  test('a failure', () => {
    const error = notFound({ group: '', resource: 'configmaps' }, 'a');
    const { contentType, body } = serializers.ofStatus(error, request({ accept: mediaType }));
    expect(contentType).toBe(mediaType);
    const status = dataOf(body, mediaType, statusType);
    expect(status).toMatchObject({ kind: 'Status', code: 404, reason: 'NotFound' });
  });
  test('a success without an object', () => {
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' } as const;
    const data = dataOf(of(mediaType, 'object').status(status), mediaType, statusType);
    expect(data).toMatchObject({ kind: 'Status', status: 'Success' });
  });
  test('a body is read', () => {
    const body = of(mediaType, 'object').object(items[0] as Item);
    const { object } = serializers.decode(
      request({ 'content-type': mediaType }),
      body,
      configMaps.type,
    );
    expect(text(object as JsonValue)).toBe(text(objects[0] as JsonValue));
  });
});

describe('Table', () => {
  const accept = (mediaType: string): string => `${mediaType};as=Table;${meta}`;
  test.each(['application/json', 'application/yaml', 'application/cbor'])(
    'in %s',
    async (mediaType) => {
      const list = serializers.of(request({ accept: accept(mediaType) }), configMaps, 'list');
      const data = dataOf(await bytesOf(list.list(answer)), mediaType, listType) as JsonObject;
      const rows = data['rows'] as { cells: JsonValue[] }[];
      expect([data['kind'], rows.map(({ cells }) => cells[0])]).toEqual(['Table', ['a', 'b']]);
    },
  );
  test('Protobuf has none', () => {
    const { protobufMediaType } = naming;
    const asked = request({ accept: accept(protobufMediaType) });
    expect(() => serializers.of(asked, configMaps, 'list')).toThrow(StatusError);
  });
});

describe('a watch', () => {
  const event = (item: Item): WatchEvent => ({
    type: 'ADDED',
    revision: 7,
    item,
    memo: (_variant, make) => make(event(item)),
  });
  test.each([
    ['application/json', 'application/json'],
    [naming.protobufMediaType, `${naming.protobufMediaType};stream=watch`],
    ['application/cbor', 'application/cbor-seq'],
  ])('in %s is %s', (accept, contentType) => {
    const watch = serializers.ofWatch(request({ accept }), configMaps);
    expect(watch.contentType).toBe(contentType);
    const frames = items.map((item) => Buffer.from(watch.frame(event(item))));
    const names = frames.map((frame) => frame.includes('key') && frame.includes('ADDED'));
    expect(names).toEqual([true, true]);
    expect(Buffer.from(watch.bookmark(8)).includes('BOOKMARK')).toBe(true);
    const failure = notFound({ group: '', resource: 'configmaps' }, 'gone');
    expect(Buffer.from(watch.error(failure)).includes('NotFound')).toBe(true);
  });
  test('Protobuf messages of a WebSocket have no length before them', () => {
    const watch = serializers.ofWatch(request({ accept: naming.protobufMediaType }), configMaps);
    const frame = Buffer.from(watch.frame(event(items[0] as Item)));
    expect(frame.readUInt32BE()).toBe(watch.message(frame).length);
  });
  test('has each event on a line of its own, whatever the client accepts', () => {
    const watch = serializers.ofWatch(request({ accept: 'application/json;pretty=1' }), configMaps);
    const frame = Buffer.from(watch.frame(event(items[0] as Item))).toString();
    expect(frame.indexOf('\n')).toBe(frame.length - 1);
  });
  test('cannot be had in YAML', () => {
    const asked = request({ accept: 'application/yaml' });
    expect(() => serializers.ofWatch(asked, configMaps)).toThrow('media types are accepted');
  });
});

describe('types without a Protobuf form', () => {
  const custom = widgetOfUser();
  const { protobufMediaType } = naming;
  test('are answered in the next type, or not at all', () => {
    const both = request({ accept: `${protobufMediaType}, application/json` });
    expect(serializers.of(both, custom, 'object').contentType).toBe('application/json');
    const one = request({ accept: protobufMediaType });
    expect(() => serializers.of(one, custom, 'object')).toThrow('media types are accepted');
  });
  test('take no Protobuf bodies', () => {
    const sent = request({ 'content-type': protobufMediaType });
    const body = Buffer.alloc(0);
    expect(() => serializers.decode(sent, body, custom.type)).toThrow('unknown format');
  });
});

/** As resources of users are: fields without numbers. */
function widgetOfUser(): typeof widgetResource {
  const fields = widgetResource.type.fields.map((field) => ({ ...field, number: 0 }));
  return { ...widgetResource, type: { ...widgetResource.type, fields } };
}

test('without the gate CBOR is neither offered nor taken', () => {
  const without = createSerializers({ scheme, encodings: createEncodings(naming) });
  const asked = request({ accept: 'application/cbor', 'content-type': 'application/cbor' });
  expect(() => without.of(asked, configMaps, 'object')).toThrow('media types are accepted');
  expect(() => without.decode(asked, Buffer.from([0xa0]), configMaps.type)).toThrow('unknown');
});

test.each([0, 1, 2])('a list of %d objects for people is JSON with line breaks', async (count) => {
  const asked = request({ accept: 'application/json' }, 'pretty=true');
  const some = { ...answer, items: items.slice(0, count) };
  const plain = serializers.of(request({ accept: 'application/json' }), configMaps, 'list');
  const text = (await bytesOf(serializers.of(asked, configMaps, 'list').list(some))).toString();
  const whole = JSON.parse((await bytesOf(plain.list(some))).toString()) as unknown;
  expect(text).toBe(`${JSON.stringify(whole, null, 2)}\n`);
});

test('Status is for people, too, where that is asked for', () => {
  const failure = notFound({ group: '', resource: 'configmaps' }, 'a');
  const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' } as const;
  for (const asked of [
    request({ accept: 'application/json' }, 'pretty=true'),
    request({ accept: 'application/json;pretty=1' }),
  ]) {
    const { body } = serializers.ofStatus(failure, asked);
    for (const [bytes, status] of [
      [body, failure.toBody()],
      [serializers.of(asked, configMaps, 'object').status(success), success],
    ] as const) {
      expect(Buffer.from(bytes).toString()).toBe(`${JSON.stringify(status, null, 2)}\n`);
    }
  }
});

test('what the query asks for holds for its own request alone', () => {
  const [item] = items;
  if (item === undefined) throw new Error('there are items');
  const accept = `application/json;as=Table;${meta}`;
  const bytes = (query: string): string =>
    Buffer.from(
      serializers.of(request({ accept }, query), configMaps, 'object').object(item),
    ).toString();
  const usual = bytes('');
  expect(bytes('includeObject=None')).not.toBe(usual);
  expect(bytes('noHeaders=true')).not.toBe(usual);
  expect(bytes('pretty=true')).not.toBe(usual);
  expect(bytes('resourceVersion=0')).toBe(usual);
});

test('of many different Accept headers each gets what it asks for', () => {
  for (let index = 0; index < 200; index++) {
    const padding = `application/x-${'p'.repeat(index * 2)}`;
    const of = (accept: string): string =>
      serializers.of(request({ accept: `${padding},${accept}` }), configMaps, 'object').contentType;
    expect(of('application/yaml')).toBe('application/yaml');
    expect(of('application/cbor')).toBe('application/cbor');
  }
});
