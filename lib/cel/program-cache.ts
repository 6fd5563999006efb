// Programs by environment and text, so that equal expressions compile once. Bounded by bytes: those
// that were not asked for longest are dropped. Environments are told apart by identity: make each
// once and keep it.
import { limits } from '../base/limits.ts';
import { CompileErrors } from './environment.ts';
import type { Environment, ProgramFailure } from './environment.ts';
import { Program } from './program.ts';

type Compiled = Program | CompileErrors | ProgramFailure;

interface Entry {
  readonly compiled: Compiled;
  readonly bytes: number;
}

/** What a text that does not compile keeps, beside the text. */
const failureBytes = 1_024;
const { programCacheBytesMax } = limits;

export class ProgramCache {
  readonly #bytesMax: number;
  // In the order of their last use.
  readonly #entries = new Map<string, Entry>();
  readonly #environments = new WeakMap<Environment, number>();
  #environmentCount = 0;
  #bytes = 0;

  constructor(bytesMax: number = programCacheBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of all programs, estimated. */
  get bytes(): number {
    return this.#bytes;
  }

  /** As Environment.compile. */
  compile(environment: Environment, text: string): Compiled {
    const key = `${String(this.#numberOf(environment))} ${text}`;
    const found = this.#entries.get(key);
    if (found !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, found);
      return found.compiled;
    }
    const compiled = environment.compile(text);
    const bytes = 2 * key.length + bytesOf(compiled);
    if (bytes <= this.#bytesMax) {
      this.#entries.set(key, { compiled, bytes });
      this.#bytes += bytes;
      this.#evict();
    }
    return compiled;
  }

  #numberOf(environment: Environment): number {
    const known = this.#environments.get(environment);
    if (known !== undefined) return known;
    this.#environments.set(environment, ++this.#environmentCount);
    return this.#environmentCount;
  }

  #evict(): void {
    for (const [key, { bytes }] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#entries.delete(key);
      this.#bytes -= bytes;
    }
  }
}

function bytesOf(compiled: Compiled): number {
  if (compiled instanceof Program) return compiled.bytes;
  const issues = compiled instanceof CompileErrors ? compiled.issues.length : 1;
  return failureBytes * (1 + issues);
}
