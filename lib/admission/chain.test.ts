import { describe, expect, test } from '@jest/globals';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { badRequest } from '../base/status.ts';
import { admissionChain } from './chain.ts';
import type { AdmissionChain } from './chain.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { asked } from './testing/asked.ts';

const { signal } = new AbortController();

function chainOf(plugins: readonly Partial<AdmissionPlugin>[]): AdmissionChain {
  const defaults = { name: 'Test', sideEffects: false, handles: () => true };
  return admissionChain(plugins.map((plugin) => ({ ...defaults, ...plugin })));
}

const runs = async (call: () => unknown): Promise<unknown> => {
  try {
    return await call();
  } catch (error) {
    return (error as Error).message;
  }
};

describe.each([
  ['at once', <T>(value: T): MaybePromise<T> => value],
  ['later', <T>(value: T): MaybePromise<T> => Promise.resolve(value)],
])('plugins that answer %s', (_when, answer) => {
  const said: string[] = [];
  const telling = (name: string): Partial<AdmissionPlugin> => ({
    name,
    mutate: () => {
      said.push(`${name} mutates`);
      return answer(name === 'b');
    },
    validate: () => {
      said.push(`${name} validates`);
      return answer(undefined);
    },
  });

  test('run in their order, each for the object that the last one left', async () => {
    said.length = 0;
    const { request } = asked();
    const chain = chainOf([telling('a'), telling('b'), telling('c')]);
    expect(await chain.mutate(request, {}, signal)).toBe(true);
    await chain.validate(request, {}, signal);
    expect(said).toEqual([
      'a mutates',
      'b mutates',
      'c mutates',
      'a validates',
      'b validates',
      'c validates',
    ]);
  });

  test('are not asked after one that refuses', async () => {
    said.length = 0;
    const refusing = {
      validate: async (): Promise<void> => {
        await answer(undefined);
        throw badRequest('no');
      },
    };
    const chain = chainOf([telling('a'), refusing, telling('b')]);
    expect(await runs(() => chain.validate(asked().request, {}, signal))).toBe('no');
    expect(said).toEqual(['a validates']);
  });
});

describe('a dry run', () => {
  const acting = {
    name: 'Acting',
    sideEffects: true,
    mutate: () => true,
    validate: () => undefined,
  };
  const refused = 'admission plugin Acting does not support dry run';

  test.each([
    ['fails at a plugin with side effects', {}, refused],
    ['passes one that does not handle the write', { handles: () => false }, false],
    ['passes one without side effects', { sideEffects: false }, true],
  ])('%s', async (_claim, change, result) => {
    const { request } = asked({ dryRun: true });
    const chain = chainOf([{ ...acting, ...change }]);
    expect(await runs(() => chain.mutate(request, {}, signal))).toBe(result);
    const validated = await runs(() => chain.validate(request, {}, signal));
    expect(validated).toBe(result === refused ? refused : undefined);
  });

  test('is what a write with side effects is not', async () => {
    expect(await chainOf([acting]).mutate(asked().request, {}, signal)).toBe(true);
  });
});

test('no plugin admits everything, at once', () => {
  const chain = chainOf([]);
  expect(chain.mutate(asked().request, {}, signal)).toBe(false);
  expect(chain.validate(asked().request, {}, signal)).toBeUndefined();
});
