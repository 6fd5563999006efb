// Failures of the schemas of a definition. A definition that was stored so may go on breaking some
// rules: which of these are broken is told, and their failures can be left out.
import { FieldErrors } from '../../api/field-errors.ts';

export type LenientRule = 'types' | 'atomicItems' | 'keyedItems' | 'prunedDefaults';

export class SchemaReport {
  /** The failures that count. */
  readonly errors = new FieldErrors();
  readonly broken = new Set<LenientRule>();
  readonly #kept: ReadonlySet<LenientRule>;

  /** `kept`: rules whose failures do not count. */
  constructor(kept: ReadonlySet<LenientRule>) {
    this.#kept = kept;
  }

  /** Where a failure of a rule goes that is broken here. */
  of(rule: LenientRule): FieldErrors {
    this.broken.add(rule);
    return this.#kept.has(rule) ? new FieldErrors() : this.errors;
  }
}
