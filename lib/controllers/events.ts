// Events of the server's own controllers: told once to whoever looks at an object. Best effort: one
// that cannot be written is a line of the log alone.
import { randomUUID } from 'node:crypto';
import { dns1123SubdomainProblems } from '../api/name-rules.ts';
import type { Clock } from '../base/clock.ts';
import { formatTime } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
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

/** The object that an event is about. */
export interface InvolvedObject {
  readonly kind: string;
  readonly apiVersion: string;
  /** '': its events are in `default`. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Of the version that the event is about, where it is of one. */
  readonly resourceVersion?: string;
}

/** What an event says; reasons are one word. */
export interface Occurrence {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export async function recordEvent(
  { events, client, clock, log, component }: EventRecorderOptions,
  { namespace: place, ...about }: InvolvedObject,
  occurrence: Occurrence,
  signal: AbortSignal,
): Promise<void> {
  if (events === undefined) return;
  const namespace = place === '' ? 'default' : place;
  const uuid = randomUUID();
  const named = `${about.name}.${uuid}`;
  const isName = dns1123SubdomainProblems(named).length === 0;
  const time = formatTime(clock.nowMs());
  const object = {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: isName ? named : uuid, namespace },
    involvedObject: { ...about, ...(place === '' ? {} : { namespace: place }) },
    ...occurrence,
    source: { component },
    reportingComponent: component,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
  try {
    await client.create(events, { namespace, object }, signal);
  } catch (error) {
    if (signal.aborted) return;
    const fields = { object: about.name, namespace, reason: String(error) };
    log.info('an event could not be written', fields);
  }
}
