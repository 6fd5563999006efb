// Values by key that are good for a time: of decisions and verdicts that are dear to make. Bounded;
// the oldest make room.

interface Entry<V> {
  readonly value: V;
  /** On the clock of the map. */
  readonly expiresAtMs: number;
}

export class ExpiringMap<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #countMax: number;
  readonly #nowMs: () => number;

  constructor(options: { readonly countMax: number; readonly nowMs: () => number }) {
    this.#countMax = options.countMax;
    this.#nowMs = options.nowMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** undefined: not known, or no more. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs > this.#nowMs()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: V, ttlMs: number): void {
    this.#entries.delete(key);
    if (ttlMs <= 0) return;
    if (this.#entries.size >= this.#countMax) this.#makeRoom();
    this.#entries.set(key, { value, expiresAtMs: this.#nowMs() + ttlMs });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Insertion is the order of a Map. */
  #makeRoom(): void {
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
