// A watch: cursor to frames to the client, over HTTP or a WebSocket. A slow client holds its
// position, nothing is queued.
import type { Clock } from '../../base/clock.ts';
import { StatusError } from '../../base/status.ts';
import type { WatchCursor } from '../../cacher/resource-view.ts';
import { parseListOptions } from '../../registry/options.ts';
import type { RequestMetrics } from '../../telemetry/request-metrics.ts';
import { RequestEnded, clientLeft } from '../open-request.ts';
import type { Serializers, StreamSerializer } from '../serializers.ts';
import { httpSink } from '../watch-sink.ts';
import { WatchPump } from '../watch-pump.ts';
import type { Ending } from '../watch-pump.ts';
import type { WatchSink } from '../watch-sink.ts';
import { isUpgrade } from '../upgrade.ts';
import type { Websockets } from '../websocket.ts';
import { namespaceOf } from './read.ts';
import type { StoreHandler } from './resources.ts';

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
      const { metrics, clock } = options;
      const { cursor } = answer;
      const pump = new WatchPump({ cursor, sink, serializer, open, metrics, clock });
      const ending = await pump.run();
      finish(sink, ending, answer, serializer);
    } finally {
      answer.cursor.close();
    }
  };
}

/** Random between the shortest time and twice as long, so that watches do not all end together. */
const chosenTimeoutSeconds = (shortest: number): number => shortest * (1 + Math.random());

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
