import { describe, expect, test } from '@jest/globals';
import { Health } from './health.ts';

const healthy = { name: 'etcd', endpoints: ['livez', 'readyz'] as const, failure: () => undefined };
const broken = { name: 'cache', endpoints: ['readyz'] as const, failure: () => 'secret reason' };
const noticed = { ...healthy, name: 'memory', notice: () => 'above its bound' };
const options = { verbose: false, exclude: [] as string[] };

test('an endpoint passes when all of its checks do, and nobody is told of the question', () => {
  const told: string[] = [];
  const health = new Health([healthy, broken], (name) => told.push(name));
  expect([health.isPassing('livez'), health.isPassing('readyz'), told]).toEqual([true, false, []]);
});

describe('all checks of an endpoint', () => {
  test.each([
    ['healthy', 'livez', [healthy], options, 200, 'ok'],
    [
      'healthy, verbose',
      'livez',
      [healthy, broken],
      { ...options, verbose: true },
      200,
      '[+]ping ok\n[+]etcd ok\nhealthz check passed\n',
    ],
    [
      'failing',
      'readyz',
      [healthy, broken],
      options,
      500,
      '[+]ping ok\n[+]etcd ok\n[-]cache failed: reason withheld\nreadyz check failed\n',
    ],
    ['failing, but excluded', 'readyz', [broken], { ...options, exclude: ['cache'] }, 200, 'ok'],
    [
      'excluded, one of them unknown',
      'readyz',
      [healthy, broken],
      { verbose: true, exclude: ['cache', 'nobody'] },
      200,
      '[+]ping ok\n[+]etcd ok\n[+]cache excluded: ok\n' +
        'warn: some health checks cannot be excluded: no matches for "nobody"\nhealthz check ' +
        'passed\n',
    ],
    [
      'with something to know',
      'livez',
      [noticed],
      { ...options, verbose: true },
      200,
      '[+]ping ok\n[+]memory ok\n    above its bound\nhealthz check passed\n',
    ],
  ] as const)('%s', (_name, endpoint, checks, given, status, text) => {
    expect(new Health(checks).answer(endpoint, given)).toMatchObject({ status, text });
  });

  test('reports reasons to the caller', () => {
    const { failures } = new Health([broken]).answer('readyz', options);
    expect(failures).toEqual([{ name: 'cache', reason: 'secret reason' }]);
  });
});

test('each check that was made is told, with how it ended', () => {
  const seen: unknown[] = [];
  const health = new Health([healthy, broken], (...told) => seen.push(told));
  health.answer('readyz', { verbose: false, exclude: ['etcd'] });
  expect(seen).toEqual([
    ['ping', 'readyz', true],
    ['cache', 'readyz', false],
  ]);
});

test.each([
  ['readyz', 'etcd', 200, 'ok'],
  ['readyz', 'cache', 500, 'internal server error: readyz check "cache" failed\n'],
  ['livez', 'cache', 404, '404 page not found\n'],
  ['livez', 'nobody', 404, '404 page not found\n'],
] as const)('/%s/%s alone: %d', (endpoint, name, status, text) => {
  expect(new Health([healthy, broken]).answerOne(endpoint, name)).toMatchObject({ status, text });
});
