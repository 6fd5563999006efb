import { describe, expect, test } from '@jest/globals';
import { noKindRules } from '../api/testing/no-kind-rules.ts';
import { createScheme } from '../api/scheme.ts';
import type { JsonValue } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { limits } from '../base/limits.ts';
import { StatusError } from '../base/status.ts';
import { readCbor } from './cbor-read.ts';
import {
  cborCodec,
  cborDocument,
  cborElement,
  cborEvent,
  cborListEnds,
  namedCborElement,
} from './cbor.ts';
import { encodeText, stringify } from './json.ts';
import { canonicalObject } from './normalise.ts';
import { widgetType } from './testing/sample-types.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const read = (text: string): string => stringify(readCbor(hex(text)).value);
function failure(body: Uint8Array): string {
  try {
    readCbor(body);
  } catch (error) {
    if (error instanceof StatusError) return `${String(error.code)} ${error.message}`;
    throw error;
  }
  return 'read';
}

describe('reading', () => {
  test.each([
    ['00', '0'],
    ['17', '23'],
    ['1818', '24'],
    ['1903e8', '1000'],
    ['1a000f4240', '1000000'],
    ['1b000000e8d4a51000', '1000000000000'],
    ['1b0020000000000001', '9007199254740993'],
    ['1bffffffffffffffff', '18446744073709551615'],
    ['20', '-1'],
    ['3863', '-100'],
    ['3b7fffffffffffffff', '-9223372036854775808'],
    ['3b001fffffffffffff', '-9007199254740992'],
    ['f90000', '0'],
    ['f93c00', '1'],
    ['f93e00', '1.5'],
    ['f97bff', '65504'],
    ['f90001', '5.960464477539063e-8'],
    ['f9c400', '-4'],
    ['fa47c35000', '100000'],
    ['fb3ff199999999999a', '1.1'],
    ['f4', 'false'],
    ['f5', 'true'],
    ['f6', 'null'],
    ['f7', 'null'],
    ['60', '""'],
    ['6161', '"a"'],
    ['62c3bc', '"ü"'],
    ['4161', '"a"'],
    ['80', '[]'],
    ['83010203', '[1,2,3]'],
    ['8301820203820405', '[1,[2,3],[4,5]]'],
    ['a0', '{}'],
    ['a26161016162820203', '{"a":1,"b":[2,3]}'],
    ['a141610a', '{"a":10}'],
    ['9fff', '[]'],
    ['9f018202039f0405ffff', '[1,[2,3],[4,5]]'],
    ['bf61610161629f0203ffff', '{"a":1,"b":[2,3]}'],
    ['7f657374726561646d696e67ff', '"streaming"'],
    ['5f41614162ff', '"ab"'],
    ['d9d9f7a0', '{}'],
    ['81d9d9f700', '[0]'],
    ['d6420102', '"AQI="'],
    ['d542fbff', '"-_8"'],
    ['d74201ab', '"01AB"'],
    ['c074323031332d30332d32315432303a30343a30305a', '"2013-03-21T20:04:00Z"'],
    ['c11a514b67b0', '"2013-03-21T20:04:00.000Z"'],
    ['d82076687474703a2f2f7777772e6578616d706c652e636f6d', '"http://www.example.com"'],
    ['a1495f5f70726f746f5f5f01', '{"__proto__":1}'],
  ])('%s is %s', (bytes, expected) => {
    expect(read(bytes)).toBe(expected);
  });
  test('of a key that comes twice the last value counts, and it is reported', () => {
    const { value, duplicates } = readCbor(hex('a1 6161 a2 6162 01 4162 02'));
    expect([value, duplicates]).toEqual([{ a: { b: 2 } }, [{ kind: 'duplicate', path: 'a.b' }]]);
  });
  test('unknown members are reported, and wrong types name their field', () => {
    const { problems } = cborCodec.decode(hex('a1 6161 01'), widgetType);
    expect(problems).toEqual([{ kind: 'unknown', path: 'a' }]);
    expect(() => cborCodec.decode(hex('a1 68 6d65746164617461 01'), widgetType)).toThrow(
      'metadata must be an object',
    );
  });
});

describe('refused', () => {
  const nested = (open: string, levels: number): Buffer => hex(open.repeat(levels));
  test.each<[string, Uint8Array, string]>([
    ['nothing', Buffer.alloc(0), '400 the body is empty'],
    [
      'an item that is cut off',
      hex('a16161'),
      '400 the body is not valid CBOR: byte 3 at a: it ends',
    ],
    ['more than one item', hex('0000'), 'more bytes follow'],
    ['a length beyond the end', hex('5affffffff00'), 'beyond the end'],
    ['a list longer than the body', hex('9affffffff00'), 'beyond the end'],
    ['a length of 64 bits', hex('bbffffffffffffffff'), 'beyond the end'],
    ['a number as a key', hex('a10101'), 'a key that is no text'],
    ['text that is not UTF-8', hex('61ff'), 'not valid UTF-8'],
    ['chunks of another type', hex('7f4161ff'), 'made of something else'],
    ['a break without a beginning', hex('ff'), 'simple value'],
    ['a simple value', hex('f0'), 'simple value'],
    ['NaN', hex('f97e00'), 'not finite'],
    ['infinity', hex('fb7ff0000000000000'), 'not finite'],
    ['a big number', hex('c249010000000000000000'), 'beyond 64 bits'],
    ['a reserved head', hex('1c'), 'reserved'],
    ['bytes that are no bytes', hex('d601'), 'a tag for bytes'],
    ['a time that is none', hex('c1fb7e37e43c8800759c'), 'outside the years'],
    ['lists in lists', nested('81', 200_000), 'nests deeper'],
    ['open lists in lists', nested('9f', 200_000), 'nests deeper'],
    ['tags on tags', nested('c6', 200_000), 'nests deeper'],
    ['too many values', Buffer.concat([hex('9f'), Buffer.alloc(600_000, 0xa0)]), '413 '],
  ])('%s', (_name, body, message) => {
    expect(failure(body)).toMatch(/^4(00|13) /);
    expect(failure(body)).toContain(message);
  });
  test('what is read stays within 64 bits where a field says so', () => {
    const body = hex('a1 6473706563 a1 65 636f756e74 1bffffffffffffffff');
    expect(() => cborCodec.decode(body, widgetType)).toThrow('an integer of 64 bits');
  });
});

describe('writing', () => {
  const widget = { kind: 'Widget', apiVersion: 'v1', metadata: { name: 'a' } };
  test('starts with the tag of CBOR; text is byte strings, bytes are tagged', () => {
    const bytes = cborCodec.encode({ ...widget, spec: { token: 'AQI=' } }, widgetType);
    const text = Buffer.from(bytes).toString('hex');
    expect(text).toContain('d9d9f7a5446b696e6446576964676574'.replace('d9d9f7', ''));
    expect(text.startsWith('d9d9f7a5')).toBe(true);
    expect(text).toContain(`${Buffer.from('token').toString('hex')}d6420102`);
  });
  test.each<[JsonValue, string]>([
    [0, '00'],
    [-1, '20'],
    [65536, '1a00010000'],
    [2 ** 40, '1b0000010000000000'],
    [9223372036854775807n, '1b7fffffffffffffff'],
    [-9223372036854775808n, '3b7fffffffffffffff'],
    [1.5, 'fa3fc00000'],
    [1.1, 'fb3ff199999999999a'],
    [true, 'f5'],
    ['ü', '42c3bc'],
    [['a', null], '824161f6'],
  ])('%p', (value, expected) => {
    const type = createScheme({ rules: noKindRules, profile: namingProfile('svc') }).type(
      'apps/v1.ControllerRevision',
    );
    const text = Buffer.from(cborCodec.encode({ data: { v: value } }, type)).toString('hex');
    expect(text).toContain(`4176${expected}`);
  });
  test('an element named is the object; a list is its ends around elements', () => {
    const of = { kind: 'Widget', apiVersion: 'v1' };
    const element = cborElement(canonicalObject(widget, widgetType), widgetType);
    expect(Buffer.compare(cborDocument(element, of), cborCodec.encode(widget, widgetType))).toBe(0);
    const { open, close } = cborListEnds(
      { kind: 'WidgetList', apiVersion: 'v1' },
      { resourceVersion: '7', remainingItemCount: 0 },
      2,
    );
    const list = readCbor(Buffer.concat([open, element, namedCborElement(element, of), close]));
    const { items, ...head } = list.value as { items: JsonValue[] };
    expect(head).toEqual({
      kind: 'WidgetList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '7', remainingItemCount: 0 },
    });
    const whole = JSON.parse(encodeText(widget, widgetType)) as Record<string, unknown>;
    expect(items[1]).toEqual(whole);
    expect(Object.keys(items[0] as object)).toEqual(['metadata', 'spec', 'status']);
  });
  test('objects of many members keep their count', () => {
    const members = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`m${String(index)}`, 1]),
    );
    for (const count of [22, 24, 254, 256, 300]) {
      const some = Object.fromEntries(Object.entries(members).slice(0, count));
      const bytes = Buffer.from(cborCodec.encode({ spec: { raw: some } }, widgetType));
      const spec = (readCbor(bytes).value as { spec: { raw: object } }).spec;
      expect(Object.keys(spec.raw)).toHaveLength(count);
    }
    expect(limits.bodyValuesMax).toBeGreaterThan(300);
  });
  test('an event is one item that holds the object', () => {
    const event = cborEvent('ADDED', cborCodec.encode(widget, widgetType));
    const { value } = readCbor(event) as unknown as {
      value: { type: string; object: { kind: string } };
    };
    expect([value.type, value.object.kind]).toEqual(['ADDED', 'Widget']);
  });
});
