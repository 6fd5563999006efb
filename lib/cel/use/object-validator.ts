// Validates objects by the rules anywhere in their schema, within one cost budget. Made once for a
// definition; large objects are looked at in several turns.
import { FailureList } from '../../api/failure-list.ts';
import { childPath } from '../../api/field-errors.ts';
import { isAbsent } from '../../api/presence.ts';
import { isObject } from '../../api/json-value.ts';
import { valuesReaching } from '../../api/schema-walk.ts';
import { StoredParts } from '../../api/stored-parts.ts';
import { eachInTurns } from '../../base/each-in-turns.ts';
import { limits } from '../../base/limits.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { FieldError } from '../../base/status.ts';
import type { FieldErrorReason } from '../../base/status-reasons.ts';
import type { Yielder } from '../../base/yielder.ts';
import type { ValidationRule, ValueInfo } from '../../api/type-info.ts';
import { isAtomicMap } from '../../api/value-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { EvaluationOptions, Program } from '../program.ts';
import { costLimitMessage } from '../eval/frame.ts';
import { indexPath, keyPath } from '../schema/field-path.ts';
import type { Budget } from './budget.ts';
import { budgetExhaustedMessage } from './budget.ts';
import { Ratchet } from './ratcheting.ts';
import { RuleNode } from './rule-node.ts';
import { absentOldSelf } from './schema-rules.ts';
import type { CompiledRule } from './schema-rules.ts';

export interface ValidatorOptions {
  readonly naming: NamingProfile;
  readonly version?: number | 'stored';
  /** Told how long it took to compile the rules of one value. */
  readonly onCompiled?: ((ms: number) => void) | undefined;
  /** `valuesWithRules` of a value around this one, where several validators look into it. */
  readonly reaching?: ReadonlySet<ValueInfo>;
}

/** The values that have rules, and those that hold one. */
export const valuesWithRules = (value: ValueInfo): ReadonlySet<ValueInfo> =>
  valuesReaching(value, hasRules, { isBelowAllOf: true });

export interface ObjectValidation {
  readonly path: string;
  readonly object: unknown;
  /** The object before; undefined: there was none. */
  readonly oldObject?: unknown;
  readonly budget: Budget;
  /** Failures of unchanged parts become warnings. */
  readonly ratchets?: boolean;
  /** Shared with what else looks at the same write; absent: the validation has its own. */
  readonly stored?: StoredParts | undefined;
  readonly evaluation?: EvaluationOptions;
}

export interface ValidationOutcome {
  readonly errors: readonly FieldError[];
  /** Errors that ratcheting turned into warnings. */
  readonly warnings: readonly FieldError[];
}

export interface ObjectValidator {
  (validation: ObjectValidation): ValidationOutcome;
  /** In several turns, where the object is large. */
  (validation: ObjectValidation, pace: Yielder): MaybePromise<ValidationOutcome>;
}

/**
 * The validator of a value, `valueOf` a kind; undefined: its schema has no rules. Rules are
 * compiled when a value first needs them, and kept as long as the validator.
 */
export function createObjectValidator(
  value: ValueInfo,
  { reaching = valuesWithRules(value), ...options }: ValidatorOptions,
): ObjectValidator | undefined {
  if (!reaching.has(value)) return undefined;
  const node = new RuleNode(value, value, { ...options, reaching });
  function validate(validation: ObjectValidation): ValidationOutcome;
  function validate(
    validation: ObjectValidation,
    pace: Yielder | undefined,
  ): MaybePromise<ValidationOutcome>;
  function validate(
    { path, object, oldObject, budget, ratchets, stored, evaluation }: ObjectValidation,
    pace?: Yielder,
  ): MaybePromise<ValidationOutcome> {
    const run: Run = {
      errors: new FailureList(),
      warnings: new FailureList(),
      budget,
      evaluation: evaluation ?? {},
      stored: stored ?? new StoredParts(),
      pace,
    };
    const isUpdate = ratchets === true && oldObject !== undefined;
    const ratchet = isUpdate ? Ratchet.start(object, oldObject, run.stored) : Ratchet.off;
    const done = validateNode(node, run, { path, value: object, old: oldObject, ratchet });
    const { errors, warnings } = run;
    return whenThere(done, () => ({ errors: errors.all(), warnings: warnings.all() }));
  }
  return validate;
}

const hasRules = ({ schema }: ValueInfo): boolean => (schema?.rules.length ?? 0) > 0;

interface Run {
  readonly errors: FailureList;
  readonly warnings: FailureList;
  readonly budget: Budget;
  readonly evaluation: EvaluationOptions;
  readonly stored: StoredParts;
  readonly pace: Yielder | undefined;
}

interface Place {
  readonly path: string;
  readonly value: unknown;
  readonly old: unknown;
  readonly ratchet: Ratchet;
}

type JsonObject = Readonly<Record<string, unknown>>;

function validateNode(node: RuleNode, run: Run, place: Place): MaybePromise<void> {
  if (isAbsent(place.value)) return undefined;
  const ruled = runRules(node, run, place);
  if (ruled !== undefined) return ruled.then(() => validateParts(node, run, place));
  return validateParts(node, run, place);
}

function validateParts(node: RuleNode, run: Run, place: Place): MaybePromise<void> {
  const done = validateAllOf(node, run, place);
  if (done !== undefined) return done.then(() => validateBelow(node, run, place));
  return validateBelow(node, run, place);
}

function validateAllOf(node: RuleNode, run: Run, place: Place): MaybePromise<void> {
  const { allOf } = node;
  if (allOf.length === 0) return undefined;
  const ratchet = place.ratchet.inAllOf();
  const step = (part: RuleNode): MaybePromise<void> =>
    isOver(run) ? undefined : validateNode(part, run, { ...place, ratchet });
  return eachInTurns(allOf, step, run.pace);
}

function validateBelow(node: RuleNode, run: Run, place: Place): MaybePromise<void> {
  if (isOver(run)) return undefined;
  const { value } = place;
  if (Array.isArray(value)) return validateItems(node, run, place, value);
  return isObject(value) ? validateEntries(node, run, place, value) : undefined;
}

const isOver = ({ budget }: Run): boolean => budget.remaining < 0;

function validateItems(
  node: RuleNode,
  run: Run,
  place: Place,
  items: readonly unknown[],
): MaybePromise<void> {
  const { element, info } = node;
  if (element === undefined || info.cardinality === 'map') return undefined;
  const itemsWith = (twinOf: (item: unknown) => unknown): MaybePromise<void> =>
    eachInTurns(
      items,
      (value, index) => {
        if (isOver(run)) return undefined;
        const old = twinOf(value);
        const path = indexPath(place.path, index);
        const ratchet = place.ratchet.below(value, old);
        return validateNode(element, run, { path, value, old, ratchet });
      },
      run.pace,
    );
  // Only items of keyed lists have a previous value.
  if (info.listType !== 'map' || !Array.isArray(place.old)) return itemsWith(() => undefined);
  return whenThere(run.stored.twinsIn(place.old, info, run.pace), (twins) =>
    itemsWith((item) => twins.of(item)),
  );
}

function validateEntries(
  node: RuleNode,
  run: Run,
  place: Place,
  object: JsonObject,
): MaybePromise<void> {
  const isMap = node.info.cardinality === 'map';
  const old = !isAtomicMap(node.info) && isObject(place.old) ? place.old : {};
  return eachInTurns(
    Object.keys(object),
    (key) => {
      const child = isOver(run) ? undefined : isMap ? node.element : node.member(key);
      if (child === undefined) return undefined;
      const value = object[key];
      const twin = Object.hasOwn(old, key) ? old[key] : undefined;
      // Both objects were converted to one version: the type fields say nothing about what was
      // written.
      const isType = node.isRoot && (key === 'apiVersion' || key === 'kind');
      return validateNode(child, run, {
        path: isMap ? keyPath(place.path, key) : childPath(place.path, key),
        value,
        old: twin,
        ratchet: isType ? Ratchet.off : place.ratchet.below(value, twin),
      });
    },
    run.pace,
  );
}

function invalid(field: string, badValue: unknown, detail: string): FieldError {
  return {
    reason: 'FieldValueInvalid',
    field,
    detail,
    ...(badValue === undefined ? {} : { badValue }),
  };
}

function runRules(node: RuleNode, run: Run, place: Place): MaybePromise<void> {
  const type = node.info.schema?.type;
  if (node.failure !== undefined) {
    run.errors.push(
      invalid(place.path, type, `rule compiler initialization error: ${node.failure}`),
    );
    return undefined;
  }
  if (node.rules.length === 0) return undefined;
  if (run.budget.remaining <= 0) {
    run.budget.exhaust();
    run.errors.push(invalid(place.path, type, budgetExhaustedMessage));
    return undefined;
  }
  return eachInTurns(
    node.rules,
    (compiled) => {
      if (isOver(run)) return undefined;
      if (compiled.error !== undefined) {
        run.errors.push(invalid(place.path, type, `rule compile error: ${compiled.error}`));
        return undefined;
      }
      if (compiled.program === undefined || !isApplicable(compiled, place)) return undefined;
      const before = run.budget.remaining;
      runRule(node, compiled, compiled.program, run, place);
      const { pace } = run;
      const steps = Math.ceil((before - run.budget.remaining) / stepCost);
      return pace?.isDue(steps) === true ? pace.yield() : undefined;
    },
    undefined,
  );
}

/** Cost of what takes about a microsecond. */
const stepCost = 8;

/** Transition rules need a value before, unless they say what to do without. */
function isApplicable(compiled: CompiledRule, place: Place): boolean {
  const hasOld = !isAbsent(place.old);
  return !compiled.usesOldSelf || hasOld || compiled.rule.optionalOldSelf === true;
}

function runRule(
  node: RuleNode,
  compiled: CompiledRule,
  program: Program,
  run: Run,
  place: Place,
): void {
  const { rule } = compiled;
  const type = node.info.schema?.type;
  const oldSelf = isAbsent(place.old) && rule.optionalOldSelf === true ? absentOldSelf : place.old;
  const bindings = { self: place.value, oldSelf };
  const result = program.evaluate(bindings, run.evaluation);
  if (result.kind === 'pending' || !run.budget.spend(result.cost)) {
    run.budget.exhaust();
    run.errors.push(invalid(place.path, type, budgetExhaustedMessage));
    return;
  }
  if (result.kind === 'error') {
    run.errors.push(invalid(place.path, type, failureText(result.message, rule)));
    if (result.message.startsWith(costLimitMessage)) run.budget.exhaust();
    return;
  }
  if (result.value === true) return;
  const path = compiled.fieldPath === '' ? place.path : childPath(place.path, compiled.fieldPath);
  const message = messageFor(compiled, bindings, run);
  if (message.isFatal) {
    run.budget.exhaust();
    report(compiled, run, place, invalid(path, type, message.text));
    return;
  }
  report(compiled, run, place, fieldError(path, place.value, message.text, rule.reason));
}

function report(compiled: CompiledRule, run: Run, place: Place, error: FieldError): void {
  const onlyWarns = !compiled.usesOldSelf && place.ratchet.warns();
  (onlyWarns ? run.warnings : run.errors).push(error);
}

const stopped = 'no further validation rules will be run';

const shownRule = (rule: ValidationRule): string => (rule.message || rule.rule).trim();

function failureText(message: string, rule: ValidationRule): string {
  if (message.startsWith('no such overload')) {
    const why = 'call arguments did not match a supported operator, function or macro signature';
    return `'${message}': ${why} for rule: ${shownRule(rule)}`;
  }
  if (message.startsWith(costLimitMessage)) {
    return `'${message}': ${stopped} due to call cost exceeds limit for rule: ${shownRule(rule)}`;
  }
  return `${message} evaluating rule: ${shownRule(rule)}`;
}

const { ruleMessageBytesMax } = limits;

/**
 * The text of a failure: of the message expression where it gives a proper one, else the message,
 * else the rule.
 */
function messageFor(
  compiled: CompiledRule,
  bindings: Readonly<Record<string, unknown>>,
  run: Run,
): { readonly text: string; readonly isFatal: boolean } {
  const { rule, messageProgram } = compiled;
  const fallback = {
    text: rule.message ? rule.message.trim() : `failed rule: ${shownRule(rule)}`,
    isFatal: false,
  };
  if (messageProgram === undefined) return fallback;
  const result = messageProgram.evaluate(bindings, run.evaluation);
  if (result.kind === 'pending' || result.cost > run.budget.remaining) {
    const text = 'messageExpression evaluation failed due to running out of cost budget';
    return { text: `${text}, ${stopped}`, isFatal: true };
  }
  if (result.kind === 'error' && result.message.startsWith(costLimitMessage)) {
    const source = JSON.stringify(rule.messageExpression);
    const text = `${stopped} due to call cost exceeds limit for messageExpression`;
    return { text: `${text}: ${source}`, isFatal: true };
  }
  run.budget.spend(result.cost);
  const text =
    result.kind === 'value' && typeof result.value === 'string' ? result.value.trim() : '';
  const isProper =
    text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= ruleMessageBytesMax;
  return isProper ? { text, isFatal: false } : fallback;
}

/** Structures are not repeated in the error: they are long, and their author knows them. */
function fieldError(
  field: string,
  value: unknown,
  detail: string,
  reason: string | undefined,
): FieldError {
  const badValue = typeof value === 'object' ? undefined : value;
  const shown = badValue === undefined ? {} : { badValue };
  switch (reason as FieldErrorReason | undefined) {
    case 'FieldValueForbidden':
      return { reason: 'FieldValueForbidden', field, detail };
    case 'FieldValueRequired':
      return { reason: 'FieldValueRequired', field, detail };
    case 'FieldValueDuplicate':
      return { reason: 'FieldValueDuplicate', field, detail: '', ...shown };
    default:
      return { reason: 'FieldValueInvalid', field, detail, ...shown };
  }
}
