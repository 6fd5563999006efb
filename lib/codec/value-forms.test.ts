import { describe, expect, test } from '@jest/globals';
import {
  canonicalBase64,
  canonicalDuration,
  canonicalMicroTime,
  canonicalTime,
} from './value-forms.ts';

describe('times', () => {
  test.each([
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
    ['2024-02-29T3:59:59Z', '2024-02-29T03:59:59Z'],
    ['2024-01-01T00:00:00+24:60', '2023-12-30T23:00:00Z'],
    ['2024-01-01T00:00:00.0123456789Z', '2024-01-01T00:00:00Z'],
    ['2024-01-01T00:00:00+14:00', '2023-12-31T10:00:00Z'],
    ['2024-01-01T00:00:00-00:30', '2024-01-01T00:30:00Z'],
    ['2024-01-01T00:00:00.999999999Z', '2024-01-01T00:00:00Z'],
    ['2024-01-01T00:00:00,5Z', '2024-01-01T00:00:00Z'],
    ['0001-01-01T00:00:00Z', null],
    ['0001-01-01T02:00:00+02:00', null],
    ['0001-01-01T00:00:01Z', '0001-01-01T00:00:01Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ])('%s is %s', (text, expected) => {
    expect(canonicalTime(text)).toBe(expected);
  });
  test.each([
    '',
    'now',
    '2024-01-01',
    '2024-01-01T00:00:00',
    '2024-1-1T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2024-01-32T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:60Z',
    '2024-01-01 00:00:00Z',
    '2024-01-01T00:00:00+25:00',
    '2024-01-01T00:00:00+00:61',
    '2024-01-01t00:00:00Z',
    '2024-01-01T00:00:00z',
    '2024-01-01T00:00:00Z ',
    '9999-12-31T23:59:59-01:00',
    '2024-01-0aT00:00:00Z',
  ])('%j is no time', (text) => {
    expect(canonicalTime(text)).toBeUndefined();
    expect(canonicalMicroTime(text)).toBeUndefined();
  });
  test.each([
    ['2024-01-01T00:00:00.123456Z', '2024-01-01T00:00:00.123456Z'],
    ['2024-01-01T02:00:00,500000+02:00', '2024-01-01T00:00:00.500000Z'],
    ['0001-01-01T00:00:00.000000Z', null],
    ['2024-01-01T00:00:00Z', undefined],
    ['2024-01-01T00:00:00.5Z', undefined],
    ['2024-01-01T00:00:00.123456789Z', undefined],
    ['2024-01-01T00:00:00.12345xZ', undefined],
    ['2024-01-01T00:00:00.x23456Z', undefined],
    ['2024-01-01T00:00:00,123456Z', '2024-01-01T00:00:00.123456Z'],
    ['2023-02-29T00:00:00.123456Z', undefined],
    ['2024-01-01T24:00:00.123456Z', undefined],
    ['2024-01-01T00:00:00.1234567', undefined],
  ])('%s in microseconds is %s', (text, expected) => {
    expect(canonicalMicroTime(text)).toBe(expected);
  });
});

describe('durations', () => {
  test.each([
    ['0', '0s'],
    ['0s', '0s'],
    ['-0s', '0s'],
    ['90m', '1h30m0s'],
    ['1h', '1h0m0s'],
    ['3600s', '1h0m0s'],
    ['1m30.5s', '1m30.5s'],
    ['1500ms', '1.5s'],
    ['999ms', '999ms'],
    ['1us', '1µs'],
    ['1500ns', '1.5µs'],
    ['1ns', '1ns'],
    ['-1h', '-1h0m0s'],
    ['+5s', '5s'],
    ['.5s', '500ms'],
    ['1.s', '1s'],
    ['2h1ns', '2h0m0.000000001s'],
    ['2562047h47m16.854775807s', '2562047h47m16.854775807s'],
  ])('%s is %s', (text, expected) => {
    expect(canonicalDuration(text)).toBe(expected);
  });
  test.each(['', '5', 's', '1d', '1h-5m', '1 h', '2562047h47m16.854775808s', '9'.repeat(200)])(
    '%j is none',
    (text) => {
      expect(canonicalDuration(text)).toBeUndefined();
    },
  );
});

describe('base64', () => {
  test.each([
    ['', ''],
    ['YQ==', 'YQ=='],
    ['YWI=', 'YWI='],
    ['YWJj', 'YWJj'],
    ['YR==', 'YQ=='],
    ['YWJ=', 'YWI='],
    ['YW\r\nJj', 'YWJj'],
    ['+/+/', '+/+/'],
  ])('%j is %j', (text, expected) => {
    expect(canonicalBase64(text)).toBe(expected);
  });
  test.each(['Y', 'YQ', 'YQ=', 'YQ===', '====', 'Y===', 'YQ==YQ==', '-_-_', 'Y Q=', 'ä==='])(
    '%j is none',
    (text) => {
      expect(canonicalBase64(text)).toBeUndefined();
    },
  );
});
