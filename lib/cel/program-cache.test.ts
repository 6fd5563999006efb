// Equal expressions compile once, and the cache forgets what was not asked for longest.
import { expect, test } from '@jest/globals';
import { CompileErrors } from './environment.ts';
import { ProgramCache } from './program-cache.ts';
import { naming, sampleEnvironment } from './testing/evaluate.ts';
import { compileCondition } from './use/conditions.ts';
import { policyEnvironment } from './use/policy-environment.ts';

test('the same text of the same environment is the same program', () => {
  const cache = new ProgramCache();
  const environment = sampleEnvironment();
  const program = cache.compile(environment, 'count + 1');
  expect(cache.compile(environment, 'count + 1')).toBe(program);
  expect(cache.compile(environment, 'count + 2')).not.toBe(program);
  expect(cache.compile(sampleEnvironment(), 'count + 1')).not.toBe(program);
});

test('errors are remembered too', () => {
  const cache = new ProgramCache();
  const environment = sampleEnvironment();
  const errors = cache.compile(environment, 'nowhere');
  expect(errors).toBeInstanceOf(CompileErrors);
  expect(cache.compile(environment, 'nowhere')).toBe(errors);
});

test('equal options of policies share programs', () => {
  const cache = new ProgramCache();
  const programOf = (hasParams: boolean): unknown =>
    compileCondition(
      policyEnvironment({ naming, hasParams, hasAuthorizer: false }),
      'object.spec.replicas < 5',
      ['bool'],
      cache,
    ).program;
  expect(programOf(true)).toBe(programOf(true));
  expect(programOf(true)).not.toBe(programOf(false));
});

test('the bytes of all programs stay below the bound', () => {
  const cache = new ProgramCache(100_000);
  const environment = sampleEnvironment();
  const first = cache.compile(environment, 'count + 0');
  for (let index = 1; index < 200; index++) {
    cache.compile(environment, `count + ${String(index)}`);
    expect(cache.compile(environment, 'count + 0')).toBe(first);
    expect(cache.bytes).toBeLessThanOrEqual(100_000);
  }
  expect(cache.bytes).toBeGreaterThan(90_000);
  const dropped = cache.compile(environment, 'count + 1');
  for (let index = 300; index < 400; index++) {
    cache.compile(environment, `count + ${String(index)}`);
  }
  expect(cache.compile(environment, 'count + 1')).not.toBe(dropped);
});

test('a program that is larger than the cache is not kept', () => {
  const cache = new ProgramCache(1_000);
  cache.compile(sampleEnvironment(), 'names.all(n, n.size() > 0) && names.size() < count');
  expect(cache.bytes).toBe(0);
});
