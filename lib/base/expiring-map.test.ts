import { describe, expect, test } from '@jest/globals';
import { ExpiringMap } from './expiring-map.ts';

describe('ExpiringMap', () => {
  let nowMs = 0;
  const made = (): ExpiringMap<string> => {
    nowMs = 1_000;
    return new ExpiringMap({ countMax: 2, nowMs: () => nowMs });
  };

  test('a value is good until its time is over', () => {
    const map = made();
    map.set('a', 'A', 10);
    nowMs += 9;
    expect(map.get('a')).toBe('A');
    nowMs += 1;
    expect(map.get('a')).toBeUndefined();
    expect(map.size).toBe(0);
  });

  test('the oldest makes room; what is set again is young', () => {
    const map = made();
    map.set('a', 'A', 10);
    map.set('b', 'B', 10);
    map.set('a', 'A2', 10);
    map.set('c', 'C', 10);
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual(['A2', undefined, 'C']);
  });

  test('no time at all keeps nothing, and forgets what was there', () => {
    const map = made();
    map.set('a', 'A', 10);
    map.set('a', 'A2', 0);
    expect(map.get('a')).toBeUndefined();
  });
});
