// Makes the representations of an answer: plain JSON from the cache's bytes as they are, other forms once per item.
import { apiVersionOf } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { StatusError } from '../base/status.ts';
import type { Item, WatchEvent } from '../cacher/resource-view.ts';
import { bookmarkObject, eventClose, eventOpen, listClose, listOpen, watchEvent } from '../codec/frame.ts';
import type { ListAnswer } from '../registry/requests.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Pieces, Representation, WatchRepresentation } from './representation.ts';

const json = 'application/json';
/** Between two entries, with the opening brace that `listTail` leaves out. */
const between = Buffer.from(',{');
const firstBrace = Buffer.from('{');

/** Objects as they are stored, in JSON. */
export function jsonRepresentation(store: ResourceStore): Representation {
  const { resource } = store;
  const apiVersion = apiVersionOf(resource.kind);
  return {
    contentType: json,
    object: (item) => item.json(),
    list: (answer) => {
      const open = listOpen(resource.listKind, apiVersion, {
        resourceVersion: String(answer.revision),
        continue: answer.continueToken,
        remainingItemCount: answer.remainingItemCount,
      });
      return piecesOf(open, answer.items);
    },
  };
}

function piecesOf(open: Uint8Array, items: readonly Item[]): Pieces {
  const tails = items.map((item) => item.listTail());
  const separators = tails.length === 0 ? 0 : firstBrace.length + between.length * (tails.length - 1);
  const tailBytes = tails.reduce((sum, tail) => sum + tail.length, 0);
  return {
    totalBytes: open.length + separators + tailBytes + listClose.length,
    *[Symbol.iterator]() {
      yield open;
      let separator: Uint8Array = firstBrace;
      for (const tail of tails) {
        yield separator;
        yield tail;
        separator = between;
      }
      yield listClose;
    },
  };
}

export function jsonWatchRepresentation(
  store: ResourceStore,
  naming: NamingProfile,
): WatchRepresentation {
  const { kind } = store.resource;
  const names = { kind: kind.kind, apiVersion: apiVersionOf(kind) };
  const bookmark = (revision: number, isEnd: boolean): Uint8Array => {
    const initialEventsEnd = isEnd ? naming.initialEventsEndAnnotation : undefined;
    return watchEvent('BOOKMARK', bookmarkObject({ ...names, revision, initialEventsEnd }));
  };
  const frameOf = ({ type, item, revision, initialEventsEnd }: WatchEvent): Uint8Array =>
    item === undefined
      ? bookmark(revision, initialEventsEnd === true)
      : Buffer.concat([eventOpen(type), item.json(), eventClose]);
  return {
    contentType: json,
    frame: (event) => event.memo(json, frameOf),
    bookmark: (revision) => bookmark(revision, false),
    error: errorFrame,
  };
}

export const errorFrame = (error: StatusError): Uint8Array =>
  watchEvent('ERROR', Buffer.from(JSON.stringify(error.toBody())));
