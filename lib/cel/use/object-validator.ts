// Validates objects by the rules anywhere in their schema, within one cost budget. Made once for a
// definition.
import { childPath } from '../../api/field-errors.ts';
import { isAbsent } from '../../api/presence.ts';
import { isObject } from '../../api/json-value.ts';
import { limits } from '../../base/limits.ts';
import type { FieldError } from '../../base/status.ts';
import type { FieldErrorReason } from '../../base/status-reasons.ts';
import { Twins } from '../../api/twins.ts';
import type { ValidationRule, ValueInfo } from '../../api/type-info.ts';
import { elementOf, isAtomicMap, memberOf } from '../../api/value-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { EvaluationOptions, Program } from '../program.ts';
import { costLimitMessage } from '../eval/frame.ts';
import { indexPath, keyPath } from '../schema/field-path.ts';
import type { Budget } from './budget.ts';
import { budgetExhaustedMessage } from './budget.ts';
import { Ratchet } from './ratcheting.ts';
import { UnsupportedSchemaError, absentOldSelf, compileSchemaRules } from './schema-rules.ts';
import type { CompiledRule } from './schema-rules.ts';
import { isDeclared } from '../schema/value-types.ts';

export interface ValidatorOptions {
  readonly naming: NamingProfile;
  readonly version?: number | 'stored';
}

export interface ObjectValidation {
  readonly path: string;
  readonly object: unknown;
  /** The object before; undefined: there was none. */
  readonly oldObject?: unknown;
  readonly budget: Budget;
  /** Failures of unchanged parts become warnings. */
  readonly ratchets?: boolean;
  readonly evaluation?: EvaluationOptions;
}

export interface ValidationOutcome {
  readonly errors: readonly FieldError[];
  /** Errors that ratcheting turned into warnings. */
  readonly warnings: readonly FieldError[];
}

/** The validator of a value, `valueOf` a kind; undefined: its schema has no rules. */
export function createObjectValidator(
  value: ValueInfo,
  options: ValidatorOptions,
): ((validation: ObjectValidation) => ValidationOutcome) | undefined {
  const node = buildNode(value, value, options);
  if (node === undefined) return undefined;
  return (validation) => {
    const run: Run = {
      errors: [],
      warnings: [],
      budget: validation.budget,
      evaluation: validation.evaluation ?? {},
    };
    const { object, oldObject, path } = validation;
    const isUpdate = validation.ratchets === true && oldObject !== undefined;
    const ratchet = isUpdate ? Ratchet.start(object, oldObject, value) : Ratchet.off;
    validateNode(node, run, { path, value: object, old: oldObject, ratchet });
    return { errors: run.errors, warnings: run.warnings };
  };
}

/** The rules about a value and about the values within it. */
interface ValidatorNode {
  readonly info: ValueInfo;
  readonly rules: readonly CompiledRule[];
  /** The rules could not be compiled at all. */
  readonly failure: string | undefined;
  readonly members: ReadonlyMap<string, ValidatorNode>;
  /** Elements of a list or map. */
  readonly element: ValidatorNode | undefined;
  readonly allOf: readonly ValidatorNode[];
}

/** `rulesOf` holds rules, `info` types: they differ below allOf. */
function buildNode(
  rulesOf: ValueInfo,
  info: ValueInfo,
  options: ValidatorOptions,
): ValidatorNode | undefined {
  const below = (rules: ValueInfo | undefined, type: ValueInfo | undefined) =>
    rules && type && buildNode(rules, type, options);
  const node: ValidatorNode = {
    info,
    ...compileRules(rulesOf, info, options),
    members: memberNodes(rulesOf, info, options),
    element: below(rulesOf.element, elementOf(info)),
    allOf: (rulesOf.schema?.allOf ?? []).flatMap((part) => buildNode(part, info, options) ?? []),
  };
  const isEmpty =
    node.rules.length === 0 &&
    node.failure === undefined &&
    node.members.size === 0 &&
    node.element === undefined &&
    node.allOf.length === 0;
  return isEmpty ? undefined : node;
}

/** Members without a type are left out of validation, as they are of expressions. */
function memberNodes(
  rulesOf: ValueInfo,
  info: ValueInfo,
  options: ValidatorOptions,
): ReadonlyMap<string, ValidatorNode> {
  const nodes = new Map<string, ValidatorNode>();
  const { open, fieldByJsonName } = rulesOf.message ?? {};
  if (rulesOf.cardinality !== 'single' || open === undefined) return nodes;
  for (const [name, rules] of [...(open.typeMeta ?? []), ...(fieldByJsonName ?? [])]) {
    const member = memberOf(info, name);
    if (member === undefined || !isDeclared(member)) continue;
    const node = buildNode(rules, member, options);
    if (node !== undefined) nodes.set(name, node);
  }
  return nodes;
}

function compileRules(
  rulesOf: ValueInfo,
  info: ValueInfo,
  options: ValidatorOptions,
): Pick<ValidatorNode, 'rules' | 'failure'> {
  try {
    return {
      rules: compileSchemaRules(info, options, rulesOf.schema?.rules).rules,
      failure: undefined,
    };
  } catch (error) {
    if (error instanceof UnsupportedSchemaError) return { rules: [], failure: error.message };
    throw error;
  }
}

interface Run {
  readonly errors: FieldError[];
  readonly warnings: FieldError[];
  readonly budget: Budget;
  readonly evaluation: EvaluationOptions;
}

interface Place {
  readonly path: string;
  readonly value: unknown;
  readonly old: unknown;
  readonly ratchet: Ratchet;
}

type JsonObject = Readonly<Record<string, unknown>>;

function validateNode(node: ValidatorNode, run: Run, place: Place): void {
  if (isAbsent(place.value)) return;
  runRules(node, run, place);
  for (const part of node.allOf) {
    if (run.budget.remaining < 0) return;
    validateNode(part, run, { ...place, ratchet: place.ratchet.inAllOf() });
  }
  if (Array.isArray(place.value)) validateItems(node, run, place, place.value);
  else if (isObject(place.value)) validateEntries(node, run, place, place.value);
}

function validateItems(
  node: ValidatorNode,
  run: Run,
  place: Place,
  items: readonly unknown[],
): void {
  const { element, info } = node;
  if (element === undefined || info.cardinality === 'map') return;
  // Only items of keyed lists have a previous value.
  const isKeyed = info.listType === 'map';
  const others: readonly unknown[] = isKeyed && Array.isArray(place.old) ? place.old : [];
  const twins = Twins.inList(others, info);
  for (const [index, value] of items.entries()) {
    if (run.budget.remaining < 0) return;
    validateNode(element, run, {
      path: indexPath(place.path, index),
      value,
      old: twins.of(value),
      ratchet: place.ratchet.index(index),
    });
  }
}

function validateEntries(node: ValidatorNode, run: Run, place: Place, object: JsonObject): void {
  const isMap = node.info.cardinality === 'map';
  const old = !isAtomicMap(node.info) && isObject(place.old) ? place.old : {};
  for (const [key, value] of Object.entries(object)) {
    if (run.budget.remaining < 0) return;
    const child = isMap ? node.element : node.members.get(key);
    if (child === undefined) continue;
    validateNode(child, run, {
      path: isMap ? keyPath(place.path, key) : childPath(place.path, key),
      value,
      old: Object.hasOwn(old, key) ? old[key] : undefined,
      ratchet: place.ratchet.key(key),
    });
  }
}

function invalid(field: string, badValue: unknown, detail: string): FieldError {
  return {
    reason: 'FieldValueInvalid',
    field,
    detail,
    ...(badValue === undefined ? {} : { badValue }),
  };
}

function runRules(node: ValidatorNode, run: Run, place: Place): void {
  const type = node.info.schema?.type;
  if (node.failure !== undefined) {
    run.errors.push(
      invalid(place.path, type, `rule compiler initialization error: ${node.failure}`),
    );
    return;
  }
  if (node.rules.length === 0) return;
  if (run.budget.remaining <= 0) {
    run.budget.exhaust();
    run.errors.push(invalid(place.path, type, budgetExhaustedMessage));
    return;
  }
  for (const compiled of node.rules) {
    if (compiled.error !== undefined) {
      run.errors.push(invalid(place.path, type, `rule compile error: ${compiled.error}`));
    } else if (compiled.program !== undefined && isApplicable(compiled, place)) {
      runRule(node, compiled, compiled.program, run, place);
      if (run.budget.remaining < 0) return;
    }
  }
}

/** Transition rules need a value before, unless they say what to do without. */
function isApplicable(compiled: CompiledRule, place: Place): boolean {
  const hasOld = !isAbsent(place.old);
  return !compiled.usesOldSelf || hasOld || compiled.rule.optionalOldSelf === true;
}

function runRule(
  node: ValidatorNode,
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
