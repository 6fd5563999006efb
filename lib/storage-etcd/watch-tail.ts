// The last events of a watch, enough of each to compare it. A stream that is opened again begins
// with them: a store that repeats them all, and sends nothing else up to the watch's position, has
// the same history there. One that was restored and has grown since does not.
import { limits } from '../base/limits.ts';
import type { EtcdEvent } from './rpc.ts';
import type { Revision } from './storage.ts';

const { etcdKnownEventsCount: keptCount } = limits;

export class WatchTail {
  // Event number n lies in slot n % keptCount: nothing is allocated for an event.
  readonly #keys: string[] = [];
  readonly #revisions = new Float64Array(keptCount);
  readonly #createRevisions = new Float64Array(keptCount);
  readonly #versions = new Float64Array(keptCount);
  /** Events noted: the number of the next one. */
  #end = 0;
  /** Number of the oldest that is kept. */
  #first = 0;
  /** Number of the one that must come next. */
  #next = 0;
  /** Value of the last put alone: values are large, and views into whole messages. */
  #value: Uint8Array | undefined;
  #valueOf = -1;

  get isEmpty(): boolean {
    return this.#first === this.#end;
  }

  /** Where a stream begins that is to show all of it. Only when there is something. */
  get start(): Revision {
    return this.#revisions[this.#first % keptCount] ?? 0;
  }

  /** Everything came again since `rewind`. */
  get isRepeated(): boolean {
    return this.#next === this.#end;
  }

  note({ kv }: EtcdEvent): void {
    const number = this.#end++;
    const slot = number % keptCount;
    this.#keys[slot] = kv.key;
    this.#revisions[slot] = kv.mod_revision;
    this.#createRevisions[slot] = kv.create_revision;
    this.#versions[slot] = kv.version;
    if (kv.version > 0) {
      this.#value = kv.value;
      this.#valueOf = number;
    }
    this.#first = Math.max(this.#first, this.#end - keptCount);
    this.#next = this.#end;
  }

  /** A new stream begins. */
  rewind(): void {
    this.#next = this.#first;
  }

  /** Whether the event is the one that came here before. */
  repeats(event: EtcdEvent): boolean {
    if (this.#next < this.#end && this.#isSame(this.#next, event)) {
      this.#next++;
      return true;
    }
    // The oldest revision may have had more events than are kept of it: those before.
    const isCut = this.#first > 0 && this.#next === this.#first;
    return isCut && event.kv.mod_revision === this.start;
  }

  /** The store has compacted its history up to this revision: it cannot show that any more. */
  forget(upTo: Revision): void {
    while (!this.isEmpty && this.start <= upTo) this.#first++;
  }

  /** A deletion has neither version nor creation. */
  #isSame(number: number, { kv }: EtcdEvent): boolean {
    const slot = number % keptCount;
    return (
      this.#keys[slot] === kv.key &&
      this.#revisions[slot] === kv.mod_revision &&
      this.#createRevisions[slot] === kv.create_revision &&
      this.#versions[slot] === kv.version &&
      (number !== this.#valueOf || Buffer.compare(this.#value ?? kv.value, kv.value) === 0)
    );
  }
}
