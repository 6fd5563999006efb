// One replica works at a time: a Lease, written by compare-and-swap and renewed. Its time is
// measured by each replica's own clock since it saw a change, so clocks need not agree. Two may
// still work for a moment (a paused process): the term keeps the earlier one from writing.
import { recordAt, textAt } from '../api/json-access.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonObject } from '../api/type-info.ts';
import { pause } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Term } from '../storage-etcd/fenced-storage.ts';
import type { Storage } from '../storage-etcd/storage.ts';

export interface LeaderOptions {
  readonly leases: ResourceStore;
  readonly namespace: string;
  readonly name: string;
  /** Names this process: another one, or a later start, has another text. */
  readonly identity: string;
  readonly client: InternalClient;
  /** Where terms are told apart: by the fence key, put while the Lease's key is as it was taken. */
  readonly storage: Storage;
  readonly leaseKey: string;
  readonly fenceKey: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly leaseSeconds?: number;
  readonly renewIntervalMs?: number;
  readonly renewDeadlineMs?: number;
}

/** The Lease as this replica wrote it, and when that began. */
interface Taken {
  readonly lease: Item;
  readonly atMs: number;
}

export class Leader {
  readonly #options: LeaderOptions;
  readonly #leaseMs: number;
  readonly #renewIntervalMs: number;
  readonly #renewDeadlineMs: number;
  #isLeading = false;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#leaseMs = (options.leaseSeconds ?? limits.leaderLeaseSeconds) * 1000;
    this.#renewIntervalMs = options.renewIntervalMs ?? limits.leaderRenewIntervalMs;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? limits.leaderRenewDeadlineMs;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /**
   * Runs `work` whenever this replica leads, until the signal fires; releases the Lease then. What
   * `work` writes it writes within its term.
   */
  async run(
    work: (signal: AbortSignal, term: Term) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      const taken = await this.#acquire(signal);
      if (taken === undefined) return;
      const leading = new AbortController();
      const lose = (): void => leading.abort(new Error('the replica leads no longer'));
      signal.addEventListener('abort', lose, { once: true });
      const last = await this.#lead(taken, (term) => work(leading.signal, term), leading);
      signal.removeEventListener('abort', lose);
      if (last !== undefined) await this.#release(last);
      if (!signal.aborted) await pause(this.#options.clock, this.#renewIntervalMs, signal);
    }
  }

  /** @returns the Lease as it was last written, where it may still be this replica's. */
  async #lead(
    taken: Taken,
    work: (term: Term) => Promise<void>,
    leading: AbortController,
  ): Promise<Item | undefined> {
    const { log, name, identity } = this.#options;
    const lose = (): void => leading.abort(new Error('the replica leads no longer'));
    const term = await this.#beginTerm(taken, lose, leading.signal);
    if (term === undefined) return taken.lease;
    log.info('leads the controllers', { lease: name, identity });
    this.#isLeading = true;
    const working = work(term).catch((error: unknown) => {
      if (!leading.signal.aborted) log.error('the work of the leader ended', { error });
      lose();
    });
    const last = await this.#renew(taken, leading.signal);
    lose();
    await working;
    this.#isLeading = false;
    log.info('leads the controllers no longer', { lease: name });
    return last;
  }

  /**
   * Ends the term before, for whoever had it, unless the Lease was written since it was taken: then
   * a replica that took it in a pause between the two would be the one that is ended.
   * @returns undefined where it was, or where etcd does not answer.
   */
  async #beginTerm(
    { lease, atMs }: Taken,
    ended: () => void,
    signal: AbortSignal,
  ): Promise<Term | undefined> {
    const { storage, leaseKey, fenceKey, identity, clock, log } = this.#options;
    const { epoch } = storage;
    const leftMs = atMs + this.#renewDeadlineMs - clock.monotonicMs();
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, Math.ceil(leftMs)))]);
    const conditions = [{ key: leaseKey, expected: lease.revision }];
    const value = Buffer.from(identity);
    const changes = [{ type: 'put', key: fenceKey, value } as const];
    try {
      const result = await storage.transact({ conditions, changes, epoch }, inTime);
      if (!result.ok) return undefined;
      const fence = { key: fenceKey, expected: result.revision };
      return { fence, history: epoch.history, ended };
    } catch (error) {
      if (!signal.aborted) log.warn('the term could not begin', { reason: String(error) });
      return undefined;
    }
  }

  /** undefined: the signal fired first. */
  async #acquire(signal: AbortSignal): Promise<Taken | undefined> {
    let seen = { revision: -1, atMs: 0 };
    for (;;) {
      if (signal.aborted) return undefined;
      try {
        const lease = await this.#read(signal);
        const nowMs = this.#options.clock.monotonicMs();
        if (seen.revision !== (lease?.revision ?? 0)) {
          seen = { revision: lease?.revision ?? 0, atMs: nowMs };
        }
        const leftMs = seen.atMs + this.#leaseMsOf(lease) - nowMs;
        if (lease === undefined || holderOf(lease) === '' || leftMs <= 0) {
          const taken = await this.#write(lease, this.#options.identity, signal);
          if (taken !== undefined) return { lease: taken, atMs: nowMs };
        } else {
          await this.#untilChanged(lease, leftMs, signal);
        }
      } catch (error) {
        if (signal.aborted) return undefined;
        this.#options.log.warn('the leader cannot be determined yet', { reason: String(error) });
        await pause(this.#options.clock, this.#renewIntervalMs, signal);
      }
    }
  }

  /** Renews until the signal fires (gives the lease then) or the lead is lost (gives undefined). */
  async #renew(taken: Taken, signal: AbortSignal): Promise<Item | undefined> {
    const { clock, identity, log } = this.#options;
    let { lease, atMs: renewedAtMs } = taken;
    for (;;) {
      await pause(this.#options.clock, this.#renewIntervalMs, signal);
      if (signal.aborted) return lease;
      const leftMs = renewedAtMs + this.#renewDeadlineMs - clock.monotonicMs();
      if (leftMs <= 0) return undefined;
      const startedAtMs = clock.monotonicMs();
      try {
        const inTime = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(leftMs))]);
        let next = await this.#write(lease, identity, inTime);
        if (next === undefined) {
          // Another leader, an operator, or we ourselves with an answer that got lost.
          const now = await this.#read(inTime);
          if (now === undefined || holderOf(now) !== identity) return undefined;
          next = now;
        }
        lease = next;
        renewedAtMs = startedAtMs;
      } catch (error) {
        if (signal.aborted) return lease;
        log.warn('the lead could not be renewed; tries again', { reason: String(error) });
      }
    }
  }

  /** Best effort: without it, the next leader waits for the end of the lease. */
  async #release(lease: Item): Promise<void> {
    const signal = AbortSignal.timeout(limits.leaderReleaseTimeoutMs);
    try {
      if ((await this.#write(lease, '', signal)) !== undefined) return;
      // A renewal that the end cut short may have been stored.
      const now = await this.#read(signal);
      if (holderOf(now) === this.#options.identity) await this.#write(now, '', signal);
    } catch (error) {
      this.#options.log.warn('the lead was not given back', { reason: String(error) });
    }
  }

  /** undefined: someone else wrote first. */
  async #write(
    old: Item | undefined,
    holder: string,
    signal: AbortSignal,
  ): Promise<Item | undefined> {
    const { leases, namespace, name, client } = this.#options;
    const object = this.#leaseObject(old, holder);
    try {
      if (old === undefined) return await client.create(leases, { namespace, object }, signal);
      const path = { namespace, name, subresource: '' };
      return await client.update(leases, { path, object }, signal);
    } catch (error) {
      const isLost = error instanceof StatusError && [404, 409].includes(error.code);
      if (isLost && old !== undefined) return undefined;
      if (error instanceof StatusError && error.code === 409) return undefined;
      throw error;
    }
  }

  #leaseObject(old: Item | undefined, holder: string): JsonObject {
    const { leases, namespace, name, clock } = this.#options;
    const spec = old === undefined ? {} : specOf(old);
    const now = new Date(clock.nowMs()).toISOString().replace('Z', '000Z');
    const isSame = holderOf(old) === holder;
    const transitions = Number(spec['leaseTransitions'] ?? 0);
    const { kind } = leases.resource;
    return {
      kind: kind.kind,
      apiVersion: apiVersionOf(kind),
      metadata: {
        name,
        namespace,
        ...(old === undefined ? {} : { resourceVersion: String(old.revision) }),
      },
      spec: {
        holderIdentity: holder,
        leaseDurationSeconds: Math.ceil(this.#leaseMs / 1000),
        acquireTime: isSame ? (spec['acquireTime'] ?? now) : now,
        renewTime: now,
        leaseTransitions:
          isSame || old === undefined || holder === '' ? transitions : transitions + 1,
      },
    };
  }

  async #read(signal: AbortSignal): Promise<Item | undefined> {
    const { leases, namespace, name } = this.#options;
    return leases.view.get({ namespace, name }, { mode: 'latest' }, signal);
  }

  /** Another release may hold the lease with another time. */
  #leaseMsOf(lease: Item | undefined): number {
    const seconds = lease === undefined ? 0 : Number(specOf(lease)['leaseDurationSeconds'] ?? 0);
    return seconds > 0 ? seconds * 1000 : this.#leaseMs;
  }

  /** Resolves at the next change of the lease, or when its time is over. */
  async #untilChanged(lease: Item, leftMs: number, signal: AbortSignal): Promise<void> {
    const { leases, namespace, name, clock } = this.#options;
    const waiting = new AbortController();
    const stop = (): void => waiting.abort(new Error('the wait is over'));
    const cancel = clock.after(leftMs, stop);
    signal.addEventListener('abort', stop, { once: true });
    try {
      const start = { from: 'revision' as const, revision: lease.revision };
      const select = { namespace, name };
      const cursor = await leases.view.watch(select, start, { bookmarks: false }, waiting.signal);
      try {
        await cursor.next(waiting.signal);
      } finally {
        cursor.close();
      }
    } catch (error) {
      // The history before the lease's last change may be gone: then time alone decides.
      if (!waiting.signal.aborted)
        await pause(this.#options.clock, this.#renewIntervalMs, waiting.signal);
      if (!(error instanceof StatusError) && !waiting.signal.aborted) throw error;
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
  }
}

const specOf = (lease: Item): Readonly<JsonObject> => recordAt(lease.object(), 'spec') ?? {};

const holderOf = (lease: Item | undefined): string =>
  lease === undefined ? '' : textAt(specOf(lease), 'holderIdentity');
