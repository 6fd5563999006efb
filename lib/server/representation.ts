// How answers of one request look: media type and form (object, Table, metadata only), made once
// per item and shared.
import type { Item, WatchEvent } from '../cacher/resource-view.ts';
import type { ListAnswer } from '../registry/requests.ts';
import type { StatusBody, StatusError } from '../base/status.ts';

/** Pieces of one body; `totalBytes` is their sum. */
export interface Pieces {
  readonly totalBytes: number;
  [Symbol.iterator](): Iterator<Uint8Array>;
}

export interface Representation {
  readonly contentType: string;
  object(item: Item): Uint8Array;
  list(answer: ListAnswer): Promise<Pieces>;
  status(status: StatusBody): Uint8Array;
}

export interface WatchRepresentation {
  readonly contentType: string;
  /** One framed event, shared among all watchers of the same form. */
  frame(event: WatchEvent): Uint8Array;
  /** A frame as one message of a WebSocket, which needs no separation of its own. */
  message(frame: Uint8Array): Uint8Array;
  /** A bookmark at `revision`, for the end of a stream. */
  bookmark(revision: number): Uint8Array;
  /** An ERROR event. */
  error(error: StatusError): Uint8Array;
}
