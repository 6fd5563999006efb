// Accepts the names of definitions and keeps their other conditions, on every replica and without a
// leader. The replica that took a write acts at once; the others wait a little and act where
// nothing came of it. Each write holds only as long as nobody else has accepted names in the group.
import { formatTime, pause } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import { StatusError } from '../../base/status.ts';
import { nextTurn } from '../../base/turn.ts';
import { Yielder } from '../../base/yielder.ts';
import { cloneJson } from '../../api/json-value.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { follow } from '../../cacher/follow.ts';
import type { Follower } from '../../cacher/follow.ts';
import type { Item, WatchCursor } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isDeleting } from '../../codec/object-meta.ts';
import type { InternalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { Keyspace } from '../../storage-etcd/keys.ts';
import type { Storage } from '../../storage-etcd/storage.ts';
import { KeyedQueue } from '../controller.ts';
import type { Controller, Outcome, QueueObserver } from '../controller.ts';
import { DefinitionGroups } from './definition-groups.ts';
import type { DefinitionGroup } from './definition-groups.ts';
import { judgeStatus } from './definition-status.ts';
import type { StatusVerdict } from './definition-status.ts';
import { ClaimLost } from './group-claim.ts';
import type { OwnWrites } from './own-writes.ts';
import { Structures } from './structures.ts';

export interface DefinitionAcceptanceOptions {
  readonly definitions: ResourceStore;
  readonly storage: Storage;
  readonly keyspace: Keyspace;
  readonly ownWrites: Pick<OwnWrites, 'has' | 'onNote'>;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

export class DefinitionAcceptance implements Controller {
  readonly name = 'definition_names';
  readonly #options: DefinitionAcceptanceOptions;
  readonly #groups: DefinitionGroups;
  readonly #structures: Structures;
  readonly #queue: KeyedQueue;
  #cursor: Pick<WatchCursor, 'position'> | undefined;

  constructor(options: DefinitionAcceptanceOptions) {
    const { clock, log, observer, naming, storage, keyspace } = options;
    this.#options = options;
    this.#groups = new DefinitionGroups(storage, keyspace);
    this.#structures = new Structures(naming);
    this.#queue = new KeyedQueue({ name: this.name, clock, log, observer }, (group, running) =>
      this.#settleGroup(group, running),
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    const { definitions, ownWrites, log } = this.#options;
    ownWrites.onNote((name) => {
      const group = this.#groups.of(name);
      if (group?.open.has(name) === true) this.#queue.add(group.name);
    });
    const { view } = definitions;
    const select = { showsUnreadable: true };
    const following = follow(this.#follower(), { view, select, log, isPrompt: true }, signal);
    await Promise.all([this.#queue.run(signal), following]);
    for (const group of this.#groups.all) group.cancelWait?.();
  }

  #follower(): Follower {
    return {
      opened: (cursor) => (this.#cursor = cursor),
      restarted: () => {
        this.#cursor = undefined;
        this.#groups.clear();
      },
      present: (item) => {
        if (item.corrupted) return; // what was known of it stays true until it can be read again
        const group = this.#groups.place(item);
        if (group !== undefined) this.#await(group, item.name);
      },
      absent: (item) => {
        this.#structures.forget(item.name);
        // Who was refused waits for it, on any replica; it is rare enough for all to try at once.
        const group = this.#groups.remove(item);
        if (group !== undefined) this.#queue.add(group.name);
      },
    };
  }

  /** Where nothing is to be done, that is seen when it is looked at. */
  #await(group: DefinitionGroup, name: string): void {
    const { clock, ownWrites } = this.#options;
    if (ownWrites.has(name)) {
      this.#queue.add(group.name);
      return;
    }
    const spreadMs = Math.random() * limits.definitionTakeoverSpreadMs;
    group.cancelWait ??= clock.after(limits.definitionTakeoverMs + spreadMs, () => {
      group.cancelWait = undefined;
      this.#queue.add(group.name);
    });
  }

  async #settleGroup(name: string, signal: AbortSignal): Promise<Outcome> {
    const group = this.#groups.get(name);
    if (group === undefined) return 'done';
    for (let lostCount = 0; lostCount <= limits.definitionClaimRacesMax; lostCount++) {
      try {
        if (await this.#hasSettled(group, signal)) return 'done';
      } catch (error) {
        if (!(error instanceof ClaimLost)) throw error;
      }
      // Whoever won goes on with the next one meanwhile: all of a group at once are no race.
      const pauseMs = Math.random() * Math.min(2 ** lostCount, limits.definitionRacePauseMs);
      await pause(this.#options.clock, pauseMs, signal);
      signal.throwIfAborted();
    }
    return 'again';
  }

  /** False: not yet, as this replica has not seen what others have accepted. @throws ClaimLost. */
  async #hasSettled(group: DefinitionGroup, signal: AbortSignal): Promise<boolean> {
    const yielder = new Yielder();
    if (group.isEmpty) {
      await group.claim.remove(signal);
      this.#groups.forget(group);
      return true;
    }
    const { definitions } = this.#options;
    const store = definitions.over(() => group.claim.storage());
    let hasFailed = false;
    for (const name of group.open) {
      if (yielder.isDue()) await yielder.yield();
      // Most are as they should be, and no time is spent on what others know.
      if ((await this.#judge(group, name)) === undefined) continue;
      if (!(await this.#hasSeenOthers(group, signal))) return false;
      const wished = await this.#judge(group, name);
      if (wished === undefined) continue;
      const isWritten = await this.#isWritten(group, store, wished, signal);
      hasFailed ||= !isWritten;
    }
    if (hasFailed) throw new Error('the status of some definitions of the group was refused');
    return true;
  }

  /** undefined: nothing is to be done about it. */
  async #judge(group: DefinitionGroup, name: string): Promise<Wished | undefined> {
    const { definitions, naming, clock } = this.#options;
    const item = definitions.view.peek({ namespace: '', name });
    if (item === undefined || item.corrupted || isDeleting(item.object())) {
      group.open.delete(name);
      return undefined;
    }
    const structure = await this.#structures.of(item);
    const isTaken = this.#groups.names.isTakenFrom(name, group.name);
    const now = formatTime(clock.nowMs());
    const verdict = judgeStatus(item.object(), { isTaken, structure, naming, now });
    if (verdict.isRefused) group.refused.add(name);
    else group.refused.delete(name);
    if (verdict.status !== undefined) return { item, status: verdict.status };
    group.open.delete(name);
    return undefined;
  }

  /** False: it was refused, and is tried again; it keeps no other one waiting. */
  async #isWritten(
    group: DefinitionGroup,
    store: ResourceStore,
    { item, status }: Wished,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client, log } = this.#options;
    const { name } = item;
    const { metadata, ...rest } = item.object();
    // What a write of the status leaves as it is may be large: it is shared.
    const object: ApiObject = { ...rest, metadata: cloneJson(metadata ?? {}), status };
    try {
      const path = { namespace: '', name, subresource: 'status' };
      this.#groups.place(await client.update(store, { path, object }, signal));
      group.open.delete(name);
      return true;
    } catch (error) {
      if (!(error instanceof StatusError) || error.code >= 500) throw error;
      const hasChanged = [404, 409].includes(error.code); // an event tells so
      if (hasChanged) group.open.delete(name);
      else log.warn('the status of a definition was refused', { name, reason: error.message });
      return hasChanged;
    }
  }

  /** Waits until what other replicas have accepted was told. */
  async #hasSeenOthers(group: DefinitionGroup, signal: AbortSignal): Promise<boolean> {
    // The state that the watch begins with comes before any revision.
    const revision = Math.max(group.claim.foreignRevision, 1);
    if (group.toldRevision >= revision) return true;
    const { view } = this.#options.definitions;
    const key = { namespace: '', name: 'any' };
    await view.get(key, { mode: 'notOlderThan', revision }, signal);
    const isBehind = (): boolean => (this.#cursor?.position ?? 0) < revision;
    for (let left = limits.definitionTurnsMax; left > 0 && isBehind(); left--) await nextTurn();
    await nextTurn(); // the last batch may have been given and not been told yet
    if (isBehind()) return false;
    group.toldRevision = revision;
    return true;
  }
}

interface Wished {
  readonly item: Item;
  readonly status: NonNullable<StatusVerdict['status']>;
}
