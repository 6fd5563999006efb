// What is sent when: as many streams and bytes as the member takes.
import { afterEach, describe, expect, test } from '@jest/globals';
import { status as grpcStatus } from '@grpc/grpc-js';
import { encodeField } from '../../http2/hpack.ts';
import { frameFlag, frameType, http2Code, settingId, windowUpdate } from '../../http2/frames.ts';
import { newMessage } from './testing/messages.ts';
import { begun, bodyOf, closeAll, echo, effect, failureOf } from './testing/played-channel.ts';
import { later, play, terms } from './testing/played-channel.ts';
import { answerFrames, answerHead } from './testing/raw-member.ts';
import { trailersFrame } from './testing/raw-member.ts';
import { settingsFrame } from '../../http2/frames.ts';
import { uint32 } from '../../http2/testing/raw-connection.ts';

const { endStream } = frameFlag;
const { data, headers, resetStream: reset } = frameType;

afterEach(closeAll);

describe('as many streams as the member takes', () => {
  test('a call waits for its turn; what ends before it was not begun', async () => {
    const { channel, connection } = await play([[settingId.concurrentStreamsMax, 1]]);
    const first = channel.call(echo, 'first', terms());
    const late = channel.call(echo, 'late', { deadlineMs: Date.now() + 20 });
    const aborting = new AbortController();
    const aborted = channel.call(echo, 'aborted', { ...terms(), signal: aborting.signal });
    const last = channel.call(echo, 'last', terms());
    expect(await effect(late)).toBe('notStarted');
    aborting.abort(new Error('nobody waits'));
    await expect(aborted).rejects.toThrow('nobody waits');
    expect(begun(await connection.untilPong())).toEqual([1]);
    connection.write(answerFrames(1, 'one'));
    expect(await first).toBe('one');
    expect(await connection.next(headers)).toMatchObject({ streamId: 3 });
    expect((await connection.next(data)).payload).toEqual(newMessage(Buffer.from('last')));
    connection.write(answerFrames(3, 'three'));
    expect(await last).toBe('three');
  });

  test('none, until it takes some', async () => {
    const { channel, connection } = await play([[settingId.concurrentStreamsMax, 0]]);
    const call = channel.call(echo, 'x', terms());
    expect(begun(await connection.untilPong())).toEqual([]);
    connection.write(settingsFrame([[settingId.concurrentStreamsMax, 1]]));
    await connection.next(data);
    connection.write(answerFrames(1, 'answer'));
    expect(await call).toBe('answer');
  });
});

describe('what may be sent', () => {
  test('a stream sends no more than its window, also when that is made smaller', async () => {
    const { channel, connection } = await play([[settingId.initialWindowSize, 10]]);
    const call = channel.call(echo, 'x'.repeat(95), terms());
    const frames = await connection.untilPong();
    const sizes = async (): Promise<number> => {
      frames.push(...(await connection.untilPong()));
      return bodyOf(frames, 1).length;
    };
    expect(await sizes()).toBe(10);
    connection.write(settingsFrame([[settingId.initialWindowSize, 30]]));
    expect(await sizes()).toBe(30);
    connection.write(settingsFrame([[settingId.initialWindowSize, 20]])); // Its window is -10.
    connection.write(windowUpdate(1, 10));
    expect(await sizes()).toBe(30);
    connection.write(windowUpdate(1, 3)); // Less than what stands before a message.
    expect(await sizes()).toBe(33);
    connection.write(windowUpdate(1, 1_000));
    expect(await sizes()).toBe(100);
    expect(bodyOf(frames, 1)).toEqual(newMessage(Buffer.alloc(95, 'x')));
    const ends = frames.filter(({ type, flags }) => type === data && (flags & endStream) !== 0);
    expect(ends).toHaveLength(1);
    connection.write(answerFrames(1, 'answer'));
    expect(await call).toBe('answer');
  });

  test('all streams send no more than the window of the connection, in turns', async () => {
    const { channel, connection } = await play([[settingId.initialWindowSize, 1_000_000]]);
    const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(100_000));
    const calls = texts.map((text) => channel.call(echo, text, terms()));
    const frames = await connection.untilPong();
    const bytes = (): number[] => [1, 3, 5].map((streamId) => bodyOf(frames, streamId).length);
    expect(bytes()).toEqual([65_535, 0, 0]);
    connection.write(windowUpdate(0, 3 * 16_384));
    frames.push(...(await connection.untilPong()));
    expect(bytes()).toEqual([65_535 + 16_384, 16_384, 16_384]);
    connection.write(windowUpdate(0, 1_000_000));
    frames.push(...(await connection.untilPong()));
    expect(
      texts.map((text, index) =>
        bodyOf(frames, 1 + 2 * index).equals(newMessage(Buffer.from(text))),
      ),
    ).toEqual([true, true, true]);
    expect(Math.max(...frames.map(({ payload }) => payload.length))).toBe(16_384);
    connection.write(answerFrames(1, '1'), answerFrames(5, '5'), answerFrames(3, '3'));
    expect(await Promise.all(calls)).toEqual(['1', '3', '5']);
  });

  test('of a call that has ended, what was not sent is dropped', async () => {
    const { channel, connection } = await play([[settingId.initialWindowSize, 10]]);
    const aborting = new AbortController();
    const aborted = channel.call(echo, 'x'.repeat(95), { ...terms(), signal: aborting.signal });
    const refused = channel.call(echo, 'y'.repeat(95), terms());
    const call = channel.call(echo, 'z'.repeat(95), terms());
    const frames = await connection.untilPong();
    aborting.abort(new Error('nobody waits'));
    await expect(aborted).rejects.toThrow('nobody waits');
    expect(await connection.next(reset)).toMatchObject({
      streamId: 1,
      payload: uint32(http2Code.cancel),
    });
    connection.write(
      trailersFrame(3, Buffer.concat([answerHead, encodeField('grpc-status', '8')])),
    );
    expect((await failureOf(refused)).code).toBe(grpcStatus.RESOURCE_EXHAUSTED);
    expect(await connection.next(reset)).toMatchObject({ streamId: 3 });
    connection.write(settingsFrame([[settingId.initialWindowSize, 1_000]]), windowUpdate(3, 50));
    frames.push(...(await connection.untilPong()));
    expect([1, 3, 5].map((id) => bodyOf(frames, id).length)).toEqual([10, 10, 100]);
    connection.write(answerFrames(5, 'answer'));
    expect(await call).toBe('answer');
  });

  test('messages of a stream wait for its window, in order', async () => {
    const { channel, connection } = await play([[settingId.initialWindowSize, 7]]);
    const stream = channel.open(echo, { message: () => {}, ended: () => {} });
    for (const text of ['first', 'second', 'third']) stream.send(text);
    const frames = await connection.untilPong();
    expect(bodyOf(frames, 1)).toHaveLength(7);
    connection.write(windowUpdate(1, 100));
    frames.push(...(await connection.untilPong()));
    const messages = ['first', 'second', 'third'].map((text) => newMessage(Buffer.from(text)));
    expect(bodyOf(frames, 1)).toEqual(Buffer.concat(messages));
    expect(frames.every(({ flags, type }) => type !== data || (flags & endStream) === 0)).toBe(
      true,
    );
    stream.cancel();
    stream.send('too late');
    expect(await connection.untilPong()).toMatchObject([{ type: reset, streamId: 1 }]);
  });

  test('a socket that takes no more begins no stream', async () => {
    const { channel, connection } = await play([[settingId.initialWindowSize, 2 ** 31 - 1]]);
    connection.write(windowUpdate(0, 2 ** 30));
    await connection.untilPong();
    connection.socket.pause();
    const text = 'x'.repeat(1024 * 1024);
    const calls = Array.from({ length: 64 }, () => channel.call(echo, text, terms()));
    await later();
    channel.close();
    const effects = await Promise.all(calls.map(effect));
    expect(effects[0]).toBe('unknown');
    expect(effects.at(-1)).toBe('notStarted');
  });
});
