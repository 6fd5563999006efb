import { expect, test } from '@jest/globals';
import { encodeStored } from '../codec/stored-form.ts';
import { makeItem } from './item.ts';
import { isAtPlace, LabelBuckets } from './label-buckets.ts';
import type { LabelPlace } from './label-buckets.ts';
import { LogEntry } from './log-entry.ts';
import { widget, widgets } from './testing/cache-fixture.ts';
import { itemSource } from './testing/item-source.ts';
import { Bucket } from './watch-index.ts';

const source = itemSource();
const itemOf = (path: string, labels: Record<string, string> | undefined) =>
  labels === undefined
    ? undefined
    : makeItem(source, path, encodeStored(widget(path, { labels }), widgets).value, 5);

type LabelsOf = Record<string, string> | undefined;
const changeOf = (path: string, before: LabelsOf, after: LabelsOf): LogEntry =>
  new LogEntry({
    revision: 5,
    path,
    previous: itemOf(path, before),
    item: itemOf(path, after),
    atMs: 0,
  });

const places: Record<string, LabelPlace> = {
  red: { key: 'color', values: ['red'], namespace: undefined },
  redInA: { key: 'color', values: ['red'], namespace: 'a' },
  redInB: { key: 'color', values: ['red'], namespace: 'b' },
  warm: { key: 'color', values: ['red', 'yellow'], namespace: undefined },
  empty: { key: 'color', values: [''], namespace: undefined },
  other: { key: 'size', values: ['red'], namespace: undefined },
};

function opened() {
  const buckets = new LabelBuckets<Bucket>();
  const named = new Map<Bucket, string>();
  for (const [name, place] of Object.entries(places)) {
    const bucket = buckets.open(place, (release) => new Bucket(0, release));
    named.set(bucket, name);
  }
  const visited = (entry: LogEntry): (string | undefined)[] => {
    const seen: (string | undefined)[] = [];
    buckets.visit(entry, (bucket) => seen.push(named.get(bucket)));
    return seen.sort();
  };
  return { buckets, named, visited };
}

test.each<[string, LabelsOf, LabelsOf, string[]]>([
  ['made', undefined, { color: 'red' }, ['red', 'redInA', 'warm']],
  ['deleted', { color: 'red' }, undefined, ['red', 'redInA', 'warm']],
  ['left as it is', { color: 'red' }, { color: 'red' }, ['red', 'redInA', 'warm']],
  ['leaving', { color: 'red' }, { color: 'blue' }, ['red', 'redInA', 'warm']],
  ['losing its labels', { color: 'red' }, {}, ['red', 'redInA', 'warm']],
  ['moving inside of a set', { color: 'red' }, { color: 'yellow' }, ['red', 'redInA', 'warm']],
  ['of the empty value', {}, { color: '' }, ['empty']],
  ['of another label', { size: 'red' }, { color: 'green' }, ['other']],
  ['of none of them', { color: 'blue' }, { shape: 'red' }, []],
])('an object that is %s is told to whom it concerns, once', (_name, before, after, told) => {
  const { visited } = opened();
  const entry = changeOf('a/x', before, after);
  expect(visited(entry)).toEqual(told);
  const concerned = Object.keys(places).filter((name) => {
    const place = places[name];
    return place !== undefined && isAtPlace(entry, place);
  });
  expect(concerned.sort()).toEqual(told);
});

test('a change of an object that cannot be read is told to all', () => {
  const { visited } = opened();
  const item = makeItem(source, 'a/x', Buffer.from('broken'), 5);
  const entry = new LogEntry({ revision: 5, path: 'a/x', previous: undefined, item, atMs: 0 });
  expect(visited(entry)).toEqual(Object.keys(places).sort());
});

test('one place has one bucket, which nobody is told of after it was released', () => {
  const { buckets, named, visited } = opened();
  for (const [bucket, name] of named) {
    const place = places[name] ?? { key: '', values: [], namespace: undefined };
    expect(buckets.open(place, (release) => new Bucket(9, release))).toBe(bucket);
    bucket.release();
  }
  expect(visited(changeOf('a/x', undefined, { color: 'red', size: 'red' }))).toEqual([]);
});
