import { expect, test } from '@jest/globals';
import { ratiosIn, worseThan } from '../bench/support/stored-ratios.ts';

const output = (put: string, list: string): string =>
  [
    'CREATE of a ConfigMap, 1128 bytes, 16 at a time',
    '  bare put      454.3 CPU-µs/request',
    `  MISSED CPU, server to bare put: ${put} (reach <= 1.6)`,
    'LIST: 4 connections',
    `  ok     bytes per CPU-second: ${list} (reach >= 0.5)`,
  ].join('\n');

test.each<[string, string, string, readonly string[]]>([
  ['as it was', '2.00', '0.80', []],
  ['15 % dearer is as it was', '2.30', '0.80', []],
  ['cheaper', '1.00', '2.00', []],
  [
    'dearer',
    '2.40',
    '0.80',
    ['CREATE of a ConfigMap: CPU, server to bare put: 2.40, stored 2.00 (20 % worse)'],
  ],
  ['less', '2.00', '0.60', ['LIST: bytes per CPU-second: 0.60, stored 0.80 (33 % worse)']],
])('%s', (_claim, put, list, worse) => {
  const stored = ratiosIn(output('2.00', '0.80'));
  expect(worseThan(stored, ratiosIn(output(put, list)))).toEqual(worse);
});

test('what is stored and was not measured is named', () => {
  expect(worseThan(ratiosIn('LIST\n  ok     x: 1.00 (reach <= 2)'), {})).toEqual([
    'LIST: x: stored as 1.00, not measured',
  ]);
});
