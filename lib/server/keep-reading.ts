// Undoes a pause of Node's: a connection whose last answer is still on its way to the kernel when
// the next request comes is paused between two pieces of that request's body. TLS goes on handing
// out what it has decrypted, the paused parser refuses it (HPE_PAUSED), and the connection is lost.
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';

/**
 * To be called for each request of HTTP/1.1 as it begins. Clients that wait for their answers have
 * at most one that is still being sent; who sends on without reading any is paused as ever, which
 * bounds what waits for them.
 */
export function keepReading(socket: Socket, connections: Connections): void {
  // Node has no public name for it; without it nothing is done.
  const paused = socket as Socket & { _paused?: boolean };
  if (paused._paused !== true) return;
  if ((connections.ofSocket(socket)?.openRequests ?? 0) > 1) return;
  paused._paused = false;
  socket.resume();
}
