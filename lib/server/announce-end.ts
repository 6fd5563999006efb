// GOAWAY, and reading on after it: Node reads nothing more from a session without an open stream
// once a GOAWAY was sent, so it would not see the end of a client that heeds it.
import { constants } from 'node:http2';
import type { Http2Session } from 'node:http2';
import { limits } from '../base/limits.ts';

const told = new WeakSet<Http2Session>();

/**
 * Requests that are being answered are finished. One that crosses the GOAWAY is not begun: nghttp2
 * takes no stream after any GOAWAY, so the client is told the last one that was, and repeats what
 * came later elsewhere (RFC 9113, section 6.8). Once for a session, however often it is called.
 */
export function announceEnd(session: Http2Session): void {
  if (session.destroyed || session.closed || told.has(session)) return;
  told.add(session);
  session.goaway(constants.NGHTTP2_NO_ERROR);
  const reading = setInterval(() => {
    readOn(session);
  }, limits.leavingSessionReadMs);
  session.once('close', () => {
    clearInterval(reading);
  });
}

/** Node has no public name for it; without it nothing is done. */
function readOn(session: Http2Session): void {
  if (session.destroyed) return;
  const { _handle } = session.socket as { readonly _handle?: { readStart?(): void } | null };
  _handle?.readStart?.();
}
