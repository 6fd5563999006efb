import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { QuietMemory, memorySaverFlag } from './quiet-memory.ts';

/** `r` for each tick that reduces memory, `.` for the others. */
function shown(utilizations: readonly number[]): string {
  const quiet = new QuietMemory();
  return utilizations.map((each) => (quiet.tick(each) ? 'r' : '.')).join('');
}
const ticks = (count: number, utilization: number): number[] =>
  Array.from({ length: count }, () => utilization);

test('memory is reduced for a while once the loop was quiet for a while', () => {
  expect(shown(ticks(50, 0.01))).toBe(`${'.'.repeat(9)}${'r'.repeat(30)}${'.'.repeat(11)}`);
});

test('memory is reduced again while the loop stays quiet', () => {
  const places = [...shown(ticks(700, 0.01)).matchAll(/r+/g)].map(({ index, 0: { length } }) => [
    index,
    length,
  ]);
  expect(places).toEqual([
    [9, 30],
    [309, 30],
    [609, 30],
  ]);
});

test('the collections themselves do not end it, other work does', () => {
  const start = ticks(10, 0.01);
  expect(shown([...start, 0.4, 0.4, 0.9, ...ticks(5, 0.01)])).toBe(`${'.'.repeat(9)}rrr......`);
});

test.each([0.2, 0.99])('a loop that is busy for %d of its time is left alone', (utilization) => {
  expect(shown(ticks(400, utilization))).not.toContain('r');
});

test('quiet starts over after work', () => {
  const work = [...ticks(9, 0.01), 0.3];
  expect(shown([...work, ...work, ...work])).not.toContain('r');
});

test('V8 has the flag, and its opposite', () => {
  const flags = [memorySaverFlag, memorySaverFlag.replace('--', '--no-')];
  expect(spawnSync(process.execPath, [...flags, '-e', '0']).status).toBe(0);
});
