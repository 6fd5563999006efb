// The streams of a connection by their ids, which only grow: most end before many others have
// begun. Not a Map alone: see docs/adr/0069.

const placesMin = 16;
const placesMax = 1_024;

export class StreamTable<Stream> {
  /** The id whose stream is at the place; 0: none is. An id's place is its low bits. */
  #ids = places(placesMin, 0);
  #streams = places<Stream | undefined>(placesMin, undefined);
  #placedCount = 0;
  /** Those that were still there when another one came to their place. */
  readonly #lasting = new Map<number, Stream>();

  get size(): number {
    return this.#placedCount + this.#lasting.size;
  }

  get(id: number): Stream | undefined {
    const place = this.#placeOf(id);
    if (this.#ids[place] === id) return this.#streams[place];
    return this.#lasting.size === 0 ? undefined : this.#lasting.get(id);
  }

  /** Of a stream that is not in the table. */
  add(id: number, stream: Stream): void {
    while (this.#ids[this.#placeOf(id)] !== 0 && this.#isCrowded) this.#grow();
    const place = this.#placeOf(id);
    const other = this.#streams[place];
    if (other === undefined) this.#placedCount++;
    else this.#lasting.set(this.#ids[place] ?? 0, other);
    this.#ids[place] = id;
    this.#streams[place] = stream;
  }

  /** False: it was not in the table. */
  delete(id: number): boolean {
    const place = this.#placeOf(id);
    if (this.#ids[place] !== id || id === 0) return this.#lasting.delete(id);
    this.#ids[place] = 0;
    this.#streams[place] = undefined;
    this.#placedCount--;
    return true;
  }

  /** As they are now, in any order. */
  all(): Stream[] {
    const placed = this.#streams.filter((stream) => stream !== undefined);
    return [...this.#lasting.values(), ...placed];
  }

  /** An end of a connection begins every second id. */
  #placeOf(id: number): number {
    return (id >>> 1) & (this.#ids.length - 1);
  }

  /** Half full of streams that are under way at once: more places help. */
  get #isCrowded(): boolean {
    return this.#placedCount * 2 >= this.#ids.length && this.#ids.length < placesMax;
  }

  /** Those that had places of their own still have. */
  #grow(): void {
    const [ids, streams] = [this.#ids, this.#streams];
    this.#ids = places(ids.length * 2, 0);
    this.#streams = places<Stream | undefined>(ids.length * 2, undefined);
    for (const [index, id] of ids.entries()) {
      if (id === 0) continue;
      const place = this.#placeOf(id);
      this.#ids[place] = id;
      this.#streams[place] = streams[index];
    }
  }
}

const places = <T>(count: number, empty: T): T[] => Array.from({ length: count }, () => empty);
