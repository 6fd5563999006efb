// Checks of the members of one part of an object, for handwritten forms of migrated rules. A value
// that is stored just so is accepted, as it is by the rules in the options of fields.
import { immutableDetail } from '../api/field-errors.ts';
import type { FieldErrors } from '../api/field-errors.ts';
import {
  isSet,
  listAt,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  valueAt,
} from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import { isZero } from '../api/presence.ts';
import { Twins } from '../api/twins.ts';
import type { JsonObject } from '../api/type-info.ts';
import type { Holder, ValidatedWrite } from './validator.ts';

type Problems = (text: string) => readonly string[];

interface Part {
  /** The part as it would be stored. */
  readonly value: JsonObject;
  /** The part as it is stored. */
  readonly old: Holder;
  readonly path: string;
}

/** `spec` or `status` of a write; undefined: it is absent, or stored just so. */
export function partOf(
  { object, old, errors }: ValidatedWrite,
  name: string,
): PartChecks | undefined {
  const value = recordAt(object, name);
  if (value === undefined || (old !== undefined && sameJson(value, old[name]))) return undefined;
  return new PartChecks(errors, { value, old: recordAt(old, name), path: name });
}

/** Each check reports the failures of the member `name` of the part. */
export class PartChecks {
  readonly errors: FieldErrors;
  readonly value: JsonObject;
  readonly old: Holder;
  readonly path: string;

  constructor(errors: FieldErrors, { value, old, path }: Part) {
    this.errors = errors;
    this.value = value;
    this.old = old;
    this.path = path;
  }

  /** False: nothing is stored of this part, so all of it is new. */
  get isUpdate(): boolean {
    return this.old !== undefined;
  }

  /** Checks of a message in this part; undefined: it is absent. */
  part(name: string): PartChecks | undefined {
    const value = recordAt(this.value, name);
    if (value === undefined) return undefined;
    return new PartChecks(this.errors, {
      value,
      old: recordAt(this.old, name),
      path: this.#at(name),
    });
  }

  /** Checks of the elements of a list; the stored one has the same `key`, or the same index. */
  elements(name: string, { key }: { readonly key?: string } = {}): readonly PartChecks[] {
    const stored = recordsAt(this.old, name);
    const twins = key === undefined ? undefined : new Twins(stored, (one) => textAt(one, key));
    return recordsAt(this.value, name).map((value, index) => {
      const old = twins === undefined ? stored[index] : twins.of(value);
      return new PartChecks(this.errors, {
        value,
        old,
        path: `${this.#at(name)}[${String(index)}]`,
      });
    });
  }

  required(name: string, problems: Problems = () => []): void {
    if (this.#isStored(name)) return;
    const value = valueAt(this.value, name);
    if (!isZero(value)) {
      this.errors.problems(this.#at(name), value, problems(textAt(this.value, name)));
    } else if (!this.isUpdate || !isZero(valueAt(this.old, name))) {
      this.errors.required(this.#at(name));
    }
  }

  optional(name: string, problems: Problems): void {
    const text = textAt(this.value, name);
    if (text === '' || this.#isStored(name)) return;
    this.errors.problems(this.#at(name), text, problems(text));
  }

  /** A text whose presence is tracked: an empty one is there. */
  optionalSet(name: string, problems: Problems): void {
    if (!isSet(this.value, name) || this.#isStored(name)) return;
    const text = textAt(this.value, name);
    this.errors.problems(this.#at(name), text, problems(text));
  }

  requiredNumber(name: string, least: number): void {
    if (this.#isStored(name)) return;
    if (numberAt(this.value, name) === undefined) this.errors.required(this.#at(name));
    else this.atLeast(name, least);
  }

  atLeast(name: string, least: number): void {
    const value = numberAt(this.value, name);
    if (value === undefined || value >= least || this.#isStored(name)) return;
    const detail = `must be greater than or equal to ${String(least)}`;
    this.errors.invalid(this.#at(name), value, detail);
  }

  inRange(name: string, { least, most }: { readonly least: number; readonly most: number }): void {
    this.atLeast(name, least);
    const value = numberAt(this.value, name);
    if (value === undefined || value <= most || this.#isStored(name)) return;
    this.errors.invalid(this.#at(name), value, `must be less than or equal to ${String(most)}`);
  }

  /** @returns whether the elements are to be looked into. */
  maxItems(name: string, countMax: number): boolean {
    const count = listAt(this.value, name).length;
    if (count <= countMax || this.#isStored(name)) return true;
    this.errors.tooMany(this.#at(name), count, countMax);
    return false;
  }

  maxBytes(name: string, bytesMax: number): void {
    const isShort = Buffer.byteLength(textAt(this.value, name)) <= bytesMax;
    if (!isShort && !this.#isStored(name)) this.errors.tooLong(this.#at(name), bytesMax);
  }

  /** No two elements of the list have the same `key`. */
  unique(name: string, { key }: { readonly key: string }): void {
    if (this.#isStored(name)) return;
    const seen = new Set<string>();
    for (const [index, one] of recordsAt(this.value, name).entries()) {
      const value = textAt(one, key);
      if (seen.has(value)) {
        this.errors.duplicate(`${this.#at(name)}[${String(index)}]`, { [key]: value });
      }
      seen.add(value);
    }
  }

  /** @returns whether the member is as it is stored, or new with its part. */
  immutable(name: string): boolean {
    if (!this.isUpdate || this.#isStored(name)) return true;
    this.errors.invalid(this.#at(name), valueAt(this.value, name), immutableDetail);
    return false;
  }

  forbidden(name: string): void {
    if (valueAt(this.value, name) === undefined || this.#isStored(name)) return;
    this.errors.forbidden(this.#at(name), 'must not be set');
  }

  #isStored(name: string): boolean {
    return this.isUpdate && sameJson(this.value[name], this.old?.[name]);
  }

  #at(name: string): string {
    return `${this.path}.${name}`;
  }
}
