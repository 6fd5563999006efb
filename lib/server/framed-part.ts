// The frames of events that many watches are given in one array: made by the first of them that
// writes, and written by the others as they are.
import { limits } from '../base/limits.ts';
import type { WatchEvent } from '../cacher/resource-view.ts';
import type { StreamSerializer } from './serializers.ts';

const { answerChunkBytes } = limits;

/** What a watch writes at once. */
export interface FramedPart {
  readonly frames: readonly Uint8Array[];
  readonly bytes: number;
  /** The first event after it. */
  readonly to: number;
  /** The state that the watch began with ends in it. */
  readonly endsState: boolean;
  /** Why the event after it has no frame; undefined: it was not asked for one. */
  readonly failure: { readonly error: unknown } | undefined;
}

interface Known {
  readonly events: readonly WatchEvent[];
  readonly from: number;
  readonly variant: string;
  readonly part: FramedPart;
}
/** Watches of one form are woken one after the other: the last one is enough. */
let last: Known | undefined;

/** A large batch, such as initial state, goes out in parts: as many events as fill a chunk. */
export function framedPart(
  events: readonly WatchEvent[],
  from: number,
  serializer: Pick<StreamSerializer, 'frame' | 'variant'>,
): FramedPart {
  const { variant } = serializer;
  if (last?.events === events && last.from === from && last.variant === variant) return last.part;
  const part = makePart(events, from, serializer);
  if (variant !== undefined && part.failure === undefined) last = { events, from, variant, part };
  return part;
}

function makePart(
  events: readonly WatchEvent[],
  from: number,
  serializer: Pick<StreamSerializer, 'frame'>,
): FramedPart {
  const frames: Uint8Array[] = [];
  let bytes = 0;
  let to = from;
  let endsState = false;
  let failure: FramedPart['failure'];
  while (to < events.length && bytes < answerChunkBytes) {
    const event = events[to];
    if (event !== undefined) {
      try {
        frames.push(serializer.frame(event));
      } catch (error) {
        failure = { error };
        break;
      }
      bytes += frames.at(-1)?.length ?? 0;
      endsState ||= event.initialEventsEnd === true;
    }
    to++;
  }
  return { frames, bytes, to, endsState, failure };
}
