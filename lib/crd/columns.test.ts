// Cells of custom resources: what columns show of values of each type.
import { describe, expect, test } from '@jest/globals';
import { AgeCell } from '../api/age-cell.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { columnsOf } from './columns.ts';

const column = (type: string, jsonPath: string, more: object = {}): JsonObject => ({
  name: 'C',
  type,
  jsonPath,
  ...more,
});

/** The one cell of a column over `.v`. */
function cell(type: string, v: JsonValue | undefined): unknown {
  const object: JsonObject = v === undefined ? {} : { v };
  return columnsOf([column(type, '.v')]).cells(object)[1];
}

describe('a cell', () => {
  test.each<[string, JsonValue | undefined, unknown]>([
    ['string', undefined, null],
    ['string', null, null],
    ['string', 'x', 'x'],
    ['string', '', ''],
    ['string', 5, '5'],
    ['string', 12345678901234567890n, '12345678901234567890'],
    ['string', 0.00001, '1e-05'],
    ['string', 1.5, '1.5'],
    ['string', true, 'true'],
    ['string', ['b', 1, null], '["b",1,null]'],
    ['string', { b: '<', a: 1 }, '{"a":1,"b":"\\u003c"}'],
    ['integer', 5, 5],
    ['integer', 9007199254740993n, 9007199254740993n],
    ['integer', 5.9, 5],
    ['integer', -5.9, -5],
    ['integer', '5', null],
    ['integer', true, null],
    ['number', 1.5, 1.5],
    ['number', 2, 2],
    ['number', '2', null],
    ['boolean', false, false],
    ['boolean', 'false', null],
    ['date', '2024-01-02T03:04:05Z', new AgeCell(Date.UTC(2024, 0, 2, 3, 4, 5))],
    ['date', '2024-01-02T03:04:05.9+01:00', new AgeCell(Date.UTC(2024, 0, 2, 2, 4, 5))],
    ['date', '2024-01-02', '<invalid>'],
    ['date', '', '<unknown>'],
    ['date', 5, null],
  ])('of type %s shows %p as %p', (type, value, expected) => {
    expect(cell(type, value)).toEqual(expected);
  });

  test('shows the first of several results', () => {
    const table = columnsOf([column('integer', '.v[*].n'), column('string', '.v[?(@.n>1)].k')]);
    expect(table.cells({ v: [{ n: 1 }, { n: 2, k: 'b' }, { n: 3, k: 'c' }] })).toEqual([
      '',
      1,
      'b',
    ]);
  });
});

describe('columns', () => {
  test('are the name, and what is given with its own or the usual description', () => {
    const given = [
      column('integer', '.spec.n', { name: 'N', format: 'int32', priority: 1, description: 'd' }),
      column('string', '.spec.s', { name: 'S' }),
    ];
    expect(columnsOf(given).definitions).toEqual([
      expect.objectContaining({ name: 'Name', type: 'string', format: 'name', priority: 0 }),
      { name: 'N', type: 'integer', format: 'int32', priority: 1, description: 'd' },
      {
        name: 'S',
        type: 'string',
        format: '',
        priority: 0,
        description: 'Custom resource definition column (in JSONPath format): .spec.s',
      },
    ]);
  });

  test('that nobody gave are the age', () => {
    const { definitions, cells } = columnsOf([]);
    expect(definitions.map(({ name, type }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Age', 'date'],
    ]);
    const metadata = { name: 'a', creationTimestamp: '1970-01-01T00:00:01Z' };
    expect(cells({ metadata })).toEqual(['a', new AgeCell(1000)]);
  });

  test('end before a path that is none', () => {
    const given = [column('string', '.a'), column('string', '.a['), column('string', '.b')];
    expect(columnsOf(given).definitions.map(({ name }) => name)).toEqual(['Name', 'C']);
  });

  test('share what they may look at in a row', () => {
    const given = [column('integer', '.a[*]'), column('integer', '.a[*]'), column('integer', '.b')];
    const many = { a: Array.from({ length: 60_000 }, (_, index) => index), b: 1 };
    expect(columnsOf(given).cells(many)).toEqual(['', 0, null, null]);
  });

  test('are told apart from others by their digest', () => {
    const [one, other] = [columnsOf([column('string', '.a')]), columnsOf([column('date', '.a')])];
    expect(one.variant).not.toBe(other.variant);
    expect(one.variant).toBe(columnsOf([column('string', '.a')]).variant);
  });
});
