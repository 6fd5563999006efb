// The definitions that this replica has just written: it sees to their status at once, while the
// others wait whether it does. A matter of time alone: who is right is decided by the store.
import type { Clock } from '../../base/clock.ts';
import { ExpiringMap } from '../../base/expiring-map.ts';
import { limits } from '../../base/limits.ts';
import type { ItemKey } from '../../cacher/resource-view.ts';

export class OwnWrites {
  readonly #names: ExpiringMap<true>;
  #listener: ((name: string) => void) | undefined;

  constructor(clock: Clock) {
    const countMax = limits.ownDefinitionsMax;
    this.#names = new ExpiringMap({ countMax, nowMs: () => clock.monotonicMs() });
  }

  has(name: string): boolean {
    return this.#names.get(name) === true;
  }

  /** Of the store of definitions: what was just stored through it. */
  note({ name }: ItemKey): void {
    this.#names.set(name, true, limits.ownDefinitionMs);
    this.#listener?.(name);
  }

  /** Called for each: its event may have come before. */
  onNote(listener: (name: string) => void): void {
    this.#listener = listener;
  }
}
