import { describe, expect, test } from '@jest/globals';
import type { ResourceInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import type { Item, WatchEvent } from '../cacher/resource-view.ts';
import { readCbor } from '../codec/cbor-read.ts';
import { createEncodings } from '../codec/encodings.ts';
import { readYaml } from '../codec/yaml-reader.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { objectItem } from '../registry/converted-item.ts';
import type { HttpRequest } from './request-context.ts';
import { createSerializers } from './serializers.ts';
import { createTransforms } from './transforms.ts';

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const pods = podsOfScheme();
const created = '2024-05-01T00:00:00Z';
let elapsedMs = 0;
const nowMs = (): number => Date.parse(created) + elapsedMs;
const encodings = createEncodings(naming, { cbor: true });
const serializers = createSerializers({ scheme, encodings, nowMs });

function podsOfScheme(): ResourceInfo {
  const found = scheme.resource({ group: '', version: 'v1', resource: 'pods' });
  if (found === undefined) throw new Error('pods are served');
  return found;
}

function request(mediaType: string, as: 'Table' | 'object', query = ''): HttpRequest {
  const asked = as === 'Table' ? `;as=Table;g=${naming.metaGroup};v=v1` : '';
  const context = { info: { query: new URLSearchParams(query) } };
  return { headers: { accept: `${mediaType}${asked}` }, context } as unknown as HttpRequest;
}

interface Table {
  readonly rows: { readonly cells: readonly unknown[]; readonly conditions?: unknown[] }[];
}
const ageIn = (table: unknown): unknown => (table as Table).rows[0]?.cells[4];
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const json = (bytes: Uint8Array): unknown => JSON.parse(textOf(bytes));
const metadata = { name: 'a', namespace: 'n', creationTimestamp: created };
const pod = { kind: 'Pod', apiVersion: 'v1', metadata, status: { phase: 'Succeeded' } };

/** Counts how often bytes of the item are made. */
function countedItem(): { readonly item: Item; readonly madeCount: () => number } {
  const item = objectItem(pod, pods, 7);
  let madeCount = 0;
  const encode = item.encoded.bind(item);
  const encoded: Item['encoded'] = (variant, make) =>
    encode(variant, (one) => {
      madeCount += 1;
      return make(one);
    });
  return { item: Object.assign(item, { encoded }), madeCount: () => madeCount };
}

describe.each<[string, (bytes: Uint8Array) => unknown]>([
  ['application/json', json],
  ['application/yaml', (bytes) => readYaml(textOf(bytes)).value],
  ['application/cbor', (bytes) => readCbor(bytes).value],
])('a Table in %s', (mediaType, read) => {
  test('has the ages of its answer, although its rows are kept', async () => {
    const { item, madeCount } = countedItem();
    const asked = request(mediaType, 'Table');
    for (const [at, age] of [
      [5_000, '5s'],
      [3_600_000, '60m'],
      [86_400_000, '24h'],
    ] as const) {
      elapsedMs = at;
      expect(ageIn(read(serializers.of(asked, pods, 'object').object(item)))).toBe(age);
      const answer = { items: [item], revision: 9, continueToken: '', remainingItemCount: 0 };
      const list = await serializers.of(asked, pods, 'list').list(answer);
      expect(ageIn(read(Buffer.concat([...list])))).toBe(age);
    }
    expect(madeCount()).toBe(1);
  });

  test('has the object of each row', () => {
    const { item } = countedItem();
    const asked = request(mediaType, 'Table', 'includeObject=Object');
    const table = read(serializers.of(asked, pods, 'object').object(item));
    expect(table).toMatchObject({ kind: 'Table', rows: [{ object: pod }] });
  });
});

test('rows of ended pods have a condition', () => {
  const { item } = countedItem();
  const transforms = createTransforms({ scheme, nowMs });
  const [row] = (
    json(
      transforms.of(pods, { as: 'Table', version: 'v1' }, new URLSearchParams()).object(item),
    ) as Table
  ).rows;
  expect(row?.conditions).toMatchObject([{ type: 'Completed', reason: 'Succeeded' }]);
});

test('watchers of Tables share no event, those of objects do', () => {
  const { item } = countedItem();
  const kept = new Map<string, Uint8Array>();
  const event: WatchEvent = {
    type: 'ADDED',
    revision: 7,
    item,
    memo(variant, make) {
      const made = kept.get(variant) ?? make(event);
      kept.set(variant, made);
      return made;
    },
  };
  const frames = (as: 'Table' | 'object'): string[] =>
    [5_000, 60_000].map((at) => {
      elapsedMs = at;
      const watch = serializers.ofWatch(request('application/json', as), pods);
      watch.frame(event); // The first event of a watch carries the columns.
      return textOf(watch.frame(event));
    });
  const ages = frames('Table').map((frame) =>
    ageIn((JSON.parse(frame) as { object: unknown }).object),
  );
  expect(ages).toEqual(['5s', '60s']);
  const [first, second] = frames('object');
  expect(first).toBe(second);
  expect([...kept.keys()]).toEqual(['json']);
});
