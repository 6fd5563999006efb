// A bounded cache of values by text, for texts that repeat: an entry may go at any time. It keeps
// copies of the texts, since what a parser cut out of a body or a URL holds all of that in memory.

export class TextMemo<T> {
  readonly #values = new Map<string, T>();
  readonly #countMax: number;
  readonly #lengthMax: number;

  /** Emptied when more than `countMax` would be kept; texts longer than `lengthMax` never are. */
  constructor(bounds: { readonly countMax: number; readonly lengthMax: number }) {
    this.#countMax = bounds.countMax;
    this.#lengthMax = bounds.lengthMax;
  }

  get size(): number {
    return this.#values.size;
  }

  /** What `make` makes of the text; undefined is not kept. */
  of<M extends T | undefined>(text: string, make: (text: string) => M): T | M {
    const known = this.#values.get(text);
    if (known !== undefined) return known;
    if (text.length > this.#lengthMax) return make(text);
    const own = ownText(text);
    const made = make(own);
    if (made === undefined) return made;
    if (this.#values.size >= this.#countMax) this.#values.clear();
    this.#values.set(own, made);
    return made;
  }
}

/**
 * The same text with memory of its own. A part of a longer text is a view of it (V8's sliced
 * strings): whoever keeps the part for long keeps the whole.
 */
export const ownText = (text: string): string => JSON.parse(JSON.stringify(text)) as string;
