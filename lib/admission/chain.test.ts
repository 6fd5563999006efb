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
    expect(await chain.mutate(request, {}, signal)).toBe('yes');
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
    ['passes one that does not handle the write', { handles: () => false }, 'no'],
    ['passes one without side effects', { sideEffects: false }, 'yes'],
  ])('%s', async (_claim, change, result) => {
    const { request } = asked({ dryRun: true });
    const chain = chainOf([{ ...acting, ...change }]);
    expect(await runs(() => chain.mutate(request, {}, signal))).toBe(result);
    const validated = await runs(() => chain.validate(request, {}, signal));
    expect(validated).toBe(result === refused ? refused : undefined);
  });

  test('is what a write with side effects is not', async () => {
    expect(await chainOf([acting]).mutate(asked().request, {}, signal)).toBe('yes');
  });
});

test('no plugin admits everything, at once', () => {
  const chain = chainOf([]);
  expect(chain.mutate(asked().request, {}, signal)).toBe('no');
  expect(chain.validate(asked().request, {}, signal)).toBeUndefined();
});

describe('a change by a plugin that is configured by the API', () => {
  const counting = (
    name: string,
    more: Partial<AdmissionPlugin> & { readonly changes?: boolean },
    said: string[],
  ): Partial<AdmissionPlugin> => ({
    name,
    ...more,
    mutate: (_request, _object, _signal, { index, kept }) => {
      const plugin = kept.get(own) as number | undefined;
      said.push(`${name} ${String(index)}${plugin === undefined ? '' : ' knows'}`);
      kept.set(own, 1);
      return more.changes === true;
    },
  });
  const own = {} as AdmissionPlugin;

  test('w.reinvocation: begins one more pass of all, and never a third', async () => {
    const said: string[] = [];
    const chain = chainOf([
      counting('built-in', {}, said),
      counting('hook', { isConfigured: true, changes: true }, said),
    ]);
    expect(await chain.mutate(asked().request, {}, signal)).toBe('byConfigured');
    expect(said).toEqual(['built-in 0', 'hook 0 knows', 'built-in 1 knows', 'hook 1 knows']);
  });

  test('w.reinvocation: one by a built-in plugin begins none', async () => {
    const said: string[] = [];
    const chain = chainOf([
      counting('built-in', { changes: true }, said),
      counting('hook', { isConfigured: true }, said),
    ]);
    expect(await chain.mutate(asked().request, {}, signal)).toBe('yes');
    expect(said).toEqual(['built-in 0', 'hook 0 knows']);
  });
});
