import { expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import type { WatchEvent } from '../cacher/resource-view.ts';
import { framedPart } from './framed-part.ts';

const eventsOf = (count: number): WatchEvent[] =>
  Array.from({ length: count }, (_none, index) => ({ revision: index }) as WatchEvent);

/** Frames of so many bytes; counts those that were made. */
function counted(variant: string | undefined, bytes = 8) {
  const made: number[] = [];
  const frame = ({ revision }: WatchEvent): Uint8Array => {
    made.push(revision);
    return new Uint8Array(bytes);
  };
  return { variant, frame, made };
}

test('events that many watches are given are framed once for all that want the same', () => {
  const events = eventsOf(3);
  const serializer = counted('json');
  const first = framedPart(events, 0, serializer);
  for (let watch = 0; watch < 1_000; watch++) {
    expect(framedPart(events, 0, { ...serializer })).toBe(first);
  }
  expect(serializer.made).toEqual([0, 1, 2]);
  expect(first).toMatchObject({ bytes: 24, to: 3, endsState: false });
  expect(framedPart([...events], 0, serializer)).not.toBe(first);
  expect(framedPart(events, 1, serializer).frames).toHaveLength(2);
  expect(framedPart(events, 0, counted('protobuf')).frames).not.toBe(first.frames);
});

test('frames that depend on who asks are made for each', () => {
  const events = eventsOf(2);
  const serializer = counted(undefined);
  expect(framedPart(events, 0, serializer)).not.toBe(framedPart(events, 0, serializer));
  expect(serializer.made).toEqual([0, 1, 0, 1]);
});

test('a part ends where a chunk is full', () => {
  const { to, bytes } = framedPart(eventsOf(9), 2, counted('large', limits.answerChunkBytes / 4));
  expect([to, bytes]).toEqual([6, limits.answerChunkBytes]);
});

test('what failed is told after the frames before it, and tried again by the next', () => {
  const events = eventsOf(3);
  const error = new Error('no frame');
  const serializer = {
    variant: 'json',
    frame({ revision }: WatchEvent): Uint8Array {
      if (revision === 1) throw error;
      return new Uint8Array(1);
    },
  };
  const part = framedPart(events, 0, serializer);
  expect(part).toMatchObject({ to: 1, failure: { error } });
  expect(part.frames).toHaveLength(1);
  expect(framedPart(events, 0, counted('json'))).toMatchObject({ to: 3, failure: undefined });
});
