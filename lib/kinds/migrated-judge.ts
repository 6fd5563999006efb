// Small checks that handwritten forms of migrated rules share. A value that is stored just so is
// accepted, as it is by the rules beside the fields.
import type { FieldErrors } from '../api/field-errors.ts';
import { listAt, numberAt, recordAt, recordsAt, textAt, valueAt } from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import { isAbsent, isZero } from '../api/presence.ts';
import type { JsonObject } from '../api/type-info.ts';
import type { Holder, ValidatedWrite } from './validator.ts';

type Problems = (text: string) => readonly string[];

export interface Judge {
  readonly isUpdate: boolean;
  /** For what lies below a value: without a stored one, everything is new. */
  within(old: Holder): Judge;
  required(of: JsonObject, old: Holder, name: string, path: string, problems?: Problems): void;
  optional(of: JsonObject, old: Holder, name: string, path: string, problems: Problems): void;
  requiredNumber(of: JsonObject, old: Holder, name: string, path: string, low: number): void;
  least(of: JsonObject, old: Holder, name: string, path: string, low: number): void;
  range(of: JsonObject, old: Holder, name: string, path: string, low: number, high: number): void;
  most(of: JsonObject, old: Holder, name: string, path: string, countMax: number): void;
  longest(of: JsonObject, old: Holder, name: string, path: string, bytesMax: number): void;
  unique(of: JsonObject, old: Holder, name: string, path: string, key: string): void;
  fixed(of: JsonObject, old: Holder, name: string, path: string): boolean;
  forbidden(of: JsonObject, old: Holder, name: string, path: string): void;
}

/** A part of an object that is to be judged: it is there, and not stored just so. */
export function partToJudge({ object, old }: ValidatedWrite, name: string): JsonObject | undefined {
  const part = recordAt(object, name);
  return old !== undefined && sameJson(part, old[name]) ? undefined : part;
}

export const judgeOf = ({ errors, old }: ValidatedWrite): Judge => judge(errors, old !== undefined);

function judge(errors: FieldErrors, isUpdate: boolean): Judge {
  const isStored = (of: JsonObject, old: Holder, name: string): boolean =>
    isUpdate && sameJson(of[name], old?.[name]);
  return {
    isUpdate,
    within: (old) => judge(errors, isUpdate && !isAbsent(old)),
    required(of, old, name, path, problems = () => []) {
      if (isStored(of, old, name)) return;
      const value = valueAt(of, name);
      if (isZero(value)) {
        if (!isUpdate || !isZero(old?.[name])) errors.required(`${path}.${name}`);
      } else errors.problems(`${path}.${name}`, value, problems(textAt(of, name)));
    },
    optional(of, old, name, path, problems) {
      const text = textAt(of, name);
      if (text === '' || isStored(of, old, name)) return;
      errors.problems(`${path}.${name}`, text, problems(text));
    },
    requiredNumber(of, old, name, path, low) {
      if (isStored(of, old, name)) return;
      if (numberAt(of, name) === undefined) errors.required(`${path}.${name}`);
      else this.least(of, old, name, path, low);
    },
    least(of, old, name, path, low) {
      const value = numberAt(of, name);
      if (value === undefined || value >= low || isStored(of, old, name)) return;
      errors.invalid(`${path}.${name}`, value, `must be greater than or equal to ${String(low)}`);
    },
    range(of, old, name, path, low, high) {
      this.least(of, old, name, path, low);
      const value = numberAt(of, name);
      if (value === undefined || value <= high || isStored(of, old, name)) return;
      errors.invalid(`${path}.${name}`, value, `must be less than or equal to ${String(high)}`);
    },
    most(of, old, name, path, countMax) {
      const count = listAt(of, name).length;
      if (count <= countMax || isStored(of, old, name)) return;
      errors.tooMany(`${path}.${name}`, count, countMax);
    },
    longest(of, old, name, path, bytesMax) {
      const isShort = Buffer.byteLength(textAt(of, name)) <= bytesMax;
      if (!isShort && !isStored(of, old, name)) errors.tooLong(`${path}.${name}`, bytesMax);
    },
    unique(of, old, name, path, key) {
      if (isStored(of, old, name)) return;
      const seen = new Set<string>();
      for (const [at, one] of recordsAt(of, name).entries()) {
        const value = textAt(one, key);
        if (seen.has(value)) errors.duplicate(`${path}.${name}[${String(at)}]`, { [key]: value });
        seen.add(value);
      }
    },
    fixed(of, old, name, path) {
      if (!isUpdate || sameJson(of[name], old?.[name])) return true;
      errors.invalid(`${path}.${name}`, valueAt(of, name), 'field is immutable');
      return false;
    },
    forbidden(of, old, name, path) {
      const value = valueAt(of, name);
      if (value === undefined || isStored(of, old, name)) return;
      errors.forbidden(`${path}.${name}`, 'must not be set');
    },
  };
}
