// Where connections come from when this process does not listen itself: another one does, and hands
// them over before it has read anything.
import type { Socket } from 'node:net';

export interface ConnectionSource {
  /**
   * From now on `take` is given each connection. Resolves with the port that they come to.
   * @throws Error of the system: `listen` failed
   */
  open(
    at: { readonly bindAddress: string; readonly port: number },
    take: (socket: Socket) => void,
  ): Promise<number>;
  /** Resolves when there are no more to come. */
  close(): Promise<void>;
}
