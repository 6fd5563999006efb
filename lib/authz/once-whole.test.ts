// Tests of an authorizer that is asked before it has all that it decides by.
import { expect, test } from '@jest/globals';
import type { Authorizer, Decision } from './authorizer.ts';
import { onceWhole } from './once-whole.ts';
import { attributesOf } from './testing/attributes.ts';

const allowed: Decision = { effect: 'allow', reason: 'bound' };
const refused: Decision = { effect: 'noOpinion', reason: '' };

function begin(): { authorizer: Authorizer; become: () => void } {
  let isBound = false;
  let done = (): void => undefined;
  const whole = new Promise<void>((resolve) => (done = resolve));
  const inner = { name: 'rbac', authorize: () => (isBound ? allowed : refused) };
  const become = (): void => {
    isBound = true;
    done();
  };
  return { authorizer: onceWhole(inner, whole), become };
}

test('who asks before it is whole waits, and is not refused', async () => {
  const { authorizer, become } = begin();
  const early = authorizer.authorize(attributesOf(), AbortSignal.timeout(60_000));
  become();
  expect(await early).toBe(allowed);
});

test('once it is whole it answers at once', async () => {
  const { authorizer, become } = begin();
  become();
  await Promise.resolve();
  expect(authorizer.authorize(attributesOf(), AbortSignal.timeout(60_000))).toBe(allowed);
});

test('who gives up waiting gets the reason, and no decision', async () => {
  const { authorizer } = begin();
  const ending = new AbortController();
  const early = authorizer.authorize(attributesOf(), ending.signal);
  ending.abort(new Error('too late'));
  await expect(early).rejects.toThrow('too late');
});
