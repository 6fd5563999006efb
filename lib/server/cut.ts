// Ends an answer that cannot be completed, so that the client never takes a part of it for the
// whole.
import { http2Code } from '../http2/frames.ts';
import type { HttpResponse } from './request-context.ts';

/** HTTP/1.1: closes the connection. HTTP/2: resets the one stream, with an error code. */
export function cut(response: HttpResponse): void {
  if ('stream' in response) response.stream.close(http2Code.internalError);
  else response.destroy();
}

/** Nobody can read an answer any more. */
export const isGone = (response: HttpResponse): boolean =>
  'stream' in response ? response.stream.isClosed : response.destroyed;
