import { expect, test } from '@jest/globals';
import { digestOf } from './token-digest.ts';
import { TokenVerdicts } from './token-verdicts.ts';

function opened() {
  const clock = { ms: 0 };
  const verdicts = new TokenVerdicts<string>({
    goodCountMax: 2,
    badCountMax: 3,
    nowMs: () => clock.ms,
  });
  return { clock, verdicts };
}

test('verdicts are kept for their time', () => {
  const { clock, verdicts } = opened();
  verdicts.keepGood('a', 'good', 10);
  verdicts.keepBad('b', 'bad', 5);
  clock.ms = 5;
  expect([verdicts.get('a'), verdicts.get('b')]).toEqual(['good', undefined]);
});

test('no number of bad ones pushes out a good one', () => {
  const { verdicts } = opened();
  verdicts.keepGood('a', 'good', 10);
  for (let at = 0; at < 10; at++) verdicts.keepBad(`b${String(at)}`, 'bad', 10);
  expect([verdicts.get('a'), verdicts.get('b6'), verdicts.get('b7')]).toEqual([
    'good',
    undefined,
    'bad',
  ]);
});

test('who asks at once waits for one verdict, and the next one for another', async () => {
  const { verdicts } = opened();
  let count = 0;
  const judge = () => Promise.resolve(String(++count));
  const first = [verdicts.judged('a', judge), verdicts.judged('a', judge)];
  expect(await Promise.all(first)).toEqual(['1', '1']);
  expect(await verdicts.judged('a', judge)).toBe('2');
});

test('a verdict that fails is made anew', async () => {
  const { verdicts } = opened();
  const failing = verdicts.judged('a', () => Promise.reject(new Error('away')));
  await expect(failing).rejects.toThrow('away');
  expect(await verdicts.judged('a', () => Promise.resolve('good'))).toBe('good');
});

test('a digest does not hold the token', () => {
  expect(digestOf('secret')).toBe('K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols=');
});
