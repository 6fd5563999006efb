import { expect, test } from '@jest/globals';
import { kindColumns } from '../kinds/built-in-kinds.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import type { Scheme } from '../api/scheme.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import type { Item, WatchEvent } from '../cacher/resource-view.ts';
import { createEncodings, jsonStream } from '../codec/encodings.ts';
import { objectItem } from '../registry/converted-item.ts';
import { elementForms } from './element-forms.ts';
import { jsonForms, rewrittenForms } from './forms.ts';
import type { Form, Forms } from './forms.ts';
import { formWatch } from './watch-frames.ts';

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const pods = podsOf(scheme);
const columns = kindColumns(naming)(pods.type);
const created = '2024-05-01T00:00:00Z';
let elapsedMs = 0;
const nowMs = (): number => Date.parse(created) + elapsedMs;

function podsOf(of: Scheme): ResourceInfo {
  const found = of.resource({ group: '', version: 'v1', resource: 'pods' });
  if (found === undefined) throw new Error('pods are served');
  return found;
}

interface Table {
  readonly rows: { readonly cells: readonly unknown[]; readonly conditions?: unknown[] }[];
}
const ageIn = (table: unknown): unknown => (table as Table).rows[0]?.cells[4];
const json = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString());
const metadata = { name: 'a', namespace: 'n', creationTimestamp: created };
const pod = { kind: 'Pod', apiVersion: 'v1', metadata, status: { phase: 'Succeeded' } };

/** Counts how often bytes of the item are made anew. */
function countedItem(): { readonly item: Item; readonly madeCount: () => number } {
  const item = objectItem(pod, pods, 7);
  let madeCount = 0;
  const encoded: Item['encoded'] = (variant, make) =>
    item.encoded(variant, (one) => {
      madeCount += 1;
      return make(one);
    });
  return { item: { ...item, encoded }, madeCount: () => madeCount };
}

const table = (forms: Forms): Form =>
  forms.table({ columns, include: 'None', headers: true, nowMs });
const asTheyAre = { whole: (bytes: Uint8Array) => bytes, lists: undefined };
const cbor = createEncodings(naming, { cbor: true }).at(-1);
if (cbor?.elements === undefined) throw new Error('CBOR has elements');
const { codec } = cbor;

test('ages of a Table are those of the answer, although its rows are kept', async () => {
  const { item, madeCount } = countedItem();
  const form = table(jsonForms(naming));
  for (const [at, age] of [
    [5_000, '5s'],
    [3_600_000, '60m'],
    [86_400_000, '24h'],
  ] as const) {
    elapsedMs = at;
    expect(ageIn(json(form.object(item)))).toBe(age);
    const list = Buffer.concat([...(await form.list([item], { resourceVersion: '9' }))]);
    expect(ageIn(json(list))).toBe(age);
  }
  expect(madeCount()).toBe(1);
});

test.each<[string, Form, (bytes: Uint8Array) => unknown]>([
  ['rewritten', table(rewrittenForms('same', jsonForms(naming), asTheyAre)), json],
  [
    'CBOR',
    table(elementForms(cbor, cbor.elements, scheme)),
    (bytes) => codec.decode(bytes, scheme.type('meta/v1.Table')).object,
  ],
])('%s Tables, too', (_claim, form, read) => {
  const { item } = countedItem();
  for (const [at, age] of [
    [5_000, '5s'],
    [10_800_000, '3h'],
  ] as const) {
    elapsedMs = at;
    expect(ageIn(read(form.object(item)))).toBe(age);
  }
});

test('rows of ended pods have a condition', () => {
  const { item } = countedItem();
  const [row] = (json(table(jsonForms(naming)).object(item)) as Table).rows;
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
  const frames = (form: Form): string[] =>
    [5_000, 60_000].map((at) => {
      elapsedMs = at;
      const options = { resource: pods, naming, stream: jsonStream };
      const watch = formWatch(form, { ...options, errorObject: () => new Uint8Array() });
      watch.frame(event); // The first event of a watch carries the columns.
      return Buffer.from(watch.frame(event)).toString();
    });
  const ages = frames(table(jsonForms(naming))).map((frame) =>
    ageIn((JSON.parse(frame) as { object: unknown }).object),
  );
  expect(ages).toEqual(['5s', '60s']);
  const [first, second] = frames(jsonForms(naming).object(pods));
  expect(first).toBe(second);
  expect([...kept.keys()]).toEqual(['json']);
});
