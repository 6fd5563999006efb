// Metadata in the defaults of a schema: what a default makes of an embedded resource is one, whose
// metadata has the types and the values of metadata.
import { embeddedChecks, isEmbedded } from '../../api/embedded-resources.ts';
import { FailureList } from '../../api/failure-list.ts';
import { childPath } from '../../api/field-errors.ts';
import { isObject, ownMember } from '../../api/json-value.ts';
import { valuesReaching, walkAlong } from '../../api/schema-walk.ts';
import type { PartVisit } from '../../api/schema-walk.ts';
import type { JsonValue, ValueInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { fieldErrorMessage } from '../../base/status.ts';
import type { FieldError } from '../../base/status.ts';

/** An embedded resource, and the way from its metadata to a value in its metadata. */
export interface InMetadata {
  readonly resource: ValueInfo;
  readonly steps: readonly string[];
}

/** Judges what the defaults of one schema make of embedded resources. */
export class DefaultMetadata {
  readonly #reaching: ReadonlySet<ValueInfo>;
  readonly #embedded: PartVisit;

  /** `root`: what the schema becomes. */
  constructor(root: ValueInfo, naming: NamingProfile) {
    this.#reaching = valuesReaching(root, isEmbedded);
    this.#embedded = embeddedChecks(naming);
  }

  /** What is wrong with the resources in a default; their paths begin with `path`. */
  errors(value: ValueInfo, given: JsonValue, path: string): readonly FieldError[] {
    if (!this.#reaching.has(value)) return [];
    const found = (visit: PartVisit): readonly FieldError[] => {
      const errors = new FailureList();
      void walkAlong(value, visit, this.#reaching)(given, path, { errors, pace: undefined });
      return errors.all();
    };
    const wrongTypes = found(metadataTypes);
    return wrongTypes.length > 0 ? wrongTypes : found(this.#embedded);
  }

  /** Why a default in metadata makes wrong metadata; undefined: it does not. */
  problem({ resource, steps }: InMetadata, given: JsonValue): string | undefined {
    const metadata = steps.reduceRight<JsonValue>(
      (value, step) => (step === itemStep ? [value] : { [step]: value }),
      given,
    );
    const whole = { apiVersion: 'validation/v1', kind: 'Validation', metadata };
    const texts = this.errors(resource, whole, '').map(
      (error) => `${error.field}: ${fieldErrorMessage(error)}`,
    );
    return texts.length > 1 ? `[${texts.join(', ')}]` : texts[0];
  }
}

/** From a list to one of its items. */
export const itemStep = '[]';

const metadataTypes: PartVisit = {
  has: isEmbedded,
  visit(value, _info, path, { errors }) {
    const metadata = isObject(value) ? ownMember(value, 'metadata') : undefined;
    const problem = metadata === undefined ? undefined : typeProblem(metadata);
    if (problem === undefined) return;
    const at = { field: childPath(path, 'metadata'), badValue: metadata };
    errors.push({ reason: 'FieldValueInvalid', ...at, detail: problem });
  },
};

type Check = (value: JsonValue, path: string) => string | undefined;

const text: Check = (value, path) =>
  value === null || typeof value === 'string' ? undefined : `${path} must be a string`;
const integer: Check = (value, path) =>
  value === null || typeof value === 'bigint' || Number.isInteger(value)
    ? undefined
    : `${path} must be an integer`;
const anyObject: Check = (value, path) =>
  value === null || isObject(value) ? undefined : `${path} must be an object`;
const firstOf = (problems: readonly (string | undefined)[]): string | undefined =>
  problems.find((one) => one !== undefined);
const texts: Check = (value, path) =>
  isObject(value)
    ? firstOf(Object.entries(value).map(([key, one]) => text(one ?? null, `${path}.${key}`)))
    : anyObject(value, path);
const listOf =
  (check: Check): Check =>
  (value, path) => {
    if (value === null) return undefined;
    if (!Array.isArray(value)) return `${path} must be a list`;
    return firstOf(value.map((item, at) => check(item, `${path}[${String(at)}]`)));
  };

/** Of members whose values have a type; others are dropped. */
const checks: Readonly<Record<string, Check>> = {
  ...{ name: text, generateName: text, namespace: text, selfLink: text, uid: text },
  ...{ resourceVersion: text, creationTimestamp: text, deletionTimestamp: text },
  ...{ generation: integer, deletionGracePeriodSeconds: integer },
  ...{ labels: texts, annotations: texts, finalizers: listOf(text) },
  ...{ ownerReferences: listOf(anyObject), managedFields: listOf(anyObject) },
};

function typeProblem(metadata: JsonValue): string | undefined {
  if (!isObject(metadata)) return metadata === null ? undefined : 'it must be an object';
  return firstOf(
    Object.entries(checks).map(([name, check]) => check(ownMember(metadata, name) ?? null, name)),
  );
}
