// The list against a Set, which has the same members in the same order.
import { expect, test } from '@jest/globals';
import { Random } from '../../scripts/fuzz/random.ts';
import { LinkedList } from './linked-list.ts';
import type { Linked } from './linked-list.ts';

class Member implements Linked<Member> {
  before: Member | undefined;
  after: Member | undefined;
}

test('who is in it, and in which order, is as in a Set', () => {
  const random = new Random(7);
  const members = Array.from({ length: 12 }, () => new Member());
  const list = new LinkedList<Member>();
  const model = new Set<Member>();
  for (let step = 0; step < 5_000; step++) {
    const member = random.of(members);
    if (random.below(2) === 0) {
      list.add(member);
      model.add(member);
    } else {
      expect(list.delete(member)).toBe(model.delete(member));
    }
    expect([list.size, list.has(member)]).toEqual([model.size, model.has(member)]);
    expect(list.first).toBe([...model][0]);
    const isSame = [...list].every((one, index) => one === [...model][index]);
    expect(isSame).toBe(true);
  }
});

test('who was told last may leave, and come again', () => {
  const members = Array.from({ length: 3 }, () => new Member());
  const list = new LinkedList<Member>();
  for (const member of members) list.add(member);
  const told: number[] = [];
  for (const member of list) {
    told.push(members.indexOf(member));
    list.delete(member);
    if (told.length === 1) list.add(member);
  }
  expect([told, list.size]).toEqual([[0, 1, 2, 0], 0]);
});

test('all are taken, in order, behind those that were taken before', () => {
  const members = Array.from({ length: 3 }, () => new Member());
  const [first, ...others] = members;
  const list = new LinkedList<Member>();
  for (const member of others) list.add(member);
  const taken = list.takeAll(first === undefined ? [] : [first]);
  expect(taken.map((member) => members.indexOf(member))).toEqual([0, 1, 2]);
  expect([list.size, list.first, list.takeAll()]).toEqual([0, undefined, []]);
});

test('who has left refers to nobody', () => {
  const [one, two, three] = [new Member(), new Member(), new Member()];
  const list = new LinkedList<Member>();
  for (const member of [one, two, three]) list.add(member);
  list.delete(two);
  expect([two.before, two.after]).toEqual([undefined, undefined]);
  expect([one.after, three.before]).toEqual([three, one]);
});
