// The Protobuf codec: bytes as the API's description asks, hostile bodies, and lists and watches of
// ready messages.
import { describe, expect, test } from '@jest/globals';
import { noKindRules } from '../api/testing/no-kind-rules.ts';
import { createScheme } from '../api/scheme.ts';
import type { JsonObject, TypeInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { limits } from '../base/limits.ts';
import { StatusError } from '../base/status.ts';
import type { ApiObject } from './codec.ts';
import { encodeText, jsonCodec } from './json.ts';
import {
  createProtobufCodec,
  envelope,
  hasProtobufForm,
  listEnds,
  listEntry,
  messageOfEntry,
  watchFrame,
} from './protobuf.ts';

const naming = namingProfile('svc');
const scheme = createScheme({ rules: noKindRules, profile: naming });
const codec = createProtobufCodec(naming.protobufMediaType);
const podType = scheme.type('core/v1.Pod');
const configMapType = scheme.type('core/v1.ConfigMap');
const schemaType = scheme.type('apiextensions/v1.JSONSchemaProps');

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const configMap = (message: Uint8Array): Uint8Array =>
  envelope(message, { kind: 'ConfigMap', apiVersion: 'v1' });
const decode = (message: Uint8Array, type: TypeInfo = configMapType): ApiObject =>
  codec.decode(envelope(message, { kind: type.name, apiVersion: 'v1' }), type).object;
const bytesOf = (object: ApiObject, type: TypeInfo): string =>
  Buffer.from(codec.encode(object, type)).toString('hex');
const emptyMeta = '0a10 0a00 1200 1a00 2200 2a00 3200 3800 4200';

function failureOf(work: () => unknown): StatusError {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('bytes', () => {
  test('an empty object has its envelope, and what a type always writes', () => {
    const given = { kind: 'ConfigMap', apiVersion: 'v1' };
    const typeMeta = '0a0f 0a02 7631 1209 436f6e6669674d6170';
    const wanted = hex(`6b387300 ${typeMeta} 1212 ${emptyMeta} 1a00 2200`);
    expect(bytesOf(given, configMapType)).toBe(Buffer.from(wanted).toString('hex'));
  });
  test('map keys are sorted by their bytes, whatever their order in memory', () => {
    const data = { '10': '', '9': '', b: '', a: '', '￿': '', '😀': '' };
    const text = Buffer.from(codec.encode({ data }, configMapType)).toString('latin1');
    const places = ['10', '9', 'a', 'b', '￿', '😀'].map((key) =>
      text.indexOf(
        `\x0a${String.fromCharCode(Buffer.byteLength(key))}${Buffer.from(key).toString('latin1')}` +
          `\x12\x00`,
      ),
    );
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places).not.toContain(-1);
  });
  test.each<[string, string, JsonObject]>([
    ['integers beyond 2^53', 'apps/v1.DeploymentStatus', { observedGeneration: -(2n ** 63n) }],
    ['negative integers', 'core/v1.PodSpec', { priority: -2147483648, containers: null }],
    ['durations', 'meta/v1.Duration', {}],
    ['a time of the year 1', 'core/v1.PodStatus', { startTime: '0001-01-01T00:00:01Z' }],
    ['micro times', 'coordination/v1.LeaseSpec', { renewTime: '2024-01-01T00:00:00.000123Z' }],
    [
      'micro times before 1970',
      'coordination/v1.LeaseSpec',
      { renewTime: '1960-01-01T00:00:00.500000Z' },
    ],
  ])('keeps %s', (_name, id, value) => {
    const type = scheme.type(id);
    if (type.special !== undefined) return;
    const text = encodeText(value, type);
    expect(encodeText(codec.decode(codec.encode(value, type), type).object, type)).toBe(text);
  });
  test.each<[string, JsonObject]>([
    ['a schema for all', { items: { type: 'string' } }],
    ['a list of schemas', { items: [{ type: 'string' }, {}] }],
    ['true', { additionalProperties: true }],
    ['false', { additionalProperties: false }],
    ['a schema of the rest', { additionalProperties: { type: 'integer' } }],
    ['names', { dependencies: { a: ['b', 'c'] } }],
    ['values of any type', { default: [1, { __proto__: null, a: 0.5 }], enum: ['x', 1] }],
    ['recursion', { properties: { a: { properties: { b: { items: { not: {} } } } } } }],
  ])('schemas: %s', (_name, value) => {
    const text = encodeText(value, schemaType);
    const read = codec.decode(codec.encode(value, schemaType), schemaType).object;
    expect(encodeText(read, schemaType)).toBe(text);
  });
});

describe('reading', () => {
  const named = (name: string): Uint8Array => {
    const meta = Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name)]);
    return Buffer.concat([Buffer.from([0x0a, meta.length]), meta]);
  };
  test('kind and apiVersion come from the envelope', () => {
    const { object } = codec.decode(configMap(named('a')), configMapType);
    expect([object.kind, object.apiVersion, object.metadata?.name]).toEqual([
      'ConfigMap',
      'v1',
      'a',
    ]);
  });
  test('the kind of the envelope is checked before its message is read', () => {
    const named: unknown[] = [];
    const refuse = (kind: object): never => {
      named.push(kind);
      throw new StatusError(400, 'BadRequest', 'another kind');
    };
    const unreadable = envelope(hex('0aff'), { kind: 'Secret', apiVersion: 'v1' });
    expect(() => codec.decode(unreadable, configMapType, refuse)).toThrow('another kind');
    expect(named).toEqual([{ kind: 'Secret', apiVersion: 'v1' }]);
  });
  test('unknown fields of every wire type are skipped, groups too', () => {
    const unknown = hex(
      'a006 01  a106 0102030405060708  a206 02 0102  a506 01020304  a306 ab06 08 01 ac06 a406',
    );
    const object = decode(Buffer.concat([unknown, named('a'), unknown]));
    expect(object.metadata?.name).toBe('a');
  });
  test('an empty text or a zero leaves a field unset, also after another value of it', () => {
    // metadata: name "a", then "", generation 7, then 0.
    expect(decode(hex('0a0b 0a01 61 3807 0a00 3800 2a00')).metadata).toEqual(
      decode(hex('0a00')).metadata,
    );
  });
  test('a message that comes in parts is merged; of a scalar the last one counts', () => {
    const first = hex('0a 09 0a 01 61 5a 04 0a 00 12 00');
    const second = hex('0a 03 0a 01 62');
    expect(decode(Buffer.concat([first, second])).metadata).toMatchObject({
      name: 'b',
      labels: { '': '' },
    });
  });
  test('numbers of a list may be packed', () => {
    const type = scheme.type('core/v1.PodSecurityContext');
    const wanted = { supplementalGroups: [1, 2, 300] };
    expect(decode(hex('22 04 01 02 ac02'), type)).toMatchObject(wanted);
    expect(decode(hex('20 01 20 02 20 ac02'), type)).toMatchObject(wanted);
  });
  test('an entry without a value holds the zero value, keys are data', () => {
    const key = Buffer.from('__proto__');
    const entry = Buffer.concat([Buffer.from([0x12, key.length + 2, 0x0a, key.length]), key]);
    const { data } = decode(entry);
    expect(Object.entries(data as JsonObject)).toEqual([['__proto__', '']]);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });
  test('what JSON leaves out is left out', () => {
    const sample: JsonObject = {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'c' }] },
    };
    const text = encodeText(sample, podType);
    const read = codec.decode(codec.encode(sample, podType), podType).object;
    expect(JSON.stringify(read)).toBe(text);
    expect(jsonCodec.decode(Buffer.from(text), podType).object).toEqual(read);
  });
});

describe('refused with 400', () => {
  const deep = (levels: number): Uint8Array => {
    const number = schemaType.fieldByJsonName.get('not')?.number ?? 0;
    let message: Uint8Array = Buffer.alloc(0);
    for (let level = 0; level < levels; level += 1) {
      const { length } = message;
      const key = [(((number << 3) | 2) & 0x7f) | 0x80, number >> 4];
      message = Buffer.concat([
        Buffer.from([...key, (length & 0x7f) | 0x80, length >> 7]),
        message,
      ]);
    }
    return message;
  };
  test.each<[string, Uint8Array]>([
    ['nothing', Buffer.alloc(0)],
    ['another prefix', hex('6b387301 0a00')],
    ['JSON', Buffer.from('{"kind":"ConfigMap"}')],
    ['an envelope that is cut off', hex('6b387300 0aff')],
    ['a compressed content', hex('6b387300 1200 1a04 67 7a 69 70')],
    ['content of another type', hex('6b387300 1200 2204 61 62 63 64')],
    ['a message that is cut off', configMap(hex('0aff'))],
    ['a length beyond the end', configMap(hex('12 ffffffff07 00'))],
    ['a varint without an end', configMap(hex('20 ffffffffffffffffffffff'))],
    ['field number 0', configMap(hex('00 01'))],
    ['a wire type that is none', configMap(hex('a6 06'))],
    ['the end of a group that never began', configMap(hex('a4 06'))],
    ['a group that never ends', configMap(hex('a3 06'))],
    ['a text field with a number', configMap(hex('08 01'))],
    ['text that is not UTF-8', configMap(hex('0a 04 0a 02 ff fe'))],
  ])('%s', (_name, body) => {
    const error = failureOf(() => codec.decode(body, configMapType));
    expect([error.code, error.reason]).toEqual([400, 'BadRequest']);
  });
  test('nesting beyond the limit', () => {
    expect(encodeText(decode(deep(2), schemaType), schemaType)).toBe('{"not":{"not":{}}}');
    const { code, message } = failureOf(() => decode(deep(limits.bodyDepthMax + 1), schemaType));
    expect([code, message]).toEqual([400, 'the body nests deeper than 100 levels']);
  });
  test('groups nested a million times', () => {
    const groups = Buffer.alloc(1_000_000, Buffer.from([0xa3, 0x06]));
    expect(failureOf(() => decode(groups)).code).toBe(400);
  });
  test('JSON inside that is none, a quantity that is none, a time beyond the calendar', () => {
    const raw = hex('0a 03 7b 7b 7b');
    expect(
      failureOf(() =>
        decode(Buffer.concat([hex('12 05'), raw]), scheme.type('apps/v1.ControllerRevision')),
      ).code,
    ).toBe(400);
    const limit = hex('0a 0a 0a 01 61 12 05 0a 03 78 79 7a');
    expect(failureOf(() => decode(limit, scheme.type('core/v1.ResourceRequirements'))).code).toBe(
      400,
    );
    const late = hex('42 0a 08 ffffffffffffffff7f');
    expect(failureOf(() => decode(late, scheme.type('meta/v1.ObjectMeta'))).code).toBe(400);
  });
  test('every truncation of a valid body is read or refused, never another failure', () => {
    const whole = codec.encode(
      {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { name: 'a', labels: { b: 'c' } },
        spec: { containers: [{ name: 'c', resources: { limits: { cpu: '1' } } }] },
      },
      podType,
    );
    for (let length = 0; length < whole.length; length += 1) {
      const cut = whole.subarray(0, length);
      try {
        codec.decode(cut, podType);
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError);
      }
    }
  });
});

describe('lists and watches', () => {
  const listType = scheme.type('core/v1.ConfigMapList');
  const objects = ['a', 'b'].map((name) => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, labels: { long: 'x'.repeat(300) } },
  }));
  test('a list is its ends around the entries', () => {
    const entries = objects.map((object) => listEntry(object, configMapType));
    const bytes = entries.reduce((sum, { length }) => sum + length, 0);
    const metadata = { resourceVersion: '7', continue: 'token', remainingItemCount: 3 };
    const of = { kind: 'ConfigMapList', apiVersion: 'v1' };
    const { open, close } = listEnds(of, metadata, bytes);
    const whole = codec.encode({ ...of, metadata, items: objects }, listType);
    expect(Buffer.concat([open, ...entries, close]).equals(whole)).toBe(true);
  });
  test('the message of an entry is the message of the object', () => {
    for (const object of objects) {
      const message = messageOfEntry(listEntry(object, configMapType));
      expect(Buffer.from(configMap(message)).equals(codec.encode(object, configMapType))).toBe(
        true,
      );
    }
  });
  test('a watch frame is its length and an event that holds the object whole', () => {
    const frame = Buffer.from(watchFrame('ADDED', Buffer.alloc(200, 7)));
    expect(frame.readUInt32BE()).toBe(frame.length - 4);
    expect(frame.subarray(4, 4 + 7 + 6).toString('hex')).toBe(
      '0a054144444544' + '12cb01' + '0ac801',
    );
    expect(frame.length).toBe(4 + 7 + 6 + 200);
  });
  test('tables and types without numbers have no Protobuf form', () => {
    expect(hasProtobufForm(scheme.type('meta/v1.Table'))).toBe(false);
    expect(hasProtobufForm(podType)).toBe(true);
    expect(hasProtobufForm(scheme.type('meta/v1.Status'))).toBe(true);
  });
});
