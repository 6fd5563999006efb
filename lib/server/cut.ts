// Ends an answer that cannot be completed, so that the client never takes a part of it for the
// whole.
import { constants } from 'node:http2';
import type { HttpResponse } from './request-context.ts';

/** HTTP/1.1: closes the connection. HTTP/2: resets the one stream, with an error code. */
export function cut(response: HttpResponse): void {
  if ('stream' in response) {
    if (!response.stream.destroyed) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  } else response.destroy();
}

/** Nobody can read an answer any more. */
export const isGone = (response: HttpResponse): boolean =>
  'stream' in response ? response.stream.destroyed : response.destroyed;
