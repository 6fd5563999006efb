// What a second pass of a configured plugin repeats: those that want it (`reinvocationPolicy:
// IfNeeded`) and ran in the first pass, before somebody else changed the object.
import { cloneAlike, jsonEqual } from '../api/json-value.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { AdmissionPlugin, MutatingPass } from './plugin.ts';

/** Of one plugin, for both passes over an object. Keys are the plugin's own. */
export class Reinvocation {
  /** They ran, and want to know of later changes. */
  #ran = new Set<string>();
  readonly #again = new Set<string>();
  /** The object as the first pass of the plugin left it; kept where someone may want to know. */
  #left: Readonly<ApiObject> | undefined;

  /** The one that is kept with the pass. */
  static of(plugin: AdmissionPlugin, { kept }: Pick<MutatingPass, 'kept'>): Reinvocation {
    const known = kept.get(plugin);
    if (known instanceof Reinvocation) return known;
    const made = new Reinvocation();
    kept.set(plugin, made);
    return made;
  }

  get wantsAny(): boolean {
    return this.#again.size > 0;
  }

  isWanted(key: string): boolean {
    return this.#again.has(key);
  }

  /** For those that want to be repeated, after what they changed themselves was told. */
  ran(key: string): void {
    this.#ran.add(key);
  }

  /** All that ran until now have not seen what the object is now. */
  changed(): void {
    for (const key of this.#ran) this.#again.add(key);
    this.#ran = new Set();
  }

  passEnded(object: Readonly<ApiObject>): void {
    this.#left = this.#ran.size === 0 ? undefined : cloneAlike(object);
  }

  passBegins(object: Readonly<ApiObject>): void {
    if (this.#left !== undefined && !jsonEqual(this.#left, object)) this.changed();
  }
}
