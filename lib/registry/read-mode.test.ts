import { describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { parseListOptions } from './options.ts';
import {
  checkVersionWithToken,
  listErrors,
  readAtOfGet,
  readAtOfList,
  startOfWatch,
  watchErrors,
} from './read-mode.ts';

const options = (text: string): ReturnType<typeof parseListOptions> =>
  parseListOptions(new URLSearchParams(text));

describe('get', () => {
  test.each([
    ['', { mode: 'latest' }],
    ['0', { mode: 'any' }],
    ['7', { mode: 'notOlderThan', revision: 7 }],
  ])('at %j reads %j', (version, expected) => {
    expect(readAtOfGet(version)).toEqual(expected);
  });

  test.each(['abc', '-5', '1.5', ' 1', '99999999999999999999'])('at %j is a 400', (version) => {
    expect(() => readAtOfGet(version)).toThrow(StatusError);
  });
});

// The specification's table, cell by cell; `invalid` cells are refused with the causes below them.
describe('list', () => {
  test.each([
    ['', 'latest'],
    ['resourceVersion=0', 'any'],
    ['resourceVersion=7', 'notOlderThan'],
    ['limit=2', 'latest'],
    ['limit=2&resourceVersion=0', 'any'],
    ['limit=2&resourceVersion=7', 'exact'],
    ['limit=0&resourceVersion=7', 'notOlderThan'],
    ['limit=-1&resourceVersion=7', 'notOlderThan'],
    ['resourceVersionMatch=Exact&resourceVersion=7', 'exact'],
    ['resourceVersionMatch=Exact&resourceVersion=7&limit=2', 'exact'],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=0', 'any'],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=7', 'notOlderThan'],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=2', 'any'],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=7&limit=2', 'notOlderThan'],
  ])('%j reads %s', (text, mode) => {
    expect(listErrors(options(text))).toEqual([]);
    expect(readAtOfList(options(text)).mode).toBe(mode);
  });

  test.each([
    ['resourceVersionMatch=Exact', ['FieldValueForbidden']],
    ['resourceVersionMatch=Exact&limit=2', ['FieldValueForbidden']],
    ['resourceVersionMatch=NotOlderThan', ['FieldValueForbidden']],
    ['resourceVersionMatch=NotOlderThan&limit=2', ['FieldValueForbidden']],
    ['resourceVersionMatch=Exact&resourceVersion=0', ['FieldValueForbidden']],
    ['resourceVersionMatch=Exact&resourceVersion=0&limit=2', ['FieldValueForbidden']],
    ['resourceVersionMatch=Bogus', ['FieldValueForbidden', 'FieldValueNotSupported']],
    ['resourceVersionMatch=Bogus&resourceVersion=0', ['FieldValueNotSupported']],
    ['resourceVersionMatch=Exact&continue=x', ['FieldValueForbidden', 'FieldValueForbidden']],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=0&continue=x', ['FieldValueForbidden']],
  ])('%j is refused', (text, reasons) => {
    const errors = listErrors(options(text));
    expect(errors.map(({ reason }) => reason)).toEqual(reasons);
    expect(errors.every(({ field }) => field === 'resourceVersionMatch')).toBe(true);
  });

  test('sendInitialEvents is for watches', () => {
    expect(listErrors(options('sendInitialEvents=true')).map(({ field }) => field)).toEqual([
      'sendInitialEvents',
    ]);
  });

  test.each([
    ['continue=x', false],
    ['continue=x&resourceVersion=0', false],
    ['continue=x&resourceVersion=7', true],
    ['continue=x&resourceVersion=abc', true],
  ])('%j with a token is refused: %p', (text, isRefused) => {
    const run = (): void => {
      checkVersionWithToken(options(text));
    };
    if (isRefused) expect(run).toThrow(StatusError);
    else run();
  });
});

describe('watch', () => {
  const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  test.each([
    ['', { from: 'state', at: { mode: 'latest' }, bookmark: false }],
    ['resourceVersion=0', { from: 'state', at: { mode: 'any' }, bookmark: false }],
    ['resourceVersion=7', { from: 'revision', revision: 7 }],
    [initial, { from: 'state', at: { mode: 'latest' }, bookmark: false }],
    [`${initial}&allowWatchBookmarks=1`, { from: 'state', at: { mode: 'latest' }, bookmark: true }],
    [`${initial}&resourceVersion=0`, { from: 'state', at: { mode: 'any' }, bookmark: false }],
    [
      `${initial}&resourceVersion=7`,
      { from: 'state', at: { mode: 'notOlderThan', revision: 7 }, bookmark: false },
    ],
    ['sendInitialEvents=false&resourceVersionMatch=NotOlderThan', 'now'],
    ['sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0', 'now'],
    [
      'sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=7',
      { from: 'revision', revision: 7 },
    ],
  ])('%j starts at %j', (text, expected) => {
    expect(watchErrors(options(text), true)).toEqual([]);
    expect(startOfWatch(options(text))).toEqual(expected);
  });

  test.each([
    ['resourceVersionMatch=Exact', ['FieldValueForbidden', 'FieldValueNotSupported']],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=5', ['FieldValueForbidden']],
    ['sendInitialEvents=true', ['FieldValueForbidden']],
    [
      'sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=5',
      ['FieldValueForbidden', 'FieldValueNotSupported'],
    ],
    [
      'sendInitialEvents=true&resourceVersionMatch=Bogus',
      ['FieldValueForbidden', 'FieldValueNotSupported'],
    ],
    ['sendInitialEvents=false&resourceVersion=0', ['FieldValueForbidden']],
    [
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x',
      ['FieldValueForbidden'],
    ],
  ])('%j is refused', (text, reasons) => {
    const errors = watchErrors(options(text), true);
    expect(errors.map(({ reason }) => reason)).toEqual(reasons);
  });

  test('streaming lists need their gate', () => {
    const errors = watchErrors(options(initial), false);
    expect(errors.map(({ field }) => field)).toEqual(['sendInitialEvents']);
  });
});
