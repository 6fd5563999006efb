// Collects the failures of one object: field path, reason, bad value, and what would be right.
// Order is the order of the calls, so that the same object gives the same answer.
import type { FieldError } from '../base/status.ts';
import type { FieldErrorReason } from '../base/status-reasons.ts';

export const immutableDetail = 'field is immutable';

/** The path of a member of the object at `path`; '' is the root. */
export const childPath = (path: string, name: string): string =>
  path === '' ? name : `${path}.${name}`;

/** `1 byte`, `2 bytes`. */
export const counted = (count: number, noun: string): string =>
  `${String(count)} ${noun}${count === 1 ? '' : 's'}`;

export class FieldErrors {
  readonly list: FieldError[] = [];
  readonly #earlier: FieldError[];
  /** Paths that failed, and all above them; made when somebody asks. */
  readonly #failed = new Set<string>();
  readonly #forbidden = new Set<string>();
  #indexed = 0;

  /** `earlier`: failures that other rules have found in the object. */
  constructor(earlier: FieldError[] = []) {
    this.#earlier = earlier;
  }

  /** Takes back what other rules have found below this path. */
  overlook(path: string): void {
    const isBelow = (field: string): boolean =>
      field.startsWith(`${path}.`) || field.startsWith(`${path}[`);
    const kept = this.#earlier.filter(({ field }) => !isBelow(field));
    this.#earlier.splice(0, this.#earlier.length, ...kept);
    this.#failed.clear();
    this.#forbidden.clear();
    this.#indexed = 0;
  }

  /**
   * Puts all failures, earlier ones too, in the order that `before` says, those that it says
   * nothing of in the order in which they were found.
   */
  arrange(before: (one: FieldError, other: FieldError) => number): void {
    const all = [...this.#earlier.splice(0), ...this.list.splice(0)];
    this.list.push(...all.sort(before));
  }

  /** Whether something failed at this path or below it. */
  has(path: string): boolean {
    this.#index();
    return this.#failed.has(path);
  }

  /** Whether just this path was refused. */
  forbids(path: string): boolean {
    this.#index();
    return this.#forbidden.has(path);
  }

  /** For those who ask of each of many elements: what came since the last question. */
  #index(): void {
    for (; this.#indexed < this.#earlier.length + this.list.length; this.#indexed += 1) {
      const at = this.#indexed - this.#earlier.length;
      const error = at < 0 ? this.#earlier[this.#indexed] : this.list[at];
      if (error === undefined) continue;
      const { field, reason } = error;
      if (reason === 'FieldValueForbidden') this.#forbidden.add(field);
      this.#failed.add(field);
      for (const { index } of field.matchAll(/[.[]/g)) this.#failed.add(field.slice(0, index));
    }
  }

  #add(reason: FieldErrorReason, field: string, badValue: unknown, detail: string): void {
    this.list.push({ reason, field, badValue, detail });
  }

  required(field: string, detail = ''): void {
    this.list.push({ reason: 'FieldValueRequired', field, detail });
  }

  forbidden(field: string, detail: string): void {
    this.list.push({ reason: 'FieldValueForbidden', field, detail });
  }

  invalid(field: string, badValue: unknown, detail: string): void {
    this.#add('FieldValueInvalid', field, badValue === undefined ? '' : badValue, detail);
  }

  /** Of several values, or one too long to show. */
  invalidUnshown(field: string, detail: string): void {
    this.list.push({ reason: 'FieldValueInvalid', field, detail });
  }

  /** One `Invalid` per problem. */
  problems(field: string, badValue: unknown, problems: readonly string[]): void {
    for (const problem of problems) this.invalid(field, badValue, problem);
  }

  notSupported(field: string, badValue: unknown, supported: readonly string[]): void {
    this.notListed(field, badValue, [...supported].sort());
  }

  /** As `notSupported`, with the values in the order in which clients know them. */
  notListed(field: string, badValue: unknown, supported: readonly string[]): void {
    const texts = supported.map((one) => JSON.stringify(one));
    const detail = `supported values: ${texts.join(', ')}`;
    this.#add('FieldValueNotSupported', field, badValue ?? '', detail);
  }

  duplicate(field: string, badValue: unknown): void {
    this.#add('FieldValueDuplicate', field, badValue ?? '', '');
  }

  notFound(field: string, badValue: unknown, detail = ''): void {
    this.#add('FieldValueNotFound', field, badValue ?? '', detail);
  }

  tooLong(field: string, bytesMax: number): void {
    const detail = `may not be more than ${counted(bytesMax, 'byte')}`;
    this.list.push({ reason: 'FieldValueTooLong', field, detail });
  }

  tooMany(field: string, count: number, countMax: number): void {
    const detail = `must have at most ${counted(countMax, 'item')}`;
    this.#add('FieldValueTooMany', field, count, detail);
  }

  typeInvalid(field: string, badValue: unknown, detail: string): void {
    this.#add('FieldValueTypeInvalid', field, badValue, detail);
  }

  /** The value could not be checked. */
  internal(field: string, detail: string): void {
    this.list.push({ reason: 'InternalError', field, detail });
  }

  add(errors: readonly FieldError[]): void {
    for (const error of errors) this.list.push(error);
  }
}
