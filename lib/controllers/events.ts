// Events of the server's own controllers: told once to whoever looks at an object. Best effort: one
// that cannot be written is a line of the log alone.
import { apiVersionOf } from '../api/type-info.ts';
import type { Clock } from '../base/clock.ts';
import { formatTime } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';

export interface EventRecorderOptions {
  /** Where events are stored; undefined: they are not served. */
  readonly events: ResourceStore | undefined;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** Who reports. */
  readonly component: string;
}

/** What an event says; reasons are one word. */
export interface Occurrence {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export async function recordEvent(
  { events, client, clock, log, component }: EventRecorderOptions,
  about: { readonly store: ResourceStore; readonly item: Item },
  { type, reason, message }: Occurrence,
  signal: AbortSignal,
): Promise<void> {
  if (events === undefined) return;
  const { store, item } = about;
  const { kind } = store.resource;
  const nowMs = clock.nowMs();
  const namespace = item.namespace === '' ? 'default' : item.namespace;
  const object = {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: `${item.name}.${Math.floor(nowMs * 1_000).toString(16)}`, namespace },
    involvedObject: {
      kind: kind.kind,
      apiVersion: apiVersionOf(kind),
      name: item.name,
      uid: item.object().metadata?.uid ?? '',
      resourceVersion: String(item.revision),
      ...(item.namespace === '' ? {} : { namespace }),
    },
    type,
    reason,
    message,
    source: { component },
    reportingComponent: component,
    firstTimestamp: formatTime(nowMs),
    lastTimestamp: formatTime(nowMs),
    count: 1,
  };
  try {
    await client.create(events, { namespace, object }, signal);
  } catch (error) {
    if (!signal.aborted) log.info('an event could not be written', { reason: String(error) });
  }
}
