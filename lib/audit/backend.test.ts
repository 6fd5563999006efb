import { describe, expect, test } from '@jest/globals';
import { createLogger } from '../base/log.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { blockingBackend, truncatingBackend, unionBackend } from './backend.ts';
import type { AuditBackend } from './backend.ts';
import type { AuditEvent } from './event.ts';
import { LostEvents } from './lost-events.ts';
import { CountingObserver, TestWriter, eventOf, settled } from './testing/recorder.ts';

const keeping = (isTaken = true): AuditBackend & { readonly events: AuditEvent[] } => {
  const events: AuditEvent[] = [];
  return {
    events,
    process(event) {
      events.push(event);
      return isTaken;
    },
    close: () => Promise.resolve(),
  };
};

describe('a blocking backend', () => {
  test.each([
    [false, true],
    [true, false],
  ])('strict %s: an event that is lost lets its request go on: %s', async (isStrict, goesOn) => {
    const observer = new CountingObserver();
    const writer = new TestWriter();
    const backend = blockingBackend(writer, { isStrict, observer });
    expect(await backend.process(eventOf())).toBe(true);
    writer.answer = () => Promise.reject(new Error('no'));
    expect(await backend.process(eventOf())).toBe(goesOn);
    expect(observer.lines).toEqual(['lost webhook 1: no']);
  });

  test('makes the request wait until the event is written', async () => {
    const writer = new TestWriter();
    let finish = (): void => undefined;
    writer.answer = () => new Promise((resolve) => (finish = resolve));
    const backend = blockingBackend(writer, { isStrict: false, observer: new CountingObserver() });
    let isDone = false;
    const processing = Promise.resolve(backend.process(eventOf())).then(() => (isDone = true));
    await settled();
    expect(isDone).toBe(false);
    finish();
    expect(await processing).toBe(true);
  });
});

describe('several backends', () => {
  test('get every event, and one that refuses it refuses it for all', async () => {
    const [first, second] = [keeping(), keeping(false)];
    const union = unionBackend([first, second]);
    expect(union.process(eventOf())).toBe(false);
    const late: AuditBackend = { ...keeping(), process: () => Promise.resolve(true) };
    expect(await unionBackend([first, late]).process(eventOf())).toBe(true);
    expect(await unionBackend([second, late]).process(eventOf())).toBe(false);
    expect(first.events).toHaveLength(2);
    expect(second.events).toHaveLength(2);
  });

  test('are encoded for once', () => {
    const [first, second] = [keeping(), keeping()];
    void unionBackend([first, second]).process(eventOf());
    expect(first.events[0]?.members).toBe(second.events[0]?.members);
  });
});

describe('events that are too large', () => {
  const body = [Buffer.from(JSON.stringify('x'.repeat(2_000)))];
  const open = () => {
    const [inner, observer] = [keeping(), new CountingObserver()];
    const options = { eventBytesMax: 1_000, annotation: 't', observer };
    return { inner, observer, backend: truncatingBackend(inner, options) };
  };

  test.each(['requestObject', 'responseObject'] as const)('lose their %s', (object) => {
    const { inner, backend } = open();
    void backend.process(eventOf({ [object]: body }));
    expect(inner.events[0]?.fields[object]).toBeUndefined();
    expect(inner.events[0]?.fields.annotations.get('t')).toBe('true');
  });

  test('are lost where that does not help, and their requests go on', () => {
    const { inner, observer, backend } = open();
    expect(backend.process(eventOf({ userAgent: 'x'.repeat(2_000) }))).toBe(true);
    expect(inner.events).toEqual([]);
    expect(observer.lines[0]).toMatch(/^lost truncate 1: /);
  });

  test('others stay as they are', () => {
    const { inner, backend } = open();
    const event = eventOf({ requestObject: [Buffer.from('{}')] });
    void backend.process(event);
    expect(inner.events).toEqual([event]);
  });
});

test('lost events are told of at once, then summed up', () => {
  const lines: { plugin: string; count: number; reason: string }[] = [];
  const clock = new ManualClock();
  const logger = createLogger('info', (line) => void lines.push(JSON.parse(line) as never));
  const lost = new LostEvents(logger, clock);
  lost.add('log', 1, 'full');
  for (let count = 0; count < 5; count++) lost.add('log', 2, 'still full');
  lost.add('buffered', 1, 'the buffer is full');
  expect(lines).toHaveLength(1);
  clock.pass(10_000);
  expect(lines.map(({ plugin, count, reason }) => `${plugin} ${String(count)} ${reason}`)).toEqual([
    'log 1 full',
    'log 10 still full',
    'buffered 1 the buffer is full',
  ]);
  clock.pass(10_000);
  expect(lines).toHaveLength(3);
});
