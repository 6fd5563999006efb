// What documents are made of: nothing before it is asked for, nothing twice, nothing for longer
// than it is used, and no schema so large that others wait for it.
import { expect, test } from '@jest/globals';
import { widgetResource } from '../codec/testing/sample-types.ts';
import { typeOf } from '../api/testing/schema-types.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { limits } from '../base/limits.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import type { DiscoveryGroup } from './discovery.ts';
import { openApiBytes } from './testing/open-api-bytes.ts';

const scheme = builtInScheme({ profile: namingProfile('kubernetes') });

/** A kind with its schema; counts how often that is read. */
function kindOf(index: number, schema: object): { record: ResourceInfo; reads: () => number } {
  const group = `g${String(index)}.example.com`;
  let count = 0;
  const record: ResourceInfo = {
    ...widgetResource,
    group,
    version: 'v1',
    resource: 'things',
    kind: { group, version: 'v1', kind: 'Thing' },
    listKind: 'ThingList',
    published: {
      isListed: true,
      schemaHash: `schema ${JSON.stringify(schema).length.toString()}`,
      typeOnce() {
        count++;
        return typeOf(schema);
      },
    },
  };
  return { record, reads: () => count };
}

const small = { properties: { a: { type: 'string', maxLength: 3 } } };

function openApiOf(kinds: readonly { readonly record: ResourceInfo }[], clock = new ManualClock()) {
  const groupOf = ({ record }: { readonly record: ResourceInfo }): DiscoveryGroup => ({
    group: record.group,
    versions: [{ version: 'v1', resources: [record] }],
  });
  let groups = kinds.map(groupOf);
  const made = openApiBytes({
    scheme,
    groups: () => groups,
    media: { objects: ['application/json'], streams: [], patches: ['application/json-patch+json'] },
    listsValues: true,
    serverVersion: 'v1.36.0',
    answersDeletedObject: () => false,
    clock,
  });
  const serve = (now: readonly { readonly record: ResourceInfo }[]): void => {
    groups = now.map(
      (one) => groups.find(({ group }) => group === one.record.group) ?? groupOf(one),
    );
  };
  return { ...made, clock, serve };
}

const path = (index: number): string => `apis/g${String(index)}.example.com/v1`;

test('hashes of the index are known without reading a schema', async () => {
  const kinds = [0, 1, 2].map((index) => kindOf(index, small));
  const { index, part } = openApiOf(kinds);
  const text = Buffer.from((await index()).bytes).toString();
  expect(kinds.map(({ reads }) => reads())).toEqual([0, 0, 0]);
  const document = await part(path(1), 'json');
  expect(text).toContain(`${path(1)}?hash=${document?.hash ?? ''}`);
  expect(kinds.map(({ reads }) => reads())).toEqual([0, 1, 0]);
});

test('a document asked for again is not made again, by many at once neither', async () => {
  const kinds = [kindOf(0, small)];
  const { part, whole } = openApiOf(kinds);
  const all = await Promise.all([1, 2, 3].map(() => part(path(0), 'json')));
  expect(new Set(all.map((one) => one?.hash)).size).toBe(1);
  expect(kinds[0]?.reads()).toBe(1);
  await Promise.all([1, 2, 3].map(() => whole('json')));
  expect(kinds[0]?.reads()).toBe(2);
});

test('a change reads the schema that changed, and hashes of the others stay', async () => {
  const kinds = [0, 1, 2].map((index) => kindOf(index, small));
  const { part, whole, serve } = openApiOf(kinds);
  await whole('json');
  const [first] = await Promise.all([0, 1, 2].map((index) => part(path(index), 'json')));
  const other = kindOf(3, { properties: { other: { type: 'integer' } } });
  serve([...kinds.slice(0, 2), other]);
  const { bytes } = await whole('json');
  expect(Buffer.from(bytes).toString()).toContain('com.example.g3.v1.Thing');
  expect(Buffer.from(bytes).toString()).not.toContain('com.example.g2.v1.Thing');
  expect(kinds.map(({ reads }) => reads())).toEqual([2, 2, 2]);
  expect(other.reads()).toBe(1);
  expect((await part(path(0), 'json'))?.hash).toBe(first?.hash);
  expect(await part(path(2), 'json')).toBeUndefined();
});

test('the hash of 2.0 stays when what it leaves out changes', async () => {
  const limited = { properties: { a: { type: 'string', anyOf: [{ maxLength: 3 }] } } };
  const plain = { properties: { a: { type: 'string' } } };
  const [one, other] = [openApiOf([kindOf(0, limited)]), openApiOf([kindOf(0, plain)])];
  expect((await one.whole('json')).hash).toBe((await other.whole('json')).hash);
  const hashes = await Promise.all([one, other].map(({ part }) => part(path(0), 'json')));
  expect(hashes[0]?.hash).not.toBe(hashes[1]?.hash);
});

test('nothing is kept for longer than it is used, and is the same when made again', async () => {
  const kinds = [0, 1].map((index) => kindOf(index, small));
  const { openApi, part, clock } = openApiOf(kinds);
  const [first] = [await part(path(0), 'json'), await part(path(1), 'json')];
  const both = openApi.keptBytes;
  clock.pass(limits.openapiUnusedMs - 1);
  await part(path(0), 'json');
  clock.pass(1);
  expect(openApi.keptBytes).toBeGreaterThan(0);
  expect(openApi.keptBytes).toBeLessThan(both);
  clock.pass(limits.openapiUnusedMs);
  clock.pass(limits.openapiUnusedMs);
  expect([openApi.keptBytes, clock.waitsMs]).toEqual([0, []]);
  expect(await part(path(0), 'json')).toEqual(first);
});

test('what was made of a kind that is gone is freed at once', async () => {
  const kinds = [0, 1].map((index) => kindOf(index, small));
  const { openApi, part, serve } = openApiOf(kinds);
  await part(path(0), 'json');
  const before = openApi.keptBytes;
  await part(path(1), 'json');
  serve(kinds.slice(0, 1));
  const [, gone] = kinds;
  if (gone !== undefined) openApi.drop(gone.record);
  expect(openApi.keptBytes).toBe(before);
});

/** Wide, deep, and with many of all that a schema may hold many of. */
const huge = {
  properties: {
    wide: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 3_000 }, (_one, at) => [
          `p${String(at)}`,
          { type: 'string', minLength: at },
        ]),
      ),
    },
    junctors: {
      type: 'string',
      anyOf: Array.from({ length: 3_000 }, (_one, at) => ({ maxLength: at })),
      not: { allOf: Array.from({ length: 2_000 }, (_one, at) => ({ pattern: `^${String(at)}$` })) },
    },
    list: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 1_500 }, (_one, at) => [`q${String(at)}`, { type: 'integer' }]),
          ),
        },
      },
    },
    __proto: {
      type: 'object',
      properties: JSON.parse('{"__proto__": {"type": "string"}}') as object,
    },
  },
};

test.each(['json', 'protobuf'] as const)(
  'a schema written piece by piece is what it is at once, in %s',
  async (form) => {
    const read = async (): Promise<readonly Uint8Array[]> => {
      const { part, whole } = openApiOf([kindOf(0, huge)]);
      return [(await part(path(0), form))?.bytes ?? new Uint8Array(), (await whole(form)).bytes];
    };
    const inPieces = await read();
    const { openapiSchemaNodesAtOnceMax } = limits;
    const adjustable = limits as { openapiSchemaNodesAtOnceMax: number };
    adjustable.openapiSchemaNodesAtOnceMax = Infinity;
    try {
      const atOnce = await read();
      for (const [index, bytes] of atOnce.entries()) {
        expect(bytes.length).toBeGreaterThan(100_000);
        expect(Buffer.compare(bytes, inPieces[index] ?? new Uint8Array())).toBe(0);
      }
    } finally {
      adjustable.openapiSchemaNodesAtOnceMax = openapiSchemaNodesAtOnceMax;
    }
  },
);

test.each(['json', 'protobuf'] as const)(
  'others get turns while it is written, in %s',
  async (form) => {
    const { part } = openApiOf([kindOf(0, huge)]);
    let turns = 0;
    let isMade = false;
    const count = (): void => {
      turns++;
      if (!isMade) setImmediate(count);
    };
    setImmediate(count);
    await part(path(0), form);
    isMade = true;
    expect(turns).toBeGreaterThan(3);
  },
);
