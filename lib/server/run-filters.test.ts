import { describe, expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { createLogger } from '../base/log.ts';
import { badRequest } from '../base/status.ts';
import { panicFilter } from './filters/panic.ts';
import { filterRunner } from './run-filters.ts';
import type { Filter, HttpRequest, HttpResponse } from './request-context.ts';

type Note = (what: string) => void;

/** What happens in a run, in order; the response is over at its end. */
async function noted(make: (note: Note) => readonly Filter[]): Promise<string[]> {
  const notes: string[] = [];
  const note: Note = (what) => void notes.push(what);
  const response = new EventEmitter();
  filterRunner(make(note))({} as HttpRequest, response as HttpResponse);
  note('the turn ends');
  await new Promise((resolve) => setTimeout(resolve, 0));
  response.emit('close');
  return notes;
}

/** Notes what it sees of everything inside it. */
const around =
  (name: string, note: Note): Filter =>
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

/** Ends failures. */
const failures =
  (note: Note): Filter =>
  async (_request, _response, next) => {
    try {
      await next();
    } catch (error) {
      note(`answered: ${String(error)}`);
    }
  };

describe('filters', () => {
  test('are around all that follow them, the first one outermost', async () => {
    const end: Filter = async () => Promise.resolve();
    expect(await noted((note) => [around('a', note), around('b', note), end])).toEqual([
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
        throw badRequest('no');
      },
    ],
    ['later', () => Promise.reject(badRequest('no'))],
  ])('see the failure of what is inside them (%s); it is answered once', async (_, end) => {
    const notes = await noted((note) => [
      failures(note),
      around('a', note),
      around('b', note),
      end,
    ]);
    expect(notes.filter((note) => note !== 'the turn ends')).toEqual([
      'a in',
      'b in',
      'b sees StatusError: no',
      'a sees StatusError: no',
      'answered: StatusError: no',
    ]);
  });

  test('that pass at once run in the turn of the request, without a promise', async () => {
    const pass: Filter = (_request, _response, next) => {
      const inner = next();
      expect(inner).toBeUndefined();
      return inner;
    };
    const panic = panicFilter({
      logger: createLogger('error', () => undefined),
      encodeStatus: () => ({ contentType: '', body: Buffer.alloc(0) }),
    });
    const notes = await noted((note) => [pass, panic, pass, () => note('answer')]);
    expect(notes).toEqual(['answer', 'the turn ends']);
  });

  test('close with the response, the innermost first, if the request came to them', async () => {
    const closing = (name: string, note: Note, filter: Filter): Filter =>
      Object.assign(filter, { closed: () => note(`${name} closes`) });
    const notes = await noted((note) => [
      closing('a', note, (_request, _response, next) => next()),
      closing('b', note, () => note('b answers')),
      closing('c', note, () => note('c answers')),
    ]);
    expect(notes).toEqual(['b answers', 'the turn ends', 'b closes', 'a closes']);
  });

  test('of whom nobody answers are a 404', async () => {
    const pass: Filter = (_request, _response, next) => next();
    const [answer] = await noted((note) => [failures(note), pass]);
    expect(answer).toMatch(/^answered: StatusError: .*could not find/);
  });

  test('that go on after the response is over come to no other', async () => {
    const goOn = Promise.withResolvers<undefined>();
    const notes = await noted((note) => [
      failures(note),
      async (_request, _response, next) => {
        await goOn.promise;
        await next();
      },
      () => note('too late'),
    ]);
    goOn.resolve(undefined);
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(notes).toEqual(['the turn ends', expect.stringMatching(/^answered: StatusError/)]);
  });
});
