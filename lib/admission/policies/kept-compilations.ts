// Compiled policies: each is compiled when it is first needed, once for a version of its object.
// Bounded by bytes: those that were not asked for longest are dropped.
import { limits } from '../../base/limits.ts';
import { inTurns } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Policy } from './bindings.ts';

const { compiledPolicyBytesMax } = limits;

export class KeptCompilations<Compiled extends { readonly bytes: number }> {
  readonly #compile: (policy: Policy) => Steps<Compiled>;
  readonly #bytesMax: number;
  // In the order of their last use.
  readonly #kept = new Map<Policy, Compiled>();
  readonly #begun = new WeakMap<Policy, Promise<Compiled>>();
  #bytes = 0;

  constructor(compile: (policy: Policy) => Steps<Compiled>, bytesMax = compiledPolicyBytesMax) {
    this.#compile = compile;
    this.#bytesMax = bytesMax;
  }

  /** Of all that is kept, estimated. */
  get bytes(): number {
    return this.#bytes;
  }

  of(policy: Policy): MaybePromise<Compiled> {
    const found = this.#kept.get(policy);
    if (found !== undefined) {
      this.#kept.delete(policy);
      this.#kept.set(policy, found);
      return found;
    }
    const begun = this.#begun.get(policy);
    if (begun !== undefined) return begun;
    const compiled = inTurns(this.#compile(policy));
    if (!(compiled instanceof Promise)) return this.#keep(policy, compiled);
    const kept = compiled.then((made) => this.#keep(policy, made));
    this.#begun.set(policy, kept);
    return kept;
  }

  #keep(policy: Policy, compiled: Compiled): Compiled {
    this.#begun.delete(policy);
    if (compiled.bytes > this.#bytesMax) return compiled;
    this.#kept.set(policy, compiled);
    this.#bytes += compiled.bytes;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytes;
    }
    return compiled;
  }
}
