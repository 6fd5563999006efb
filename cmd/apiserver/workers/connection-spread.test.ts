import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { ConnectionSpread } from './connection-spread.ts';
import type { Taker } from './connection-spread.ts';

const opened: { destroy(): void }[] = [];
let spread = new ConnectionSpread();
afterEach(() => {
  spread.close();
  for (const one of opened.splice(0)) one.destroy();
  spread = new ConnectionSpread();
});

interface TestTaker {
  readonly take: Taker;
  readonly sockets: Socket[];
  /** Lets go of what it was given while it was busy. */
  answer: () => void;
}

function taker({ isBusy = false } = {}): TestTaker {
  const sockets: Socket[] = [];
  const made: TestTaker = {
    sockets,
    answer: () => undefined,
    take: async (socket) => {
      opened.push(socket);
      sockets.push(socket);
      if (isBusy) await new Promise<void>((resolve) => (made.answer = resolve));
    },
  };
  return made;
}

const listen = (): Promise<number> => spread.listen({ bindAddress: '127.0.0.1', port: 0 });

async function clients(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    opened.push(socket);
    await once(socket, 'connect');
    sockets.push(socket);
  }
  return sockets;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('the worker with the fewest open connections is given the next', () => {
  test('from nothing: in turn', async () => {
    const workers = [taker(), taker(), taker()];
    const port = await listen();
    for (const { take } of workers) spread.add(take);
    await clients(port, 9);
    await until(() => workers.reduce((sum, { sockets }) => sum + sockets.length, 0) === 9);
    expect(workers.map(({ sockets }) => sockets.length)).toEqual([3, 3, 3]);
  });

  test('one that came later catches up; closed ones count no more', async () => {
    const [early, late] = [taker(), taker()];
    const port = await listen();
    spread.add(early.take);
    await clients(port, 4);
    await until(() => early.sockets.length === 4);
    spread.add(late.take);
    await clients(port, 4);
    await until(() => late.sockets.length === 4);
    spread.closed(early.take, 2);
    await clients(port, 2);
    await until(() => early.sockets.length === 6);
    expect([spread.openCount(early.take), spread.openCount(late.take)]).toEqual([4, 4]);
  });
});

describe('nothing is lost when a worker goes', () => {
  test('what waits for it goes to another; it is gone when nothing is on its way', async () => {
    const [busy, other] = [taker({ isBusy: true }), taker()];
    const port = await listen();
    spread.add(busy.take);
    await clients(port, 3);
    await until(() => spread.openCount(busy.take) === 3);
    expect(busy.sockets).toHaveLength(1);
    spread.add(other.take);
    let isRemoved = false;
    const removed = spread.remove(busy.take).then(() => (isRemoved = true));
    await until(() => other.sockets.length === 2);
    expect(isRemoved).toBe(false);
    busy.answer();
    await removed;
    expect(busy.sockets).toHaveLength(1);
  });

  test('without any worker they wait for the next one', async () => {
    const port = await listen();
    await clients(port, 2);
    const first = taker();
    spread.add(first.take);
    await until(() => first.sockets.length === 2);
    expect(spread.hasTakers).toBe(true);
  });

  test('one that is lost with its worker is closed, the next ones are handed on', async () => {
    const port = await listen();
    const given: Socket[] = [];
    const failing: Taker = (socket) => {
      given.push(socket);
      return given.length === 1 ? Promise.reject(new Error('it ended')) : Promise.resolve();
    };
    spread.add(failing);
    const [first] = await clients(port, 2);
    if (first === undefined) throw new Error('no client');
    await once(first.resume(), 'close');
    await until(() => given.length === 2);
    opened.push(...given);
  });
});

test('all are given one port; a port that is taken is refused for all', async () => {
  const port = await listen();
  expect(await spread.listen({ bindAddress: '127.0.0.1', port: 0 })).toBe(port);
  const other = new ConnectionSpread();
  const refused = other.listen({ bindAddress: '127.0.0.1', port });
  await expect(refused).rejects.toMatchObject({ code: 'EADDRINUSE', syscall: 'listen' });
});
