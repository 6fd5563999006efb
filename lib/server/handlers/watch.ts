// A watch: cursor to frames to the client, over HTTP or a WebSocket. A slow client holds its
// position, nothing is queued.
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { StatusError } from '../../base/status.ts';
import { nextTurn } from '../../base/turn.ts';
import type { WatchCursor } from '../../cacher/resource-view.ts';
import { parseListOptions } from '../../registry/options.ts';
import type { RequestMetrics } from '../../telemetry/request-metrics.ts';
import { RequestEnded, clientLeft } from '../open-request.ts';
import type { RequestContext } from '../request-context.ts';
import type { Serializers, StreamSerializer } from '../serializers.ts';
import { httpSink } from '../watch-sink.ts';
import type { WatchSink } from '../watch-sink.ts';
import { isUpgrade } from '../upgrade.ts';
import type { Websockets } from '../websocket.ts';
import { namespaceOf } from './read.ts';
import type { StoreHandler } from './resources.ts';

const { answerChunkBytes } = limits;

export interface WatchHandlerOptions {
  readonly metrics: RequestMetrics;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly minRequestTimeoutSeconds: number;
  readonly websockets: Websockets;
  readonly serializers: Serializers;
}

export function watchHandler(options: WatchHandlerOptions): StoreHandler {
  return async function watch(store, request, response) {
    const open = request.context;
    const serializer = options.serializers.ofWatch(request, store.resource);
    if (isUpgrade(request)) options.websockets.check(request, response);
    const listOptions = parseListOptions(open.info.query);
    const answer = await store.watch({
      namespace: namespaceOf(open.info),
      name: open.info.name,
      options: listOptions,
      signal: open.signal,
    });
    const seconds = answer.timeoutSeconds ?? chosenTimeoutSeconds(options.minRequestTimeoutSeconds);
    try {
      const sink = isUpgrade(request)
        ? await options.websockets.accept(request, response, serializer)
        : httpSink(request, response, serializer.contentType);
      open.startStreaming(open.receivedAtMs + seconds * 1000);
      const ending = await pump(answer.cursor, sink, serializer, open, options);
      finish(sink, ending, answer, serializer);
    } finally {
      answer.cursor.close();
    }
  };
}

/** Random between the shortest time and twice as long, so that watches do not all end together. */
const chosenTimeoutSeconds = (shortest: number): number => shortest * (1 + Math.random());

interface Ending {
  /** undefined: the cursor was closed. */
  readonly reason: unknown;
  /** Events that the cursor gave and that were not written. */
  readonly unwrittenCount: number;
}

/** Writes until the stream must end. */
async function pump(
  cursor: WatchCursor,
  sink: WatchSink,
  serializer: StreamSerializer,
  open: RequestContext,
  { metrics, clock }: Pick<WatchHandlerOptions, 'metrics' | 'clock'>,
): Promise<Ending> {
  const { signal, labels } = open;
  let unwrittenCount = 0;
  try {
    for (;;) {
      const events = await cursor.next(signal);
      if (events === undefined) return { reason: undefined, unwrittenCount };
      unwrittenCount = events.length;
      let bytes = 0;
      let flushedBytes = 0;
      for (const event of events) {
        const frame = serializer.frame(event);
        bytes += frame.length;
        sink.write(frame);
        unwrittenCount--;
        if (event.initialEventsEnd === true) {
          metrics.watchListed(labels, (clock.monotonicMs() - open.receivedAtMs) / 1000);
        }
        if (bytes - flushedBytes < answerChunkBytes) continue;
        flushedBytes = bytes; // a large batch, such as initial state, goes out in parts
        if (sink.flush()) await nextTurn();
        else await sink.drained(signal);
        signal.throwIfAborted();
      }
      const keepsUp = sink.flush();
      open.responseBytes += bytes;
      metrics.watchEvents(labels, events.length, bytes);
      if (!keepsUp) await sink.drained(signal);
    }
  } catch (reason) {
    return { reason, unwrittenCount };
  }
}

/**
 * The last words of a stream: an ERROR event when its position is gone, a bookmark when it ends in
 * peace. No bookmark after events that were not written: the client would never ask for them.
 */
function finish(
  sink: WatchSink,
  { reason, unwrittenCount }: Ending,
  answer: { readonly cursor: WatchCursor; readonly allowBookmarks: boolean },
  serializer: StreamSerializer,
): void {
  if (reason === clientLeft) {
    sink.destroy();
    return;
  }
  if (reason instanceof StatusError) sink.write(serializer.error(reason));
  else if (reason !== undefined && !(reason instanceof RequestEnded)) {
    sink.destroy();
    throw reason as Error;
  } else if (answer.allowBookmarks && unwrittenCount === 0 && answer.cursor.position > 0) {
    sink.write(serializer.bookmark(answer.cursor.position));
  }
  sink.flush();
  sink.end();
}
