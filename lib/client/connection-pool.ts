// The kept connections of one target. A call takes a free one, or waits for the first that becomes
// free or is made for it; their number is bounded. Connections of former settings, and to places
// where the target is no more, are not kept.
import { limits } from '../base/limits.ts';
import type { Address } from './addresses.ts';
import { CallError } from './call-error.ts';
import type { CallProgress } from './call-progress.ts';
import { Connection } from './connection.ts';
import type { Dialer } from './dial.ts';
import type { Incoming, Outgoing } from './exchange.ts';
import { placeText } from './socket-failure.ts';
import type { TargetSettings } from './target-settings.ts';

export interface PoolOptions {
  /** Calls that may wait for a connection; more fail at once. */
  readonly pendingMax: number;
  /** How long a kept connection may be idle. */
  readonly idleMs: number;
  /**
   * Calls take turns over so many connections, or over one to each address where these are more,
   * in place of the one that was used last.
   */
  readonly spreadCount: number;
  /** Where the target is, asked before each call: of memory, at no cost. undefined: unknown. */
  readonly places?: () => Places | undefined;
}

/** The same object until anything of it changes. */
export interface Places {
  readonly addresses: readonly Address[];
  /**
   * What answers behind the addresses, where these are not of what answers itself. A connection
   * goes to any one of them: none that was made before is kept once one of them is gone.
   */
  readonly behind?: ReadonlySet<string>;
}

/** Of a target that is one place: the fewest connections that serve. */
const onePlace: PoolOptions = {
  pendingMax: limits.clientPendingCallsMax,
  idleMs: limits.clientIdleConnectionMs,
  spreadCount: 0,
};

/** A call that has no connection yet. */
interface Waiting {
  readonly progress: CallProgress;
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: Error) => void;
  /** Only the connection that is made for it will do. */
  readonly needsFresh: boolean;
  /** Whether a connection is being made for it; it may get another one before. */
  isDialedFor: boolean;
}

export class ConnectionPool {
  readonly #dialer: Dialer;
  readonly #options: PoolOptions;
  #settings: TargetSettings;
  /** The one that was used last comes last. */
  #free: Connection[] = [];
  /** The longest waiting one first. */
  readonly #waiting = new Set<Waiting>();
  /** Connections: open, and being made. */
  #count = 0;
  #dialingCount = 0;
  #isClosed = false;
  #places: Places | undefined;

  constructor(dialer: Dialer, settings: TargetSettings, options: PoolOptions = onePlace) {
    this.#dialer = dialer;
    this.#settings = settings;
    this.#options = options;
  }

  get connectionCount(): number {
    return this.#count;
  }

  /** @throws CallError, or what ended the call */
  async exchange(outgoing: Outgoing, progress: CallProgress): Promise<Incoming> {
    this.#follow();
    let { repeatsOnNew } = outgoing;
    for (let needsFresh = false; ;) {
      const kept = needsFresh ? undefined : this.#take();
      const connection = kept ?? (await this.#wait(progress, needsFresh));
      const { isFresh } = connection;
      progress.address = placeText(
        connection.address.ip,
        connection.address.port ?? connection.settings.port,
      );
      try {
        const incoming = await connection.exchange(outgoing, progress);
        if (incoming !== 'stale') return incoming;
      } catch (error) {
        if (isSilent(progress, error)) this.#leave(connection);
        if (!repeatsOnNew || isFresh || !isClosedUnanswered(error)) throw error;
        repeatsOnNew = false;
        needsFresh = true;
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

  /**
   * Of those that calls take turns over, the one that was not used for longest; the others, from a
   * busy hour, get old and go.
   */
  #take(): Connection | undefined {
    if (this.#free.length === 0) return undefined;
    if (this.#options.spreadCount === 0) return this.#free.pop();
    const [taken] = this.#free.splice(Math.max(0, this.#free.length - this.#wantedCount()), 1);
    this.#spread();
    return taken;
  }

  #wantedCount(): number {
    const addressCount = this.#places?.addresses.length ?? 0;
    return Math.min(Math.max(this.#options.spreadCount, addressCount), limits.clientConnectionsMax);
  }

  /** One more connection, for later calls, while there are too few to be spread over. */
  #spread(): void {
    if (this.#dialingCount > 0 || this.#isClosed || this.#count >= this.#wantedCount()) return;
    const addresses = this.#places?.addresses ?? [];
    if (addresses.some((address) => this.#dialer.addresses.isResting(address))) return;
    void this.#dial(undefined);
  }

  /** Lets go of what is connected to where the target is no more. */
  #follow(): void {
    const places = this.#options.places?.();
    const before = this.#places;
    if (places === undefined || places === before) return;
    this.#places = places;
    const { behind } = places;
    if (before?.behind !== undefined && behind !== undefined) {
      if (!before.behind.isSubsetOf(behind)) this.renew({ ...this.#settings });
    }
    this.#retire((connection) => !this.#isCurrent(connection));
  }

  #isCurrent({ address, settings }: Connection): boolean {
    if (settings !== this.#settings) return false;
    const addresses = this.#places?.addresses ?? [];
    return (
      addresses.length === 0 ||
      addresses.some(({ ip, port }) => ip === address.ip && port === address.port)
    );
  }

  #wait(progress: CallProgress, needsFresh: boolean): Promise<Connection> {
    const { pendingMax } = this.#options;
    const isFull = this.#count >= limits.clientConnectionsMax;
    return new Promise((resolve, reject) => {
      if (progress.endedWith !== undefined) {
        reject(progress.endedWith);
      } else if (isFull && this.#waiting.size - this.#dialingCount >= pendingMax) {
        reject(progress.failed({ kind: 'overloaded', pendingMax }));
      } else {
        const waiting = { progress, resolve, reject, needsFresh, isDialedFor: false };
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

  /**
   * Goes on when the one who waits gives up: handshakes that are broken off make more load. Nobody
   * waits for one that is made for later calls, and nobody is told when it fails.
   */
  async #dial(waiting: Waiting | undefined): Promise<void> {
    const settings = this.#settings;
    const isWaiting = (): boolean => waiting !== undefined && this.#waiting.delete(waiting);
    this.#count++;
    this.#dialingCount++;
    try {
      const dialing = this.#dialer.dial(settings, (step, address) => {
        if (waiting === undefined || !this.#waiting.has(waiting)) return;
        waiting.progress.address = address;
        waiting.progress.enter(step);
      });
      const outcome = await dialing.finally(() => this.#dialingCount--);
      if ('socket' in outcome) {
        const connection = new Connection(outcome, settings, this.#options.idleMs);
        this.#opened(connection);
        if (isWaiting()) waiting?.resolve(connection);
        else this.#giveBack(connection);
      } else {
        const { failure, cause } = outcome;
        this.#count--;
        if (isWaiting()) waiting?.reject(waiting.progress.failed(failure, cause));
      }
    } catch (error) {
      this.#count--;
      if (isWaiting()) waiting?.reject(error as Error);
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
    if (!this.#isCurrent(connection)) {
      connection.close();
      return;
    }
    const first = this.#firstWaiting();
    if (first !== undefined) {
      this.#waiting.delete(first);
      first.resolve(connection);
    } else if (this.#isClosed) connection.close();
    else this.#free.push(connection);
  }

  #firstWaiting(): Waiting | undefined {
    for (const waiting of this.#waiting) if (!waiting.needsFresh) return waiting;
    return undefined;
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

const isClosedUnanswered = (error: unknown): boolean =>
  error instanceof CallError && error.failure.kind === 'closed' && !error.failure.begun;
