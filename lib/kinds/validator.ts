// What a kind's validator is given: the object as it would be stored, what is stored, and where to
// report. Validators have the rules that options of fields cannot express: of several fields, of
// unions, of changes.
import type { FieldErrors } from '../api/field-errors.ts';
import { entriesAt } from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import { labelValueProblems, qualifiedNameProblems } from '../api/name-rules.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Steps } from '../base/steps.ts';
import type { ApiObject } from '../codec/codec.ts';

export interface Scope {
  readonly errors: FieldErrors;
  readonly isOn: (gate: string) => boolean;
  readonly naming: NamingProfile;
}

/** A write as a kind's rules see it. */
export interface KindWrite {
  readonly naming: NamingProfile;
  readonly object: Readonly<ApiObject>;
  /** undefined: a create. */
  readonly old: Readonly<ApiObject> | undefined;
  /** '' for the resource itself. */
  readonly subresource: string;
  /** The version that the request names. */
  readonly apiVersion: string;
}

export interface ValidatedWrite extends KindWrite, Scope {}

export type Validator = (write: ValidatedWrite) => void;

/** The result: what a valid write should be told of. */
export type ValidatorInSteps = (write: ValidatedWrite) => Steps<readonly string[]>;

/** What a valid write should be told of: one text a warning, which begins with the field's path. */
export type Warnings = (write: KindWrite) => readonly string[];

/** What is wanted has changed, or is new. */
export const isNewGeneration = ({ object, old }: KindWrite): boolean =>
  old === undefined || object.metadata?.generation !== old.metadata?.generation;

export type Holder = Readonly<JsonObject> | undefined;

/** A map of labels: nodeSelector, selector, matchLabels. */
export function validateLabels(labels: Holder, path: string, errors: FieldErrors): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    errors.problems(path, key, qualifiedNameProblems(key));
    const text = typeof value === 'string' ? value : '';
    errors.problems(path, text, labelValueProblems(text));
  }
}

export const isIntegerText = (text: string): boolean => /^[+-]?\d+$/.test(text);

export const changed = (object: Holder, old: Holder, name: string): boolean =>
  !sameJson(object?.[name], old?.[name]);

/** Bytes of all keys and values of a map of texts. */
export const mapBytes = (of: Holder, name: string): number =>
  entriesAt(of, name).reduce(
    (sum, [key, value]) =>
      sum + Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0),
    0,
  );

/** A value as part of a sentence. */
export const shownText = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);
