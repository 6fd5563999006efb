// Framing around objects that are already encoded as JSON: list envelopes and watch events.
// Nothing here decodes or encodes an object; lists and watches are concatenations.
import type { WatchEventType } from './codec.ts';

/** metadata of a list response. */
export interface ListMeta {
  readonly resourceVersion: string;
  /** Token for the next chunk; absent at the end. */
  readonly continue?: string | undefined;
  readonly remainingItemCount?: number | undefined;
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text);

/** Stands between two entries of a list. */
export const listSeparator: Uint8Array = bytesOf(',');
export const listClose: Uint8Array = bytesOf(']}\n');

/** Up to and including the bracket of `items`. */
export function listOpen(kind: string, apiVersion: string, metadata: ListMeta): Uint8Array {
  return bytesOf(`${envelope(kind, apiVersion, metadata)},"items":[`);
}

/** `{"kind":…,"apiVersion":…,"metadata":{…}`: an object left open, for lists and Tables. */
export function envelope(kind: string, apiVersion: string, metadata: ListMeta): string {
  const text = JSON.stringify({ kind, apiVersion, metadata: listMetaObject(metadata) });
  return text.slice(0, -1);
}

/** List metadata as the API writes it: empty values are left out. */
export function listMetaObject(metadata: ListMeta): Record<string, string | number> {
  const { resourceVersion, continue: token, remainingItemCount } = metadata;
  return {
    ...(resourceVersion === '' ? {} : { resourceVersion }),
    ...(token === undefined || token === '' ? {} : { continue: token }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

const eventOpenings: Readonly<Record<WatchEventType, Uint8Array>> = {
  ADDED: eventOpening('ADDED'),
  MODIFIED: eventOpening('MODIFIED'),
  DELETED: eventOpening('DELETED'),
  BOOKMARK: eventOpening('BOOKMARK'),
  ERROR: eventOpening('ERROR'),
};

function eventOpening(type: string): Uint8Array {
  return bytesOf(`{"type":"${type}","object":`);
}

/** Each event is one line. */
const eventClose: Uint8Array = bytesOf('}\n');

/**
 * One whole event in one allocation, for those that send it many times (or as one WebSocket
 * message).
 */
export function watchEvent(type: WatchEventType, object: Uint8Array): Uint8Array {
  return Buffer.concat([eventOpenings[type], object, eventClose]);
}
