import { describe, expect, test } from '@jest/globals';
import { AgeCell } from '../api/age-cell.ts';
import { age, column, name, tableOf, defaultColumns } from '../api/column.ts';
import { namingProfile } from '../api/vendor.ts';
import type { ApiObject } from './codec.ts';
import { listClose, listSeparator } from './frame.ts';
import {
  parseIncludeObject,
  partialListOpen,
  partialObjectBytes,
  tableBytes,
  tableOpen,
  tableRow,
} from './table.ts';
import type { IncludeObject } from './table.ts';

const svc = namingProfile('svc');
const v1 = `${svc.metaGroup}/v1`;
const json = (...chunks: Uint8Array[]): unknown => JSON.parse(Buffer.concat(chunks).toString());
const pod: ApiObject = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'a',
    namespace: 'n',
    resourceVersion: '5',
    creationTimestamp: '2024-01-01T00:00:00Z',
  },
  spec: { nodeName: 'x' },
};
const partial = {
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.svc.io/v1',
  metadata: pod.metadata,
};
const definitions = [
  { name: 'Name', type: 'string', format: 'name', priority: 0, description: expect.any(String) },
  { name: 'Created At', type: 'date', format: '', priority: 0, description: expect.any(String) },
];
const cells = ['a', '2024-01-01T00:00:00Z'];

describe('a Table', () => {
  test.each<[IncludeObject, unknown]>([
    ['None', null],
    ['Metadata', partial],
    ['Object', pod],
  ])('with %s of each object', (include, object) => {
    const row = tableRow(pod, { columns: defaultColumns, include }, v1).bytesAt(0);
    const meta = { resourceVersion: '9', continue: 't', remainingItemCount: 3 };
    expect(
      json(
        tableOpen(meta, { columns: defaultColumns, headers: true }, v1),
        row,
        listSeparator,
        row,
        listClose,
      ),
    ).toEqual({
      kind: 'Table',
      apiVersion: 'meta.svc.io/v1',
      metadata: meta,
      columnDefinitions: definitions,
      rows: [
        { cells, object },
        { cells, object },
      ],
    });
  });
  test('shows in its cells what is stored, and without annotations that are fields there', () => {
    const metadata = { ...pod.metadata, annotations: { field: 'x' } };
    const form = { columns: defaultColumns, include: 'Metadata', hidden: ['field'] } as const;
    const stored = { ...pod, metadata: { ...pod.metadata, name: 'stored' } };
    const row = tableRow({ ...pod, metadata }, form, v1, { stored }).bytesAt(0);
    expect(json(row)).toEqual({ cells: ['stored', cells[1]], object: partial });
  });
  test('of nothing has no rows', () => {
    expect(
      json(
        tableOpen({ resourceVersion: '9' }, { columns: defaultColumns, headers: true }, v1),
        listClose,
      ),
    ).toMatchObject({ rows: [] });
  });
  test('of one object, and of an event after the first one without headers', () => {
    const form = { columns: defaultColumns, include: 'None' } as const;
    const meta = { resourceVersion: '5' };
    for (const headers of [true, false]) {
      const table = { columns: defaultColumns, headers };
      const whole = json(tableBytes(tableRow(pod, form, v1).bytesAt(0), meta, table, v1));
      expect(whole).toEqual({
        kind: 'Table',
        apiVersion: 'meta.svc.io/v1',
        metadata: meta,
        columnDefinitions: headers ? definitions : null,
        rows: [{ cells, object: null }],
      });
    }
  });
  test('shows an object without metadata', () => {
    const row = tableRow({}, { columns: defaultColumns, include: 'None' }, v1);
    expect(json(row.bytesAt(0))).toEqual({
      cells: ['', null],
      object: null,
    });
  });
});

test('a list of partial objects names its kind in the profile', () => {
  const kubernetes = namingProfile('kubernetes');
  expect(
    json(partialListOpen({ resourceVersion: '9' }, v1), partialObjectBytes(pod, v1), listClose),
  ).toEqual({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.svc.io/v1',
    metadata: { resourceVersion: '9' },
    items: [partial],
  });
  expect(json(partialObjectBytes(pod, `${kubernetes.metaGroup}/v1`))).toMatchObject({
    apiVersion: `${kubernetes.metaGroup}/v1`,
  });
});

test.each([
  [null, 'Metadata'],
  ['', 'Metadata'],
  ['Metadata', 'Metadata'],
  ['None', 'None'],
  ['Object', 'Object'],
])('includeObject=%s is %s', (value, include) => {
  expect(parseIncludeObject(value)).toBe(include);
});
test.each(['Bogus', 'none', 'metadata'])('includeObject=%s is a 400', (value) => {
  expect(() => parseIncludeObject(value)).toThrow('use None, Metadata or Object');
});

describe('ages', () => {
  const created = Date.parse('2024-01-01T00:00:00Z');
  const restarts = column('R', 'string', () => new AgeCell(created, '"3" (', ' ago) é'), 'Text.');
  const columns = tableOf([name, age, restarts, age], {
    conditions: () => [{ type: 'Completed', status: 'True' }],
  });
  const form = { columns, include: 'None' } as const;
  const named = { ...pod, metadata: { ...pod.metadata, name: 'Ä' } };
  const kept = tableRow(named, form, v1);
  test.each([
    [0, '0s'],
    [61_000, '61s'],
    [86_400_000, '24h'],
  ])('of a kept row are those of %i ms later', (elapsedMs, shown) => {
    const row = {
      cells: ['Ä', shown, `"3" (${shown} ago) é`, shown],
      conditions: [{ type: 'Completed', status: 'True' }],
      object: null,
    };
    expect(json(kept.bytesAt(created + elapsedMs))).toEqual(row);
  });
  test('are made again when one of them reads otherwise', () => {
    const row = tableRow(named, form, v1);
    const bytesAt = (elapsedMs: number): Uint8Array => row.bytesAt(created + elapsedMs);
    const hours = 3 * 3_600_000;
    const early = bytesAt(hours + 61_000);
    const text = Buffer.from(early).toString();
    expect(text).toContain('3h1m');
    expect(bytesAt(hours + 119_999)).toBe(early);
    expect(Buffer.from(bytesAt(hours + 120_000)).toString()).toBe(text.replaceAll('3h1m', '3h2m'));
    expect(Buffer.from(bytesAt(3)).toString()).toBe(text.replaceAll('3h1m', '0s'));
    expect(Buffer.from(early).toString()).toBe(text);
  });
  test('that a row has none of leave it the same for ever', () => {
    const row = tableRow(named, { columns: tableOf([name]), include: 'None' }, v1);
    expect(row.bytesAt(created)).toBe(row.bytesAt(-1));
    expect(json(row.bytesAt(0))).toEqual({ cells: ['Ä'], object: null });
  });
});
