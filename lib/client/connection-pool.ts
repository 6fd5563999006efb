// The kept connections of one target. A call takes a free one, or waits for the first that becomes
// free or is made for it; their number is bounded. Connections of former settings are not kept.
import { limits } from '../base/limits.ts';
import { CallError } from './call-error.ts';
import type { CallProgress } from './call-progress.ts';
import { Connection } from './connection.ts';
import type { Dialer } from './dial.ts';
import type { Incoming, Outgoing } from './exchange.ts';
import type { TargetSettings } from './target-settings.ts';

/** A call that has no connection yet. */
interface Waiting {
  readonly progress: CallProgress;
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: Error) => void;
  /** Whether a connection is being made for it; it may get another one before. */
  isDialedFor: boolean;
}

export class ConnectionPool {
  readonly #dialer: Dialer;
  #settings: TargetSettings;
  /** The one that was used last comes first: those of a busy hour get old and go. */
  #free: Connection[] = [];
  /** The longest waiting one first. */
  readonly #waiting = new Set<Waiting>();
  /** Connections: open, and being made. */
  #count = 0;
  #dialingCount = 0;
  #isClosed = false;

  constructor(dialer: Dialer, settings: TargetSettings) {
    this.#dialer = dialer;
    this.#settings = settings;
  }

  /** @throws CallError, or what ended the call */
  async exchange(outgoing: Outgoing, progress: CallProgress): Promise<Incoming> {
    for (;;) {
      const connection = this.#free.pop() ?? (await this.#wait(progress));
      try {
        const incoming = await connection.exchange(outgoing, progress);
        if (incoming !== 'stale') return incoming;
      } catch (error) {
        if (isSilent(progress, error)) this.#leave(connection);
        throw error;
      } finally {
        this.#giveBack(connection);
      }
    }
  }

  /** Connections are made with these from now on; none that was made before is kept. */
  renew(settings: TargetSettings): void {
    this.#settings = settings;
    this.#retire(() => true);
  }

  /** Connections are closed as soon as nobody needs them. */
  close(): void {
    this.#isClosed = true;
    this.#retire(() => true);
  }

  #wait(progress: CallProgress): Promise<Connection> {
    const pendingMax = limits.clientPendingCallsMax;
    const isFull = this.#count >= limits.clientConnectionsMax;
    return new Promise((resolve, reject) => {
      if (progress.endedWith !== undefined) {
        reject(progress.endedWith);
      } else if (isFull && this.#waiting.size - this.#dialingCount >= pendingMax) {
        reject(progress.failed({ kind: 'overloaded', pendingMax }));
      } else {
        const waiting = { progress, resolve, reject, isDialedFor: false };
        this.#waiting.add(waiting);
        progress.enter('queue');
        progress.onEnd = (reason) => {
          this.#waiting.delete(waiting);
          reject(reason);
        };
        this.#dialWhereWaiting();
      }
    });
  }

  /** Makes connections for those that wait, as long as there may be more. */
  #dialWhereWaiting(): void {
    if (this.#count >= limits.clientConnectionsMax) return;
    for (const waiting of this.#waiting) {
      if (waiting.isDialedFor) continue;
      waiting.isDialedFor = true;
      void this.#dial(waiting);
      if (this.#count >= limits.clientConnectionsMax) return;
    }
  }

  /** Goes on when the one who waits gives up: handshakes that are broken off make more load. */
  async #dial(waiting: Waiting): Promise<void> {
    const settings = this.#settings;
    this.#count++;
    this.#dialingCount++;
    try {
      const dialing = this.#dialer.dial(settings, (step) => {
        if (this.#waiting.has(waiting)) waiting.progress.enter(step);
      });
      const outcome = await dialing.finally(() => this.#dialingCount--);
      if ('socket' in outcome) {
        const connection = new Connection(outcome, settings);
        this.#opened(connection);
        if (this.#waiting.delete(waiting)) waiting.resolve(connection);
        else this.#giveBack(connection);
      } else {
        const { failure, cause } = outcome;
        this.#count--;
        if (this.#waiting.delete(waiting)) waiting.reject(waiting.progress.failed(failure, cause));
      }
    } catch (error) {
      this.#count--;
      if (this.#waiting.delete(waiting)) waiting.reject(error as Error);
    }
    this.#dialWhereWaiting();
  }

  #opened(connection: Connection): void {
    const { addresses } = this.#dialer;
    addresses.opened(connection.address);
    connection.onceClosed(() => {
      addresses.closed(connection.address);
      this.#free = this.#free.filter((other) => other !== connection);
      this.#count--;
      this.#dialWhereWaiting();
    });
  }

  #giveBack(connection: Connection): void {
    if (!connection.isUsable) return;
    connection.keep();
    if (connection.settings !== this.#settings) {
      connection.close();
      return;
    }
    const [first] = this.#waiting;
    if (first !== undefined) {
      this.#waiting.delete(first);
      first.resolve(connection);
    } else if (this.#isClosed) connection.close();
    else this.#free.push(connection);
  }

  /** Its address is silent: the other connections to it would cost a call each to find that out. */
  #leave({ address }: Connection): void {
    this.#dialer.addresses.failed(address);
    this.#retire((other) => other.address.ip === address.ip && other.address.port === address.port);
  }

  #retire(isMeant: (connection: Connection) => boolean): void {
    for (const connection of this.#free.filter(isMeant)) connection.close();
    this.#free = this.#free.filter((connection) => !isMeant(connection));
  }
}

/** Whether nothing came back in the time that the call had. */
const isSilent = (progress: CallProgress, error: unknown): boolean =>
  error instanceof CallError &&
  error.failure.kind === 'timeout' &&
  (progress.step === 'send' || progress.step === 'header');
