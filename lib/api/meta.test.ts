import { describe, expect, test } from '@jest/globals';
import { fieldErrorMessage } from '../base/status.ts';
import { inLinearTime } from '../base/testing/processor-time.ts';
import {
  fieldManagerErrors,
  newName,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './meta.ts';
import { nameProblems, pathSegmentProblems } from './name-rules.ts';
import type { JsonObject, NameRule } from './type-info.ts';
import { namingProfile } from './vendor.ts';

const profile = namingProfile('kubernetes');
const rules = { namespaced: true, nameRule: 'dns1123Subdomain', profile } as const;
const texts = (errors: readonly Parameters<typeof fieldErrorMessage>[0][]): string[] =>
  errors.map((error) => `${error.field}: ${fieldErrorMessage(error)}`);
const created = (meta: JsonObject): string[] =>
  texts(validateObjectMeta({ name: 'a', namespace: 'n', ...meta }, rules));
const updated = (meta: JsonObject, old: JsonObject): string[] =>
  texts(validateObjectMetaUpdate(meta, old, { profile }));
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };

describe('new metadata is accepted', () => {
  test.each<[string, JsonObject]>([
    ['nothing more', {}],
    ['a label with a prefix', { labels: { 'example.com/x': 'A_b.c-9', k: '' } }],
    [
      'annotations of any text',
      { annotations: { k: 'any thing! \n goes', 'UP.example.com/x': '' } },
    ],
    ['finalizers', { finalizers: ['example.com/hold', 'kubernetes', 'orphan'] }],
    ['owners', { ownerReferences: [owner, { ...owner, controller: true }] }],
    ['a prefix that ends in a dash', { generateName: 'gen-' }],
    ['annotations of 256 KiB', { annotations: { k: 'x'.repeat(256 * 1024 - 1) } }],
    [
      'managed fields',
      { managedFields: [{ operation: 'Apply', manager: 'a b', fieldsType: 'FieldsV1' }] },
    ],
  ])('%s', (_, meta) => {
    expect(created(meta)).toEqual([]);
  });
});

describe('new metadata is refused', () => {
  test.each<[string, JsonObject, RegExp[]]>([
    [
      'no name',
      { name: '' },
      [/^metadata\.name: Required value: name or generateName is required$/],
    ],
    [
      'a name in upper case',
      { name: 'A' },
      [/^metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain/],
    ],
    [
      'a bad prefix',
      { generateName: 'A-' },
      [/^metadata\.generateName: Invalid value: "A-": a lowercase/],
    ],
    ['no namespace', { namespace: '' }, [/^metadata\.namespace: Required value$/]],
    [
      'a bad label key',
      { labels: { 'bad key': 'v' } },
      [/^metadata\.labels: Invalid value: "bad key": name part must/],
    ],
    [
      'a bad label value',
      { labels: { k: 'bad!' } },
      [/Invalid value: "bad!": a valid label must be an empty string/],
    ],
    [
      'a long key',
      { labels: { ['a'.repeat(64)]: 'v' } },
      [/name part must be no more than 63 bytes$/],
    ],
    ['a long value', { labels: { k: 'v'.repeat(64) } }, [/": must be no more than 63 bytes$/]],
    [
      'two slashes',
      { labels: { 'a/b/c': 'v' } },
      [/"a\/b\/c": a valid label key must .*'example\.com\/MyName'\)$/],
    ],
    [
      'a prefix in upper case',
      { labels: { 'UP.example.com/x': '' } },
      [/prefix part a lowercase RFC 1123 subdomain/],
    ],
    [
      'a user key of the language',
      { labels: JSON.parse('{"__proto__":"!"}') as JsonObject },
      [/__proto__/, /"!"/],
    ],
    [
      'a bad annotation key',
      { annotations: { 'a b': '' } },
      [/^metadata\.annotations: Invalid value: "a b"/],
    ],
    [
      'annotations past 256 KiB',
      { annotations: { k: 'x'.repeat(256 * 1024) } },
      [/^metadata\.annotations: Too long: may not be more than 262144 bytes$/],
    ],
    [
      'an owner without uid',
      { ownerReferences: [{ ...owner, uid: '' }] },
      [/^metadata\.ownerReferences\.uid: .*"": must/],
    ],
    [
      'an empty owner',
      { ownerReferences: [{ uid: 'u' }] },
      [
        /apiVersion: Invalid value: "": version must not be empty$/,
        /\.kind: .*must not be empty/,
        /\.name: /,
      ],
    ],
    [
      'two controllers',
      {
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, controller: true },
        ],
      },
      [/Only one .* Controller set to true\. Found "true" in references for ConfigMap\/o and/],
    ],
    [
      'an event that owns',
      { ownerReferences: [{ ...owner, kind: 'Event' }] },
      [/\/v1, Kind=Event is disallowed from being an owner$/],
    ],
    [
      'a bad finalizer',
      { finalizers: ['e.com/b f'] },
      [/finalizers: .*"e.com\/b f": name part must/],
    ],
    [
      'a bad finalizer without domain',
      { finalizers: ['orphan', 'b f'] },
      [/finalizers: .*"b f": name part must/, /finalizers\[1\]: .*neither a standard finalizer/],
    ],
    [
      'a finalizer without domain',
      { finalizers: ['hold'] },
      [/finalizers\[0\]: .*neither a standard finalizer name nor is it fully/],
    ],
    [
      'an owner of no version',
      { ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] },
      [/^metadata\.ownerReferences\.apiVersion: .*"a\/b\/c": version must/],
    ],
    [
      'both ways of deletion',
      { finalizers: ['orphan', 'foregroundDeletion'] },
      [/cannot be both set$/],
    ],
    ['a negative generation', { generation: -1 }, [/^metadata\.generation: Invalid value: -1/]],
    [
      'bad managed fields',
      {
        managedFields: [
          { operation: 'X', fieldsType: 'Y', manager: 'a\tb', subresource: 's'.repeat(257) },
        ],
      },
      [
        /^metadata\.managedFields\[0\]\.operation: /,
        /fieldsType/,
        /printable/,
        /subresource: Too long/,
      ],
    ],
  ])('%s', (_, meta, wanted) => {
    const found = created(meta);
    expect(found.length).toBe(wanted.length);
    for (const [index, pattern] of wanted.entries()) expect(found[index]).toMatch(pattern);
  });
  test('a namespace of a cluster-scoped kind', () => {
    const errors = validateObjectMeta(
      { name: 'a', namespace: 'n' },
      { ...rules, namespaced: false },
    );
    expect(texts(errors)).toEqual(['metadata.namespace: Forbidden: not allowed on this type']);
  });
});

describe('an update', () => {
  const old = {
    name: 'a',
    namespace: 'n',
    uid: 'u',
    creationTimestamp: '2001-02-03T04:05:06Z',
    generation: 3,
  };
  test('may change labels, annotations, owners and finalizers', () => {
    expect(
      updated(
        { ...old, labels: { a: 'b' }, finalizers: ['e.com/x'], ownerReferences: [owner] },
        old,
      ),
    ).toEqual([]);
  });
  test.each([
    ['name', 'b'],
    ['namespace', 'm'],
    ['uid', 'v'],
    ['creationTimestamp', null],
    ['deletionTimestamp', '2001-02-03T04:05:06Z'],
    ['deletionGracePeriodSeconds', 5],
  ])('may not change %s', (field, value) => {
    const shown = JSON.stringify(value);
    expect(updated({ ...old, [field]: value }, old)).toEqual([
      `metadata.${field}: Invalid value: ${shown}: field is immutable`,
    ]);
  });
  test('may not lower the generation', () => {
    expect(updated({ ...old, generation: 2 }, old)).toEqual([
      'metadata.generation: Invalid value: 2: must not be decremented',
    ]);
  });
  test('of an object in deletion may remove finalizers but not add any', () => {
    const dying = { ...old, deletionTimestamp: 't', finalizers: ['e.com/x'] };
    expect(updated({ ...dying, finalizers: [] }, dying)).toEqual([]);
    expect(updated({ ...dying, finalizers: ['e.com/x', 'e.com/y'] }, dying)).toEqual([
      expect.stringMatching(
        /^metadata\.finalizers: Forbidden: no new finalizers .*\[\]string\{"e\.com\/y"\}$/,
      ),
    ]);
  });
});

describe('names', () => {
  const custom = {
    spec: { group: 'e.com', version: 'v1', names: { plural: 'ws' }, signerName: 'e.com/s' },
  };
  test.each<[NameRule, string, boolean]>([
    ['dns1123Subdomain', 'a.b-c', true],
    ['dns1123Subdomain', 'a..b', false],
    ['dns1123Subdomain', 'a'.repeat(254), false],
    ['dns1123Label', '0a', true],
    ['dns1123Label', 'a.b', false],
    ['dns1123Label', 'a'.repeat(64), false],
    ['dns1035Label', '0a', false],
    ['dns1035Label', 'a0', true],
    ['pathSegment', 'system:a B', true],
    ['pathSegment', 'a/b', false],
    ['pathSegment', 'a%b', false],
    ['pathSegment', '..', false],
    ['pathSegment', 'ä😀～', true],
    ['pathSegment', 'a\nb', false],
    ['pathSegment', 'a\0', false],
    ['pathSegment', '\u0085', false],
    ['pathSegment', '\ud83d', false],
    ['pathSegment', 'x'.repeat(1_024), true],
    ['pathSegment', 'x'.repeat(1_025), false],
    ['any', 'A b', true],
    ['any', 'a/b', false],
    ['any', 'a\nb', false],
    ['configMapKey', 'A_b.c', true],
    ['configMapKey', '..a', false],
    ['csiDriver', 'a.b', true],
    ['csiDriver', 'A.b', false],
    ['csiDriver', 'a'.repeat(64), false],
    ['ipAddress', '10.0.0.1', true],
    ['ipAddress', '010.0.0.1', false],
    ['ipAddress', '2001:db8::1', true],
    ['ipAddress', '2001:DB8::1', false],
    ['ipAddress', '2001:db8:0::1', false],
    ['pluralDotGroup', 'ws.e.com', true],
    ['pluralDotGroup', 'w.e.com', false],
    ['versionDotGroup', 'v1.e.com', true],
    ['versionDotGroup', 'v2.e.com', false],
    ['signerPrefix', 'e.com:s:x', true],
    ['signerPrefix', 'x', false],
    ['groupDotResource', 'e.com.ws', true],
    ['groupDotResource', 'ws', false],
    ['shortSubdomain', 'a'.repeat(52), true],
    ['shortSubdomain', 'a'.repeat(53), false],
  ])('%s: %s is valid: %s', (rule, name, isValid) => {
    expect(nameProblems(rule, name, { isPrefix: false, object: custom }).length === 0).toBe(
      isValid,
    );
  });
  test('a long run of hyphens is checked at once', () => {
    const name = `${'a-'.repeat(500_000)}!`;
    const problems = inLinearTime(() =>
      nameProblems('dns1123Subdomain', name, { isPrefix: false }),
    );
    expect(problems).toHaveLength(2);
  });
  test('no path segment is one that moves in a path', () => {
    expect(['.', '..', 'a/b', 'a%2e'].map((name) => pathSegmentProblems(name).length)).toEqual([
      1, 1, 1, 1,
    ]);
  });
  test('a generated name keeps 58 characters of its prefix and adds five of its alphabet', () => {
    const drawn = (): string[] => Array.from({ length: 50 }, () => newName('x'.repeat(80)));
    for (const name of drawn()) expect(name).toMatch(/^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    // In one draw of 12,000 two names are the same by chance.
    const distinct = Array.from({ length: 5 }, () => new Set(drawn()).size);
    expect(distinct).toContain(50);
  });
});

test('a field manager is short and printable', () => {
  expect(texts(fieldManagerErrors('kubectl'))).toEqual([]);
  expect(texts(fieldManagerErrors('a\nb'))[0]).toMatch(/^fieldManager: .*printable/);
  expect(texts(fieldManagerErrors('x'.repeat(129)))[0]).toMatch(/^fieldManager: Too long/);
});
