// Validation of objects whose kind comes from a schema: by its words, the strategy, whole objects
// within, lists whose items exclude each other, and last by its expressions, which are only asked
// where the structure is right. Large objects take several turns; compiled at the first write.
import { FailureList } from '../api/failure-list.ts';
import { dropDisabledFields } from '../api/gated-fields.ts';
import { compileEmbeddedChecks } from '../api/embedded-resources.ts';
import { compileListChecks } from '../api/list-uniqueness.ts';
import { compileOpenValidation } from '../api/open-validation.ts';
import type { OpenValidation } from '../api/open-validation.ts';
import type { Walk } from '../api/schema-walk.ts';
import { StoredParts } from '../api/stored-parts.ts';
import type { JsonValue, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { memberOf, valueOf } from '../api/value-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { limits } from '../base/limits.ts';
import { eachInTurns } from '../base/each-in-turns.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { whenThere } from '../base/maybe-promise.ts';
import { fieldErrorMessage } from '../base/status.ts';
import type { FieldError } from '../base/status.ts';
import type { FieldErrorReason } from '../base/status-reasons.ts';
import { Yielder } from '../base/yielder.ts';
import { Budget } from '../cel/use/budget.ts';
import { createObjectValidator } from '../cel/use/object-validator.ts';
import type { ObjectValidator } from '../cel/use/object-validator.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { ResourceStrategy, WriteContext } from '../kinds/strategy.ts';
import type { ObjectRules } from './validation.ts';

type Stored = Readonly<ApiObject>;

export interface SchemaRulesOptions {
  /** Of the names that expressions know. */
  readonly naming: NamingProfile;
  readonly isOn: (gate: string) => boolean;
  readonly observer?: SchemaRulesObserver | undefined;
}

/** Told how long things took, in seconds. */
export interface SchemaRulesObserver {
  /** The rules of one value of a schema, at their first use. */
  compiled(seconds: number): void;
  /** All rules of one write, without what compiling them took. */
  evaluated(seconds: number): void;
  /** What was compared of an update with what is stored. */
  ratcheted(seconds: number): void;
}

/** The rules of a kind whose type comes from a schema (`type.open`). */
export function schemaObjectRules(
  { type }: Pick<ResourceInfo, 'type'>,
  strategy: ResourceStrategy,
  { naming, isOn, observer }: SchemaRulesOptions,
): ObjectRules {
  let compiled: CompiledSchema | undefined;
  return {
    dropDisabled: dropDisabledFields(type, isOn),
    prepare(object, old, context) {
      strategy.prepare?.(object, old, context, isOn);
    },
    authorize: (object, old, context, signal) =>
      strategy.authorize?.(object, old, context, { isOn, signal }) ?? [],
    validate(object, old, context, earlier) {
      const schema = (compiled ??= compileSchema(type, naming, observer));
      const byStrategy = (found: FieldError[]): readonly FieldError[] =>
        strategy.validate?.(object, old, context, isOn, found) ?? [];
      return validateWrite(schema, { object, old, context, earlier, byStrategy });
    },
    warn(object, old, context) {
      addWarnings(context, strategy.warnings?.(object, old, context) ?? []);
    },
  };
}

interface CompiledSchema {
  readonly whole: OpenValidation;
  /** Of the member `status` by itself; undefined: nothing is said of it. */
  readonly status: OpenValidation | undefined;
  readonly embedded: Walk | undefined;
  readonly lists: Walk | undefined;
  readonly expressions: ObjectValidator | undefined;
  readonly observer: SchemaRulesObserver | undefined;
  /** What compiling expressions has taken so far. */
  readonly compiling: { ms: number };
}

function compileSchema(
  type: TypeInfo,
  naming: NamingProfile,
  observer: SchemaRulesObserver | undefined,
): CompiledSchema {
  const root = valueOf(type);
  const status = memberOf(root, 'status');
  const compiling = { ms: 0 };
  const onCompiled = (ms: number): void => {
    compiling.ms += ms;
    observer?.compiled(ms / 1_000);
  };
  return {
    whole: compileOpenValidation(root),
    status: status && compileOpenValidation(status),
    embedded: compileEmbeddedChecks(root, naming),
    lists: compileListChecks(root),
    expressions: createObjectValidator(root, { naming, version: 'stored', onCompiled }),
    ...{ observer, compiling },
  };
}

interface Write {
  readonly object: Stored;
  readonly old: Stored | undefined;
  readonly context: WriteContext;
  /** What was found wrong in the metadata. */
  readonly earlier: readonly FieldError[];
  readonly byStrategy: (found: FieldError[]) => readonly FieldError[];
}

/** One write that is looked at. */
interface Run extends Write {
  readonly stored: StoredParts;
  readonly pace: Yielder;
}

function validateWrite(schema: CompiledSchema, write: Write): MaybePromise<readonly FieldError[]> {
  const run: Run = { ...write, stored: new StoredParts(), pace: new Yielder() };
  const errors = whenThere(valueErrorsOf(schema, run), (found) => validateRest(schema, run, found));
  if (write.old === undefined || schema.observer === undefined) return errors;
  const { observer } = schema;
  return whenThere(errors, (found) => {
    observer.ratcheted(run.stored.comparedMs / 1_000);
    return found;
  });
}

/** A write of the status is judged by the status alone. */
function valueErrorsOf(
  { whole, status }: CompiledSchema,
  { object, old, context, stored, pace }: Run,
): MaybePromise<readonly FieldError[]> {
  if (context.subresource !== 'status') return whole({ value: object, old, stored, pace });
  const value = object['status'];
  if (status === undefined || value === undefined) return [];
  const errors = status({ value, old: old?.['status'], stored, pace });
  return whenThere(errors, (found) => found.map(belowStatus));
}

/** Texts go on to name what is below the status alone. */
function belowStatus(error: FieldError): FieldError {
  const { field } = error;
  if (field === '' || field === '<nil>') return { ...error, field: 'status' };
  return { ...error, field: field.startsWith('[') ? `status${field}` : `status.${field}` };
}

function validateRest(
  schema: CompiledSchema,
  run: Run,
  declared: readonly FieldError[],
): MaybePromise<readonly FieldError[]> {
  const found = [...declared];
  const errors = found.concat(run.byStrategy(found));
  const steps: readonly Part[] = [checkEmbedded, checkLists, checkExpressions];
  const done = eachInTurns(steps, (step) => step(schema, run, errors), undefined);
  return whenThere(done, () =>
    errors.map((error) => (error.field === '' ? { ...error, field: fieldOf(error) } : error)),
  );
}

type Part = (schema: CompiledSchema, run: Run, errors: FieldError[]) => MaybePromise<void>;

const checkEmbedded: Part = ({ embedded }, { object, context, pace }, errors) =>
  embedded === undefined || context.subresource === 'status'
    ? undefined
    : whenThere(failuresOf(embedded, object, pace), (found) => {
        append(errors, found);
      });

function failuresOf(
  walk: Walk,
  value: JsonValue,
  pace: Yielder,
): MaybePromise<readonly FieldError[]> {
  const errors = new FailureList();
  return whenThere(walk(value, '', { errors, pace }), () => errors.all());
}

/** Items that exclude each other may, if any such items are stored. */
const checkLists: Part = ({ lists }, { object, old, pace }, errors) => {
  if (lists === undefined) return undefined;
  return whenThere(failuresOf(lists, object, pace), (found) => {
    if (found.length === 0) return undefined;
    return whenThere(old === undefined ? [] : failuresOf(lists, old, pace), (before) => {
      if (before.length === 0) append(errors, found);
    });
  });
};

const checkExpressions: Part = ({ expressions, observer, compiling }, run, errors) => {
  if (expressions === undefined) return undefined;
  const { object, old, stored, pace, context, earlier } = run;
  if (isUnstructured(earlier) || isUnstructured(errors)) {
    errors.push({ reason: 'FieldValueInvalid', field: '<nil>', badValue: null, detail: unchecked });
    return undefined;
  }
  const budget = new Budget(limits.objectRulesCostMax);
  const before = old === undefined ? {} : { oldObject: old, ratchets: true };
  const fromMs = performance.now() - compiling.ms;
  const outcome = expressions({ path: '', object, ...before, budget, stored }, pace);
  return whenThere(outcome, ({ errors: found, warnings }) => {
    observer?.evaluated(Math.max(0, performance.now() - compiling.ms - fromMs) / 1_000);
    append(errors, found);
    addWarnings(
      context,
      warnings.map((error) => `${fieldOf(error)}: ${fieldErrorMessage(error)}`),
    );
  });
};

const unchecked =
  'some validation rules were not checked because the object was invalid; ' +
  'correct the existing errors to complete validation';

/** Failures after which expressions could find anything. */
const structural: ReadonlySet<FieldErrorReason> = new Set<FieldErrorReason>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const isUnstructured = (errors: readonly FieldError[]): boolean =>
  errors.some(({ reason }) => structural.has(reason));

/** The whole object has no path. */
const fieldOf = ({ field }: FieldError): string => (field === '' ? '<nil>' : field);

function append(errors: FieldError[], found: readonly FieldError[]): void {
  for (const error of found) errors.push(error);
}

function addWarnings(context: WriteContext, texts: readonly string[]): void {
  const known = new Set(context.warnings);
  for (const text of texts) if (!known.has(text) && known.add(text)) context.warnings.push(text);
}
