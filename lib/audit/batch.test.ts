import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { limits } from '../base/limits.ts';
import { BatchBackend } from './batch.ts';
import type { BatchOptions } from './batch.ts';
import { CountingObserver, TestWriter, eventOf, settled } from './testing/recorder.ts';

function open(given: Partial<BatchOptions> = {}) {
  const clock = new ManualClock();
  const observer = new CountingObserver();
  const writer = new TestWriter();
  const options = {
    bufferCountMax: 100,
    batchCountMax: 3,
    batchBytesMax: Infinity,
    batchWaitMs: 30_000,
    throttle: undefined,
    ...given,
  };
  const backend = new BatchBackend(writer, options, { clock, observer });
  const send = (...ids: readonly string[]): void => {
    for (const auditID of ids) expect(backend.process(eventOf({ auditID }))).toBe(true);
  };
  return { clock, observer, writer, backend, send };
}

describe('a batch is written', () => {
  test('as soon as it is full', () => {
    const { writer, send } = open();
    send('1', '2');
    expect(writer.batches).toEqual([]);
    send('3', '4');
    expect(writer.batches).toEqual([['1', '2', '3']]);
  });

  test('when its first event has waited long enough, and the next one waits anew', () => {
    const { writer, clock, send } = open();
    send('1');
    clock.pass(29_999);
    send('2');
    expect(writer.batches).toEqual([]);
    clock.pass(1);
    expect(writer.batches).toEqual([['1', '2']]);
    send('3');
    clock.pass(29_999);
    expect(writer.batches).toHaveLength(1);
    clock.pass(1);
    expect(writer.batches).toEqual([['1', '2'], ['3']]);
  });

  test('at once, where events do not wait for others', () => {
    const { writer, send } = open({ batchWaitMs: 0 });
    send('1', '2');
    expect(writer.batches).toEqual([['1'], ['2']]);
  });

  test('before it has too many bytes; a larger event is alone', () => {
    const { byteCount } = eventOf({ auditID: '1' });
    const { writer, send, backend } = open({ batchBytesMax: 2 * byteCount });
    send('1', '2');
    expect(writer.batches).toEqual([['1', '2']]);
    send('3');
    backend.process(eventOf({ auditID: '4', userAgent: 'x'.repeat(1_000) }));
    expect(writer.batches).toEqual([['1', '2'], ['3'], ['4']]);
  });

  test('without waiting for the one before it', () => {
    const { writer, send } = open();
    writer.answer = () => new Promise(() => undefined);
    send('1', '2', '3', '4', '5', '6');
    expect(writer.batches).toEqual([
      ['1', '2', '3'],
      ['4', '5', '6'],
    ]);
  });
});

describe('an overloaded backend', () => {
  test('loses and counts what its buffer cannot hold, and no request waits', () => {
    const { observer, writer, send } = open({ bufferCountMax: 2, batchCountMax: 10 });
    send('1', '2', '3', '4');
    expect(observer.lines).toEqual([
      'lost buffered 1: the buffer is full',
      'lost buffered 1: the buffer is full',
    ]);
    expect(writer.batches).toEqual([]);
  });

  test('writes so many batches at a time, and goes on as each ends', async () => {
    const { writer, send } = open({ batchCountMax: 1, bufferCountMax: 1_000 });
    const ends: (() => void)[] = [];
    writer.answer = () => new Promise((resolve) => ends.push(resolve));
    const max = limits.auditBatchesInFlightMax;
    send(...Array.from({ length: max + 2 }, (_, index) => String(index)));
    expect(writer.batches).toHaveLength(max);
    ends[0]?.();
    await settled();
    expect(writer.batches).toHaveLength(max + 1);
  });

  test('writes at the rate that is set, after a burst', () => {
    const { writer, clock, send } = open({
      batchCountMax: 1,
      throttle: { perSecond: 10, burst: 2 },
    });
    send('1', '2', '3', '4');
    expect(writer.batches).toHaveLength(2);
    clock.pass(99);
    expect(writer.batches).toHaveLength(2);
    clock.pass(1);
    expect(writer.batches).toHaveLength(3);
    clock.pass(100);
    expect(writer.batches).toHaveLength(4);
    clock.pass(10_000);
    send('5', '6', '7');
    expect(writer.batches).toHaveLength(6);
  });

  test('loses a batch that cannot be written, and no other one', async () => {
    const { observer, writer, send } = open();
    writer.answer = () => Promise.reject(new Error('the disk is full'));
    send('1', '2', '3');
    await settled();
    writer.answer = () => Promise.resolve();
    send('4', '5', '6');
    await settled();
    expect(observer.lines).toEqual(['lost webhook 3: the disk is full']);
    expect(writer.batches).toHaveLength(2);
  });
});

describe('at the end', () => {
  test('everything that waits is written, however slowly it was to be', async () => {
    const { writer, backend, observer, send } = open({ throttle: { perSecond: 1, burst: 1 } });
    send('1', '2', '3', '4', '5', '6', '7');
    await backend.close();
    expect(writer.batches).toEqual([['1', '2', '3'], ['4', '5', '6'], ['7']]);
    expect(writer.isClosed).toBe(true);
    expect(observer.lines).toEqual([]);
  });

  test('what is under way is waited for', async () => {
    const { writer, backend, send } = open();
    let finish = (): void => undefined;
    writer.answer = () => new Promise((resolve) => (finish = resolve));
    send('1', '2', '3');
    let isClosed = false;
    const closing = backend.close().then(() => (isClosed = true));
    await settled();
    expect(isClosed).toBe(false);
    finish();
    await closing;
  });

  test('what comes later is lost, and counted', async () => {
    const { backend, observer, send } = open();
    await backend.close();
    send('1');
    expect(observer.lines).toEqual(['lost buffered 1: the server has stopped']);
  });
});
