// Names of one definition may be many: keeping them takes a time that grows with their number.
import { describe, expect, test } from '@jest/globals';
import { AcceptedNames, judgeNames } from './accepted-names.ts';

/** A list that counts how often its elements are read. */
function counted(names: readonly string[]): {
  readonly list: string[];
  readonly reads: () => number;
} {
  let count = 0;
  const list = new Proxy([...names], {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) count += 1;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  return { list, reads: () => count };
}

const many = Array.from({ length: 20_000 }, (_name, at) => `short${String(at)}`);
const names = (shortNames: readonly string[]) => ({
  plural: 'ws',
  kind: 'W',
  shortNames: [...shortNames],
});

describe('20,000 short names', () => {
  test('are compared with as many accepted ones without a look at each for each', () => {
    const had = counted(many);
    const accepted = { plural: 'ws', kind: 'W', shortNames: had.list };
    const definition = {
      spec: { names: names([...many, 'taken']) },
      status: { acceptedNames: accepted },
    };
    const { condition } = judgeNames(definition, (_set, name) => name === 'taken');
    expect(condition).toMatchObject({ status: 'False', message: '"taken" is already in use' });
    expect(had.reads()).toBeLessThan(10 * many.length);
  });

  test('are replaced, and those that nobody has any more are free', () => {
    const accepted = new AcceptedNames();
    const isTaken = accepted.isTakenFrom('other.e.com', 'e.com');
    expect(accepted.set('ws.e.com', 'e.com', names(many))).toBe(false);
    expect(accepted.set('ws.e.com', 'e.com', names(many.slice(1)))).toBe(true);
    expect([many[0] ?? '', many[1] ?? ''].map((name) => isTaken('resources', name))).toEqual([
      false,
      true,
    ]);
    expect(accepted.set('ws.e.com', 'e.com', names(many.slice(1)))).toBe(false);
  });
});
