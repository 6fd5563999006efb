// What updates of stored definitions may keep, and what they may not.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { recordsAt } from '../../api/json-access.ts';
import { atOnce } from '../../base/steps.ts';
import { DefinitionSchemas } from './definition-schemas.ts';
import {
  created,
  definition,
  established,
  inSpec,
  label,
  names,
  naming,
  prefix,
  root,
  schemaOf,
  told,
  withProperties,
  withSpec,
  withVersion,
  withWebhook,
} from './testing/definitions.ts';
import type { Change, Definition } from './testing/definitions.ts';

describe('an update', () => {
  const updated = (old: Definition, change: Change): readonly string[] => {
    const object = JSON.parse(JSON.stringify(old)) as Definition;
    change(object);
    return told(object, old).errors;
  };
  const touched = withSpec({
    names: { plural: 'ws', singular: 'v', kind: 'W', listKind: 'WList' },
  });

  test.each<[string, Change, readonly Change[], readonly string[]]>([
    [
      'a group never changes',
      withSpec({ group: 'f.com' }),
      [],
      ['spec.group: Invalid value: "f.com": field is immutable'],
    ],
    ['a scope may change before it is established', withSpec({ scope: 'Cluster' }), [], []],
    [
      'and not later',
      withSpec({ scope: 'Cluster' }),
      [established],
      ['spec.scope: Invalid value: "Cluster": field is immutable'],
    ],
    [
      'a kind is fixed once established',
      names({ kind: 'X' }),
      [established],
      ['spec.names.kind: Invalid value: "X": field is immutable'],
    ],
  ])('%s', (_name, change, stored, errors) => {
    expect(updated(definition(...stored), change)).toEqual(errors);
  });

  const setOfObjects = {
    ...{ type: 'array', items: { type: 'object' } },
    [`${prefix}list-type`]: 'set',
  };
  const nullableKey = {
    type: 'array',
    [`${prefix}list-type`]: 'map',
    [`${prefix}list-map-keys`]: ['k'],
    items: { type: 'object', properties: { k: { type: 'string' } } },
  };
  test.each<[string, JsonObject]>([
    ['a type that does not exist', { type: 'x' }],
    ['a set of maps that are merged', setOfObjects],
    ['a key that may be absent', nullableKey],
    ['a default with unknown fields', { type: 'object', default: { z: 1 } }],
  ])('may keep %s, which a new definition may not have', (_name, a) => {
    const old = definition(withProperties({ a }));
    expect(told(old).errors).not.toEqual([]);
    expect(updated(old, touched)).toEqual([]);
    expect(updated(old, withProperties({ a, b: { type: 'string' } }))).toEqual([]);
  });

  test('may go without schemas where it always did', () => {
    const noSchema: Change = ({ spec }) => delete spec.versions[0]?.schema;
    const old = definition(noSchema, withSpec({ preserveUnknownFields: true }));
    expect(updated(old, touched)).toEqual([]);
    expect(updated(old, withSpec({ preserveUnknownFields: false }))).toEqual([
      'spec.versions[0].schema.openAPIV3Schema: Required value: ' +
        'because otherwise all fields are pruned',
    ]);
  });

  test('may keep a form that is not structural, but for a default or a word of the product', () => {
    const loose = { a: { description: 'no type' } };
    const old = definition(withProperties(loose), withSpec({ preserveUnknownFields: true }));
    expect(updated(old, touched)).toEqual([]);
    const wrong =
      `${inSpec}[a].type: Required value: ` + 'must not be empty for specified object fields';
    const list = { type: 'array', items: { type: 'string' }, [`${prefix}list-type`]: 'set' };
    expect(updated(old, withProperties({ ...loose, list }))).toEqual([wrong]);
    expect(updated(old, withSpec({ preserveUnknownFields: false }))).toEqual([wrong]);
    const given = withProperties({ ...loose, b: { type: 'string', default: 'x' } });
    expect(updated(old, given)).toEqual([
      'spec.preserveUnknownFields: Invalid value: true: ' +
        'must be false in order to use defaults in the schema',
      wrong,
    ]);
  });

  test('may keep a rule that is too dear alone, in a version that is unchanged', () => {
    const dear = { type: 'string', [`${prefix}validations`]: [{ rule: 'self.contains(self)' }] };
    const one: Change = withProperties({ a: { ...dear, maxLength: 10_000 } });
    expect(created(one)).toEqual([expect.stringContaining('estimated rule cost exceeds budget')]);
    expect(updated(definition(one), touched)).toEqual([]);
    const all: Change = withProperties({ a: dear });
    expect(updated(definition(all), touched)).toEqual([
      expect.stringContaining('contributed to estimated rule cost total'),
      expect.stringContaining('estimated rule cost total for entire OpenAPIv3 schema'),
    ]);
  });

  test('may keep versions of reviews that nobody knows', () => {
    const change = withWebhook({
      clientConfig: { url: 'https://a' },
      conversionReviewVersions: ['v9'],
    });
    expect(created(change)).toHaveLength(1);
    expect(updated(definition(change), touched)).toEqual([]);
  });

  test('may keep more than eight selectable fields while they are the same', () => {
    const count = Array.from({ length: 9 }, (_item, at) => String(at));
    const schema = schemaOf(Object.fromEntries(count.map((at) => [`f${at}`, { type: 'string' }])));
    const selectableFields = count.map((at) => ({ jsonPath: `.spec.f${at}` }));
    const old = definition(withVersion({ schema, selectableFields }));
    expect(updated(old, touched)).toEqual([]);
    const turned = withVersion({ selectableFields: [...selectableFields].reverse() });
    expect(updated(old, turned)).toHaveLength(1);
  });

  const bundle = (caBundle: string): Change =>
    withWebhook({
      clientConfig: { url: 'https://a', caBundle },
      conversionReviewVersions: ['v1'],
    });
  const invalidBundle = 'YWJj';
  test.each<[string, Change, string, number]>([
    ['refused where it was valid', bundle(''), invalidBundle, 1],
    ['kept where it was invalid', bundle('eHl6'), invalidBundle, 0],
    ['taken where it is blank', bundle(''), 'Cg==', 0],
  ])('a bundle of certificates of an established definition is %s', (_name, stored, now, count) => {
    expect(updated(definition(stored, established), bundle(now))).toHaveLength(count);
  });

  test('says what is wrong with a bundle', () => {
    expect(updated(definition(bundle(''), established), bundle(invalidBundle))).toEqual([
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: "YWJj": unable to load root ' +
        'certificates: data does not contain any valid RSA or ECDSA certificates',
    ]);
  });

  test('approval is looked at where its state changes', () => {
    const approved =
      (text: string): Change =>
      ({ metadata }) =>
        (metadata['annotations'] = { 'api-approved.kubernetes.io': text });
    const old = definition(withSpec({ group: 'x.k8s.io' }), approved('no'));
    expect(updated(old, approved('never'))).toEqual([]);
    expect(updated(old, approved('https://a/b'))).toEqual([]);
    expect(updated(old, ({ metadata }) => delete metadata['annotations'])).toHaveLength(1);
  });

  test('expressions that are stored may use what newer servers take, new ones may not', () => {
    const value = (more: JsonObject): JsonObject => ({
      type: 'object',
      properties: { if: { type: 'string' } },
      [`${prefix}validations`]: [{ rule: 'self.if == ""' }],
      ...more,
    });
    const specOf = (a: JsonObject): JsonObject => definition(withProperties({ a })).spec;
    const spec = specOf(value({ description: 'changed' }));
    const errorsBeside = (before: JsonObject): readonly string[] => {
      const schemas = new DefinitionSchemas({ naming, spec, before, celVersion: 29 });
      const of = { hasStatus: false, version: 'v1' };
      const schema = recordsAt(spec, 'versions')[0]?.['schema'] as JsonObject;
      const given = schema['openAPIV3Schema'] as JsonObject;
      return atOnce(schemas.errors(given, root, of)).map(({ detail }) => detail);
    };
    expect(errorsBeside(specOf(value({})))).toEqual([]);
    expect(errorsBeside(specOf({ type: 'object' }))).toEqual([
      expect.stringContaining("undefined field 'if'"),
    ]);
  });
});

describe('a write of the status', () => {
  test('looks at the accepted names alone', () => {
    const wrong = definition(withSpec({ group: '', scope: 'X' }), ({ status }) =>
      Object.assign(status, { storedVersions: [], acceptedNames: { plural: 'X' } }),
    );
    expect(told(wrong, definition(), 'status').errors).toEqual([
      `status.acceptedNames.plural: Invalid value: "X": ${label}`,
    ]);
  });
});
