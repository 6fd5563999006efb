// What is fuzzed: how inputs are made, and what must hold for each.
import type { MaybePromise } from '../../lib/base/maybe-promise.ts';
import type { Random } from './random.ts';

export interface FuzzTarget {
  readonly name: string;
  /** Codes of StatusErrors that inputs may be refused with. */
  readonly refusals: readonly number[];
  /** The same for the same source. */
  input(random: Random): Uint8Array;
  /**
   * Takes an input; the time of this call counts. What it returns checks the result, outside that
   * time, and says what is wrong with it.
   * @throws StatusError when the input is refused.
   */
  run(input: Uint8Array): (() => MaybePromise<string | undefined>) | undefined;
}
