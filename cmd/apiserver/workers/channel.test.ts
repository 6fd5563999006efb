import { describe, expect, test } from '@jest/globals';
import { FlagError } from '../../../lib/config/flags.ts';
import { listenError } from '../own-address.ts';
import { Channel } from './channel.ts';
import type { Pipe } from './channel.ts';
import type { Answering } from './messages.ts';

interface Adder {
  readonly add: Answering<readonly [number, number], number>;
  readonly never: Answering<null, null>;
}

/** It only asks. */
interface Asker {
  readonly nothing: Answering<null, null>;
}

/** Two ends of one pipe: what goes through is JSON. */
function pipes(): [Pipe, Pipe] {
  const receivers: ((message: unknown, socket: undefined) => void)[] = [];
  const end = (own: number): Pipe => ({
    send: (message) => {
      const text = JSON.stringify(message);
      setImmediate(() => receivers[1 - own]?.(JSON.parse(text), undefined));
    },
    onMessage: (receive) => (receivers[own] = receive),
  });
  return [end(0), end(1)];
}

function channelTo(add: Adder['add']): Channel<Adder, Asker> {
  const [one, other] = pipes();
  new Channel<Asker, Adder>(other, {
    add,
    never: () => new Promise(() => undefined),
  });
  return new Channel<Adder, Asker>(one, { nothing: () => null });
}

test('each question gets its own answer', async () => {
  const channel = channelTo(async ([one, other]) => {
    if (one === 1) await new Promise((resolve) => setTimeout(resolve, 5));
    return one + other;
  });
  const answers = await Promise.all([channel.ask('add', [1, 2]), channel.ask('add', [3, 4])]);
  expect(answers).toEqual([3, 7]);
});

describe('what the other side throws', () => {
  test('for users stays for users', async () => {
    const channel = channelTo(() => {
      throw new FlagError('--secure-port: no');
    });
    const asked = channel.ask('add', [1, 2]);
    await expect(asked).rejects.toBeInstanceOf(FlagError);
    await expect(asked).rejects.toThrow('--secure-port: no');
  });

  test('of the system keeps what says which flag is wrong', async () => {
    const channel = channelTo(() => {
      throw Object.assign(new Error('listen'), { code: 'EADDRINUSE', syscall: 'listen' });
    });
    const error: unknown = await channel.ask('add', [1, 2]).catch((caught: unknown) => caught);
    const flags = { 'bind-address': '127.0.0.1', 'secure-port': 6443 };
    expect(listenError(flags, error)).toMatchObject({
      message: expect.stringContaining('is taken by another process') as unknown,
    });
  });
});

describe('a question without an answer ends', () => {
  test('when the other side has ended, before or after it was asked', async () => {
    const channel = channelTo(() => 0);
    const asked = channel.ask('never', null);
    channel.end();
    await expect(asked).rejects.toThrow('has ended');
    await expect(channel.ask('add', [1, 2])).rejects.toThrow('has ended');
  });

  test('in time, where there is one', async () => {
    const channel = channelTo(() => 0);
    await expect(channel.ask('never', null, { timeoutMs: 1 })).rejects.toThrow('no answer in time');
  });
});
