// What is called flat, and what is called a leak.
import { expect, test } from '@jest/globals';
import { isFlat, lineThrough } from './slope.ts';
import type { Sample } from './slope.ts';

const samples = (value: (index: number) => number): Sample[] =>
  Array.from({ length: 40 }, (_, index) => ({ atSeconds: index * 30, value: value(index) }));
const noise = (index: number): number => ((index * 7_919) % 11) - 5;

test.each([
  ['nothing changes', () => 100, true],
  ['noise around a level', (index: number) => 100 + noise(index), true],
  ['a saw of what is collected', (index: number) => 100 + (index % 5) * 4, true],
  ['a twenty-fifth more', (index: number) => 100 + index / 10, true],
  ['it becomes less', (index: number) => 100 - index, true],
  ['a tenth more', (index: number) => 100 + index / 4, false],
  ['a tenth more below noise', (index: number) => 100 + index / 2 + noise(index), false],
  ['a step that stays', (index: number) => (index < 20 ? 100 : 120), false],
])('%s', (_claim, value, flat) => {
  expect(isFlat(lineThrough(samples(value)))).toBe(flat);
});

test('the slope is what grows in an hour', () => {
  const line = lineThrough(samples((index) => 100 + index * 30));
  expect(line.perHour).toBeCloseTo(3_600);
  expect(line.errorPerHour).toBeCloseTo(0);
  expect(line.spanSeconds).toBe(39 * 30);
});

test.each([
  ['two samples', samples(() => 1).slice(0, 2), /three samples/],
  ['samples of one moment', [1, 2, 3].map((value) => ({ atSeconds: 1, value })), /one moment/],
])('%s have no line', (_claim, few, message) => {
  expect(() => lineThrough(few)).toThrow(message);
});
