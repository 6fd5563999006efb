// Failures of one schema of a definition. A definition that was stored so may go on breaking some
// rules: which of these are broken is told, and their failures can be left out. What more there is
// than anybody reads is not looked for.
import { FieldErrors } from '../../api/field-errors.ts';
import { limits } from '../../base/limits.ts';
import type { FieldError } from '../../base/status.ts';

export type LenientRule = 'structure' | 'types' | 'atomicItems' | 'keyedItems' | 'prunedDefaults';

export class SchemaReport {
  /** The failures that count, besides those of expressions. */
  readonly errors = new FieldErrors();
  /** Of expressions: they are told last. */
  readonly expressions = new FieldErrors();
  readonly broken = new Set<LenientRule>();
  readonly #kept: ReadonlySet<LenientRule>;
  #byteCount = 0;
  #seenCount = 0;

  /** `kept`: rules whose failures do not count. */
  constructor(kept: ReadonlySet<LenientRule>) {
    this.#kept = kept;
  }

  /** Where a failure of a rule goes that is broken here. */
  of(rule: LenientRule): FieldErrors {
    this.broken.add(rule);
    return this.#kept.has(rule) ? new FieldErrors() : this.errors;
  }

  /** Whether as much is wrong as is told. */
  get isFull(): boolean {
    const { list } = this.errors;
    for (; this.#seenCount < list.length; this.#seenCount += 1) {
      const error = list[this.#seenCount];
      if (error !== undefined) this.#byteCount += sizeOf(error);
    }
    return this.#byteCount > limits.definitionFailureBytesMax;
  }
}

const sizeOf = ({ field, detail, badValue }: FieldError): number =>
  field.length + detail.length + sizeOfValue(badValue);

/** Roughly, of what is no part of another failure. */
const sizeOfValue = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (!Array.isArray(value)) return 8;
  return value.reduce<number>(
    (sum, one: unknown) => sum + (typeof one === 'string' ? one.length : 0) + 8,
    0,
  );
};
