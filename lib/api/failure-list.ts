// Failures of one object in their order, as many as an answer can tell: an object may have a hundred
// thousand, and a list of values to choose from may be long. Those beyond are counted.
import { limits } from '../base/limits.ts';
import type { FieldError } from '../base/status.ts';

const { failureTextLengthMax } = limits;

export class FailureList {
  readonly #list: FieldError[] = [];
  #characters = 0;
  #count = 0;

  /** How many there were, told or not. */
  get count(): number {
    return this.#count;
  }

  push(error: FieldError): void {
    this.#count += 1;
    if (this.#characters > failureTextLengthMax) return;
    this.#characters += lengthOf(error);
    this.#list.push(error);
  }

  /** Adds what was found elsewhere. */
  add(others: FailureList): void {
    for (const error of others.#list) this.push(error);
    this.#count += others.#count - others.#list.length;
  }

  /** Takes back all after the first `count`. */
  rewind(count: number): void {
    this.#count = count;
    while (this.#list.length > count) {
      const last = this.#list.pop();
      if (last !== undefined) this.#characters -= lengthOf(last);
    }
  }

  all(): readonly FieldError[] {
    const untoldCount = this.#count - this.#list.length;
    return untoldCount === 0 ? this.#list : [...this.#list, untold(untoldCount)];
  }

  /** Each once: the branches of a junctor may say what was said already. */
  distinct(): readonly FieldError[] {
    return this.#list.length < 2 ? this.all() : withoutRepetition(this.all());
  }
}

const lengthOf = ({ field, detail, badValue }: FieldError): number =>
  field.length + detail.length + (typeof badValue === 'string' ? badValue.length : 0);

function withoutRepetition(errors: readonly FieldError[]): readonly FieldError[] {
  const seen = new Set<string>();
  return errors.filter(({ reason, field, detail }) => {
    const text = `${reason}\n${field}\n${detail}`;
    return !seen.has(text) && seen.add(text);
  });
}

const untold = (count: number): FieldError => ({
  reason: 'FieldValueInvalid',
  field: '<nil>',
  badValue: '',
  detail: `${String(count)} more failures are not shown`,
});
