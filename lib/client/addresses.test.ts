import { expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { AddressBook, resolveBySystem } from './addresses.ts';

const [a, b, c] = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((ip) => ({ ip })) as [
  { ip: string },
  { ip: string },
  { ip: string },
];
const all = [a, b, c];

function bookAt(): { book: AddressBook; clock: ManualClock; order: () => string } {
  const clock = new ManualClock();
  const book = new AddressBook(clock);
  const order = (): string =>
    book
      .inOrder(all)
      .map(({ ip }) => ip.at(-1))
      .join('');
  return { book, clock, order };
}

test('equals take turns', () => {
  const { order } = bookAt();
  expect([order(), order(), order(), order()]).toEqual(['123', '231', '312', '123']);
});

test('fewest connections come first', () => {
  const { book, order } = bookAt();
  for (const address of [a, a, b]) book.opened(address);
  expect([order(), order()]).toEqual(['321', '321']);
  book.closed(a);
  book.closed(a);
  expect(order()).toBe('312');
});

test('one that failed comes last while it rests, however few connections it has', () => {
  const { book, clock, order } = bookAt();
  for (const address of [b, c]) book.opened(address);
  book.failed(a);
  expect(order()).toBe('231');
  clock.pass(limits.clientAddressRestMs - 1);
  expect(order()).toBe('231');
  clock.pass(1);
  expect(order()).toBe('132');
});

test('a connection ends the rest', () => {
  const { book, order } = bookAt();
  book.failed(a);
  book.opened(a);
  for (const address of [b, c]) book.opened(address);
  expect(order()).toBe('123');
});

test('ports of one IP are addresses of their own', () => {
  const { book } = bookAt();
  const [one, two] = [
    { ip: '10.0.0.1', port: 1 },
    { ip: '10.0.0.1', port: 2 },
  ];
  book.failed(one);
  expect(book.inOrder([one, two])).toEqual([two, one]);
});

test('what the name has no more is forgotten, once nothing is connected to it', () => {
  const { book, order } = bookAt();
  book.failed(a);
  book.opened(b);
  book.inOrder([c]);
  // As new: a has not failed; b still has its connection.
  expect(order()).toBe('312');
});

test('the system resolves names; an address is itself', async () => {
  const { signal } = new AbortController();
  expect(await resolveBySystem('127.0.0.9', signal)).toEqual([{ ip: '127.0.0.9' }]);
  expect(await resolveBySystem('::1', signal)).toEqual([{ ip: '::1' }]);
  expect(await resolveBySystem('localhost', signal)).toContainEqual({ ip: '127.0.0.1' });
});
