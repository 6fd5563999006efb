// Leases for values with a time to live, shared: many puts that end at about the same time use one
// lease. Guarantee: a value lives at least as long as asked, and at most 5 % (at least 1 s, at most
// 60 s) longer.
import { limits } from '../base/limits.ts';
import type { Clock } from '../base/clock.ts';
import type { EtcdConnection } from './connection.ts';
import { unorderedWrite } from './connection.ts';
import { leaseGrantMethod } from './rpc.ts';
import type { Identifier } from './rpc.ts';

const { keysPerLeaseMax, leasesMax } = limits;

interface SharedLease {
  readonly id: Promise<Identifier>;
  /** Monotonic; a lower bound, since it counts from before the grant was sent. */
  readonly endsAtMs: number;
  keyCount: number;
}

export class LeasePool {
  readonly #connection: EtcdConnection;
  readonly #clock: Clock;
  #leases: SharedLease[] = [];

  constructor(connection: EtcdConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** A lease that ends no earlier than `ttlSeconds` from now. */
  async leaseFor(ttlSeconds: number, signal: AbortSignal): Promise<Identifier> {
    const nowMs = this.#clock.monotonicMs();
    const endMs = nowMs + ttlSeconds * 1_000;
    const slackMs = slackSeconds(ttlSeconds) * 1_000;
    const shared = this.#leases.find(
      (lease) =>
        lease.endsAtMs >= endMs &&
        lease.endsAtMs <= endMs + slackMs &&
        lease.keyCount < keysPerLeaseMax,
    );
    const lease = shared ?? this.#grant(ttlSeconds + slackSeconds(ttlSeconds), nowMs, signal);
    lease.keyCount++;
    try {
      return await lease.id;
    } catch (error) {
      this.#drop(lease);
      // The grant belonged to another put and was aborted with it: this one asks for its own.
      if (shared !== undefined && !signal.aborted) return this.leaseFor(ttlSeconds, signal);
      throw error;
    }
  }

  /** Call when etcd says that a lease does not exist: it is not handed out again. */
  async forget(id: Identifier): Promise<void> {
    const text = id.toString();
    for (const lease of [...this.#leases]) {
      if ((await lease.id).toString() === text) this.#drop(lease);
    }
  }

  #grant(ttlSeconds: number, nowMs: number, signal: AbortSignal): SharedLease {
    const request = { TTL: Math.ceil(ttlSeconds) };
    const granted = this.#connection.call(leaseGrantMethod, request, unorderedWrite, signal);
    const id = granted.then((response) => response.ID);
    // The puts that wait for it handle the failure; this keeps it from being unhandled.
    id.catch(() => undefined);
    const lease = { id, endsAtMs: nowMs + Math.ceil(ttlSeconds) * 1_000, keyCount: 0 };
    this.#leases = this.#leases.filter((other) => other.endsAtMs > nowMs);
    this.#leases.push(lease);
    if (this.#leases.length > leasesMax) {
      this.#drop(this.#leases.reduce((a, b) => (a.endsAtMs <= b.endsAtMs ? a : b)));
    }
    return lease;
  }

  #drop(lease: SharedLease): void {
    this.#leases = this.#leases.filter((other) => other !== lease);
  }
}

export const slackSeconds = (ttlSeconds: number): number =>
  Math.min(60, Math.max(1, Math.ceil(ttlSeconds * 0.05)));
