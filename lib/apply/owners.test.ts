import { describe, expect, test } from '@jest/globals';
import { textAt } from '../api/json-access.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { setOf } from './field-set.ts';
import { capped, ownerIdentity, readOwners, writeOwners } from './owners.ts';
import type { Entry, Owners, Writer } from './owners.ts';
import { pathsOf } from './testing/schemas.ts';

const entry = (manager: string, more: Partial<Entry> = {}): Entry => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  subresource: '',
  time: '2026-01-01T00:00:00Z',
  fields: setOf([`f:${manager}`]),
  ...more,
});
const owners = (...entries: Entry[]): Owners =>
  new Map(entries.map((one) => [ownerIdentity(one), one]));
const second = (at: number): string => new Date(at * 1_000).toISOString();

const item: JsonObject = {
  manager: 'm',
  operation: 'Apply',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:a': {} },
  subresource: 'status',
};

describe('who is who', () => {
  test.each<[string, Partial<Writer>, boolean]>([
    ['another manager', { manager: 'n' }, false],
    ['another operation', { operation: 'Apply' }, false],
    ['another subresource', { subresource: 'status' }, false],
    ['another version', { apiVersion: 'v2' }, false],
    ['the same again', {}, true],
  ])('%s', (_what, more, isSame) => {
    expect(ownerIdentity(entry('m', more)) === ownerIdentity(entry('m'))).toBe(isSame);
  });
  test('who applies is one in all versions', () => {
    const [one, other] = ['v1', 'v2'].map((apiVersion) =>
      ownerIdentity(entry('m', { operation: 'Apply', apiVersion })),
    );
    expect(one).toBe(other);
  });
  test('names with quotes and commas stay apart', () => {
    const one = ownerIdentity(entry('a","b', { subresource: 'c' }));
    expect(one).not.toBe(ownerIdentity(entry('a', { subresource: 'b","c' })));
  });
});

describe('managedFields', () => {
  test('are read and written', () => {
    const list = [item, { ...item, operation: 'Update', subresource: undefined }];
    const expected = [item, { ...item, operation: 'Update' }];
    delete expected[1]?.['subresource'];
    expect(writeOwners(readOwners(list) ?? new Map())).toEqual(expected);
  });
  test.each<[string, JsonValue | undefined]>([
    ['nothing', undefined],
    ['null', null],
    ['what is no list', {}],
    ['an empty list', []],
  ])('%s has no owners', (_what, list) => {
    expect(readOwners(list)?.size).toBe(0);
  });
  test.each<[string, JsonValue]>([
    ['null', null],
    ['a text', 'm'],
    ['nothing', {}],
    ['no operation', { ...item, operation: '' }],
    ['an unknown operation', { ...item, operation: 'Patch' }],
    ['no version', { ...item, apiVersion: undefined }],
    ['another type of fields', { ...item, fieldsType: 'FieldsV2' }],
    ['no fields', { ...item, fieldsV1: null }],
    ['fields that are none', { ...item, fieldsV1: { 'f:a': 1 } }],
  ])('with %s in an entry cannot be read', (_what, value) => {
    expect(readOwners([item, value])).toBeUndefined();
  });
  test('an entry needs no name and no time', () => {
    const { operation, apiVersion, fieldsType, fieldsV1 } = item;
    const list = [{ operation, apiVersion, fieldsType, fieldsV1 }] as JsonValue[];
    expect(writeOwners(readOwners(list) ?? new Map())).toEqual(list);
  });
  test('of nothing are not written', () => {
    expect(writeOwners(owners())).toBeUndefined();
    expect(writeOwners(owners(entry('m', { fields: setOf() })))).toBeUndefined();
  });
  test('come in order: who applies, the older, then by name, version and subresource', () => {
    const list = writeOwners(
      owners(
        entry('b', { time: second(1) }),
        entry('a', { time: second(2) }),
        entry('c', { time: second(1.9), subresource: 's' }),
        entry('c', { time: second(1.1) }),
        entry('c', { time: second(1), apiVersion: 'v0' }),
        entry('z', { time: undefined }),
        entry('y', { operation: 'Apply', time: second(9) }),
      ),
    ) as JsonObject[];
    const told = list.map((one) =>
      ['manager', 'apiVersion', 'subresource'].map((name) => textAt(one, name)).join(' '),
    );
    expect(told).toEqual(['y v1 ', 'z v1 ', 'b v1 ', 'c v0 ', 'c v1 ', 'c v1 s', 'a v1 ']);
  });
});

describe('updates beyond the tenth', () => {
  const updates = (count: number, more: (at: number) => Partial<Entry> = () => ({})): Entry[] =>
    Array.from({ length: count }, (_none, at) =>
      entry(`w${String(at).padStart(2, '0')}`, { time: second(at), ...more(at) }),
    );
  const told = (all: Owners): string[] =>
    [...all.values()].map(({ manager, apiVersion, time, fields }) => {
      const at = Date.parse(time ?? '') / 1_000;
      return `${manager} ${apiVersion} ${String(at)} ${pathsOf(fields)}`;
    });

  test('ten stay as they are', () => {
    const ten = owners(...updates(10));
    expect(capped(ten)).toBe(ten);
  });
  test('the oldest become one, with the younger time', () => {
    const left = capped(owners(...updates(13).reverse()));
    expect(left.size).toBe(10);
    expect(told(left)).toContain('ancient-changes v1 3 .w00 .w01 .w02 .w03');
    expect(told(left)).toContain('w04 v1 4 .w04');
  });
  test('once more: the ancient ones take the next', () => {
    const once = capped(owners(...updates(11)));
    const twice = capped(new Map([...once, ...owners(entry('x', { time: second(20) }))]));
    expect(twice.size).toBe(10);
    expect(told(twice)).toContain('ancient-changes v1 2 .w00 .w01 .w02');
  });
  test('each version has ancient ones of its own', () => {
    const left = capped(owners(...updates(12, (at) => ({ apiVersion: `v${String(at % 2)}` }))));
    expect(left.size).toBe(10);
    expect(told(left)).toContain('ancient-changes v0 2 .w00 .w02');
    expect(told(left)).toContain('ancient-changes v1 3 .w01 .w03');
  });
  test('in as many versions they stay', () => {
    const many = owners(...updates(12, (at) => ({ apiVersion: `v${String(at)}` })));
    expect(capped(many).size).toBe(12);
  });
  test('who applies does not count', () => {
    const appliers = updates(20, () => ({ operation: 'Apply' }));
    const all = owners(...appliers, ...updates(10));
    expect(capped(all)).toBe(all);
  });
});
