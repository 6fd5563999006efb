import { expect, test } from '@jest/globals';
import { Random } from '../../scripts/fuzz/random.ts';
import { StreamTable } from './stream-table.ts';

interface Numbered {
  readonly id: number;
}

/** Each stream ends by a chance of one in `life` after each one that begins. */
test.each([
  ['few at once', 2, 1],
  ['thousands at once', 4_000, 1],
  ['some that last', 300, 2 ** 16],
])('%s come and go as in a Map', (_what, life, idStep) => {
  const random = new Random(life);
  const table = new StreamTable<Numbered>();
  const model = new Map<number, Numbered>();
  for (let begun = 0; begun < 5_000; begun++) {
    const id = 1 + 2 * (begun % 100) + 2 * idStep * Math.floor(begun / 100) * 100;
    if (id >= 2 ** 31) break;
    const stream = { id };
    expect(table.get(id)).toBeUndefined();
    table.add(id, stream);
    model.set(id, stream);
    for (let ended = 0; ended < model.size / life; ended++) {
      const other = 1 + 2 * random.below((id + 1) / 2);
      const [gone = other] = random.below(2) === 0 ? [other] : model.keys();
      expect(table.get(gone)).toBe(model.get(gone));
      expect(table.delete(gone)).toBe(model.delete(gone));
    }
    expect([table.get(id), table.size]).toEqual([model.get(id), model.size]);
  }
  const byId = table.all().sort((left, right) => left.id - right.id);
  expect(byId).toEqual([...model.values()]);
});

test('the last id, and what is none', () => {
  const table = new StreamTable<Numbered>();
  const last = { id: 2 ** 31 - 1 };
  table.add(last.id, last);
  expect([table.get(last.id), table.get(0), table.delete(0)]).toEqual([last, undefined, false]);
  expect([table.size, table.delete(last.id), table.size]).toEqual([1, true, 0]);
});
