// Which namespaces have quotas, and on which names: so that a change elsewhere costs a look into a
// map.
import { recordAt } from '../../api/json-access.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { Measure, UsageParts } from '../../admission/quota/measure.ts';

interface Namespace {
  /** Names in `hard` of each quota. */
  readonly names: Map<string, readonly string[]>;
  /** Whether one of them is one of the measure; emptied when names change. */
  readonly tracked: Map<Measure, boolean>;
}

export class NamespaceQuotas {
  readonly #parts: UsageParts;
  readonly #namespaces = new Map<string, Namespace>();

  constructor(parts: UsageParts) {
    this.#parts = parts;
  }

  /** A quota is there, or has changed. */
  put(item: Item): void {
    const { namespace, name } = item;
    const names = Object.keys(recordAt(recordAt(item.object(), 'spec'), 'hard') ?? {});
    let of = this.#namespaces.get(namespace);
    if (of === undefined) {
      this.#namespaces.set(namespace, (of = { names: new Map(), tracked: new Map() }));
    }
    const before = of.names.get(name);
    const isSame = before?.length === names.length && names.every((one, at) => before[at] === one);
    if (isSame) return;
    of.names.set(name, names);
    of.tracked.clear();
  }

  remove({ namespace, name }: Item): void {
    const of = this.#namespaces.get(namespace);
    if (of?.names.delete(name) !== true) return;
    of.tracked.clear();
    if (of.names.size === 0) this.#namespaces.delete(namespace);
  }

  /** Whether a quota of the namespace counts such objects. */
  isTracked(namespace: string, measure: Measure): boolean {
    const of = this.#namespaces.get(namespace);
    if (of === undefined) return false;
    let known = of.tracked.get(measure);
    if (known === undefined) {
      const isName = (name: string): boolean => measure.isName(name, this.#parts);
      known = [...of.names.values()].some((names) => names.some(isName));
      of.tracked.set(measure, known);
    }
    return known;
  }

  get namespaces(): readonly string[] {
    return [...this.#namespaces.keys()];
  }
}
