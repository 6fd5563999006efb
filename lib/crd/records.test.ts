// What the records of a definition say for documents.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject, PublishedKind } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { readDefinition, schemaIn } from './definition.ts';
import { recordsOf } from './records.ts';

const naming = namingProfile('kubernetes');
const objectMeta = builtInScheme({ profile: naming }).type('meta/v1.ObjectMeta');
const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
const schema = { type: 'object', properties: { a: { type: 'string' } } };

interface Given {
  readonly schema?: object;
  readonly spec?: object;
  readonly version?: object;
  readonly labels?: object;
  readonly conditions?: readonly string[];
}

function published(given: Given = {}): PublishedKind | undefined {
  const { conditions = ['NamesAccepted', 'Established'], labels = {} } = given;
  const version = {
    ...{ name: 'v1', served: true, storage: true },
    schema: { openAPIV3Schema: given.schema ?? schema },
    ...given.version,
  };
  const definition = {
    metadata: { name: 'things.example.com', uid: '1', labels },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version], ...given.spec },
    status: {
      acceptedNames: names,
      conditions: conditions.map((type) => ({ type, status: 'True' })),
    },
  } as unknown as JsonObject;
  const schemaOf = (of: string): JsonObject | undefined => schemaIn(definition, of);
  const records = recordsOf(readDefinition(definition), { naming, objectMeta, schemaOf });
  return records?.stored.published;
}

test.each<[string, string[], boolean]>([
  ['once Established', ['NamesAccepted', 'Established'], true],
  ['still when its names are not accepted any more', ['Established'], true],
  ['not while only its names are accepted', ['NamesAccepted'], false],
])('a kind is listed %s', (_when, conditions, isListed) => {
  expect(published({ conditions })?.isListed).toBe(isListed);
});

test('verbs are those of reading and deleting while the definition is terminating', () => {
  const all = 'delete deletecollection get list patch create update watch'.split(' ');
  expect(published()?.listedVerbs).toEqual(all);
  const conditions = ['Established', 'Terminating'];
  const last = ['delete', 'deletecollection', 'get', 'list', 'watch'];
  expect(published({ conditions })?.listedVerbs).toEqual(last);
});

describe('the hash of the schema', () => {
  test.each<[string, Given, boolean]>([
    ['labels', { labels: { a: 'b' } }, true],
    [
      'columns',
      { version: { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a' }] } },
      true,
    ],
    ['the state', { conditions: ['Established', 'Terminating'] }, true],
    ['a word of the schema', { schema: { ...schema, description: 'd' } }, false],
    ['unknown fields that are kept', { spec: { preserveUnknownFields: true } }, false],
  ])('with other %s is the same: %#', (_what, given, isSame) => {
    expect(published(given)?.schemaHash === published()?.schemaHash).toBe(isSame);
  });
});

describe('the type for one use', () => {
  test('is that of the schema', async () => {
    const type = await published()?.typeOnce();
    expect(type?.fieldByJsonName.get('a')?.scalar).toBe('string');
  });

  test.each<[string, Given]>([
    ['is not structural', { schema: { properties: { a: {} } } }],
    ['has no type at its root', { schema: { properties: { a: { type: 'string' } } } }],
    ['cannot be read as structure', { schema: { ...schema, id: 'x' } }],
    ['is not there', { version: { schema: undefined } }],
  ])('is none where the schema %s', async (_what, given) => {
    expect(await published(given)?.typeOnce()).toBeUndefined();
  });
});

test('records of many versions share what they say of all of them', () => {
  const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
  const versions = Array.from({ length: 1_000 }, (_version, at) => ({
    ...{ name: `v${String(at + 1)}`, served: true, storage: at === 0 },
    ...{ schema: { openAPIV3Schema: schema }, subresources: { scale } },
  }));
  const definition = {
    metadata: { name: 'things.example.com', uid: '1' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions },
  } as unknown as JsonObject;
  const schemaOf = (of: string): JsonObject | undefined => schemaIn(definition, of);
  const records = recordsOf(readDefinition(definition), { naming, objectMeta, schemaOf });
  const places = (records?.served ?? []).map(
    ({ subresources }) => subresources.find(({ name }) => name === 'scale')?.scale?.specReplicasIn,
  );
  expect(places.length).toBe(1_000);
  expect(new Set(places).size).toBe(1);
  expect(places[0]?.size).toBe(1_000);
});
