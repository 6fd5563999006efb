import { describe, expect, test } from '@jest/globals';
import { filterRunner } from './run-filters.ts';
import type { Filter, HttpRequest, HttpResponse } from './request-context.ts';

/** What happens in a run, in order; `end` is the innermost filter. */
async function noted(
  end: Filter,
  make: (note: (what: string) => void) => readonly Filter[],
): Promise<string[]> {
  const notes: string[] = [];
  const note = (what: string): void => void notes.push(what);
  const run = filterRunner({
    filters: [...make(note), end],
    operatorPaths: () => note('operator paths'),
    onFailure: (error) => note(`failed: ${String(error)}`),
  });
  run({} as HttpRequest, {} as HttpResponse);
  note('the turn ends');
  await new Promise((resolve) => setTimeout(resolve, 0));
  return notes;
}

/** Notes what it sees of everything inside it. */
const around =
  (name: string, note: (what: string) => void): Filter =>
  async (_request, _response, next) => {
    note(`${name} in`);
    try {
      await next();
      note(`${name} out`);
    } catch (error) {
      note(`${name} sees ${String(error)}`);
      throw error;
    }
  };

describe('filters', () => {
  test('are around all that follow them, the first one outermost', async () => {
    const end: Filter = async () => Promise.resolve();
    expect(await noted(end, (note) => [around('a', note), around('b', note)])).toEqual([
      'a in',
      'b in',
      'the turn ends',
      'b out',
      'a out',
    ]);
  });

  test.each<[string, Filter]>([
    [
      'at once',
      () => {
        throw new Error('no');
      },
    ],
    ['later', () => Promise.reject(new Error('no'))],
  ])('see the failure of what is inside them (%s); it is answered once', async (_, end) => {
    const notes = await noted(end, (note) => [around('a', note), around('b', note)]);
    expect(notes.filter((note) => note !== 'the turn ends')).toEqual([
      'a in',
      'b in',
      'b sees Error: no',
      'a sees Error: no',
      'failed: Error: no',
    ]);
  });

  test('that pass at once run in the turn of the request, without a promise', async () => {
    const pass: Filter = (_request, _response, next) => {
      const inner = next();
      expect(inner).toBeUndefined();
      return inner;
    };
    expect(await noted(pass, () => [pass, pass])).toEqual(['operator paths', 'the turn ends']);
  });
});
