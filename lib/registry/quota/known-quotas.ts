// The quotas of one namespace as this replica knows them best: what memory shows, and what
// transactions have told since. A guess: the transaction that charges them tells whether it held.
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import type { Epoch, Revision } from '../../storage-etcd/storage.ts';

interface Told {
  readonly revision: Revision;
  /** undefined: what was there at this revision is gone. */
  readonly item: Item | undefined;
}

export class KnownQuotas {
  readonly #view: Pick<ResourceView, 'all' | 'epoch'>;
  readonly #namespace: string;
  /** Where it is newer than memory, by name. */
  readonly #told = new Map<string, Told>();
  #epoch: Epoch | undefined;

  constructor(view: Pick<ResourceView, 'all' | 'epoch'>, namespace: string) {
    this.#view = view;
    this.#namespace = namespace;
  }

  /** Those that can be read; undefined: in this epoch memory shows nothing yet. */
  in(epoch: Epoch): readonly Item[] | undefined {
    if (this.#view.epoch !== epoch) return undefined;
    this.#begin(epoch);
    const known: Item[] = [];
    const ahead = new Map(this.#told);
    for (const item of this.#view.all(this.#namespace)) {
      const told = ahead.get(item.name);
      ahead.delete(item.name);
      if (told === undefined || !isAhead(told, item)) {
        this.#told.delete(item.name);
        known.push(item);
      } else if (told.item !== undefined) known.push(told.item);
    }
    for (const [name, { item }] of ahead) {
      if (item === undefined) this.#told.delete(name);
      else known.push(item);
    }
    return known.filter(({ corrupted }) => !corrupted).sort(byName);
  }

  /** Everything there was at a revision. */
  tellAll(items: readonly Item[], revision: Revision, epoch: Epoch): void {
    this.#begin(epoch);
    const shown = this.#view.epoch === undefined ? [] : this.#view.all(this.#namespace);
    const gone = { revision, item: undefined };
    for (const name of this.#told.keys()) this.#told.set(name, gone);
    for (const { name } of shown) this.#told.set(name, gone);
    for (const item of items) this.#told.set(item.name, { revision: item.revision, item });
  }

  tell(name: string, told: Told, epoch: Epoch): void {
    this.#begin(epoch);
    this.#told.set(name, told);
  }

  #begin(epoch: Epoch): void {
    if (this.#epoch === epoch) return;
    this.#epoch = epoch;
    this.#told.clear();
  }
}

const isAhead = (told: Told, { revision }: Item): boolean =>
  told.item === undefined ? told.revision >= revision : told.revision > revision;

const byName = (one: Item, other: Item): number =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
