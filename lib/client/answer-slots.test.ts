import { expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import { AnswerSlots } from './answer-slots.ts';

test('so many answers grow at a time, the others in their order', () => {
  const slots = new AnswerSlots(2);
  const going: string[] = [];
  const give = ['a', 'b', 'c', 'd', 'e'].map((name) => slots.take(() => going.push(name)));
  expect(going).toEqual(['a', 'b']);
  give[2]?.(); // gave up
  give[0]?.();
  give[0]?.();
  expect(going).toEqual(['a', 'b', 'd']);
  give[1]?.();
  give[3]?.();
  expect(going).toEqual(['a', 'b', 'd', 'e']);
});

test('small answers need no slot', () => {
  const slots = new AnswerSlots(1);
  const { clientSmallAnswerBytes: bytes } = limits;
  expect([slots.isLarge(bytes), slots.isLarge(bytes + 1)]).toEqual([false, true]);
});
