// Validation of values of open types by their schemas: of what the codec left as it was given.
// Failures come in a fixed order: those of a value, then those of what it holds.
import { childPath, counted } from './field-errors.ts';
import { isObject, jsonEqual, ownMember } from './json-value.ts';
import { compileListChecks } from './list-uniqueness.ts';
import type { ListCheck } from './list-uniqueness.ts';
import { Twins } from './twins.ts';
import type { JsonObject, JsonValue, TypeInfo, ValueInfo, ValueSchema } from './type-info.ts';
import { enumCheck, formatCheck, numberCheck, textCheck, typeCheck } from './value-checks.ts';
import { invalid, invalidWhole } from './value-checks.ts';
import type { Checking, ValueCheck } from './value-checks.ts';
import type { FieldError } from '../base/status.ts';
import { elementOf, isAtomicMap, valueOf } from './value-info.ts';

type Value = JsonValue | undefined;

/** `old`: the same part of the stored object, where it can be told. */
type Check = (value: JsonValue, old: Value, path: string, into: Checking) => void;

/**
 * Compiles the validation of a whole object. What is wrong in a part that is stored just so is no
 * failure: looked at only when there are failures at all. Items that exclude each other may, if any
 * such items are stored.
 */
export function compileOpenValidation(
  type: TypeInfo,
): (object: JsonObject, old: JsonObject | undefined) => readonly FieldError[] {
  const check = compile(valueOf(type));
  const checkLists = compileListChecks(valueOf(type));
  return (object, old) => {
    const into: Checking = { errors: [], passedCount: 0 };
    check(object, undefined, '', into);
    if (into.errors.length > 0 && old !== undefined) {
      into.errors.length = 0;
      check(object, old, '', into);
    }
    const twice = checkLists === undefined ? [] : listErrors(object, checkLists);
    if (twice.length === 0) return into.errors;
    const isStored = checkLists && old !== undefined && listErrors(old, checkLists).length > 0;
    return isStored === true ? into.errors : [...into.errors, ...twice];
  };
}

/** What is wrong with one value by its schema; paths of failures begin at the value. */
export function valueErrors(info: ValueInfo, value: JsonValue): readonly FieldError[] {
  const into: Checking = { errors: [], passedCount: 0 };
  compile(info)(value, undefined, '', into);
  return into.errors;
}

function listErrors(object: JsonObject, check: ListCheck): readonly FieldError[] {
  const errors: FieldError[] = [];
  check(object, '', errors);
  return errors;
}

function compile(info: ValueInfo): Check {
  const { schema } = info;
  const own: readonly (ValueCheck | undefined)[] = [schema && enumCheck(schema)];
  const ofNull = ignoringOld([typeCheck(info), ...own]);
  const steps = [
    ...ignoringOld([
      typeCheck(info),
      ...(schema === undefined ? [] : junctorChecks(schema)),
      schema && textCheck(schema),
      schema && formatCheck(schema),
      schema && numberCheck(schema),
    ]),
    ...listSteps(info),
    ...ignoringOld(own),
    ...objectSteps(info),
  ];
  return (value, old, path, into) => {
    const before = into.errors.length;
    for (const step of value === null ? ofNull : steps) {
      const count = into.errors.length;
      step(value, old, path, into);
      if (into.errors.length === count) into.passedCount += 1;
    }
    if (into.errors.length === before || old === undefined) return;
    if (jsonEqual(value, old)) into.errors.length = before;
  };
}

const ignoringOld = (checks: readonly (ValueCheck | undefined)[]): readonly Check[] =>
  checks.flatMap((check) =>
    check === undefined ? [] : [(value, _old, path, into) => check(value, path, into)],
  );

function listSteps(info: ValueInfo): readonly Check[] {
  const { minItems, maxItems } = info.schema ?? {};
  const steps: Check[] = [];
  const element = info.cardinality === 'map' ? undefined : elementOf(info);
  if (element !== undefined) steps.push(itemsStep(info, compile(element)));
  steps.push(
    ...ignoringOld([
      minItems === undefined
        ? undefined
        : (value, path, into) => {
            if (!Array.isArray(value) || value.length >= minItems) return;
            const text = `should have at least ${String(minItems)} items`;
            invalid(into, { path, value: value.length, text });
          },
      maxItems === undefined
        ? undefined
        : (value, path, into) => {
            if (Array.isArray(value) && value.length > maxItems) {
              tooMany(into, { path, count: value.length, countMax: maxItems });
            }
          },
    ]),
  );
  return steps;
}

function itemsStep(info: ValueInfo, check: Check): Check {
  return (value, old, path, into) => {
    if (!Array.isArray(value)) return;
    const isKeyed = info.listType === 'map' && Array.isArray(old);
    const twins = isKeyed ? Twins.inList<Value>(old, info) : undefined;
    for (const [at, item] of value.entries()) {
      check(item, twins?.of(item), `${path}[${String(at)}]`, into);
    }
  };
}

function tooMany(
  into: Checking,
  found: { readonly path: string; readonly count: number; readonly countMax: number },
): void {
  into.errors.push({
    reason: 'FieldValueTooMany',
    field: found.path,
    badValue: found.count,
    detail: `must have at most ${counted(found.countMax, 'item')}`,
  });
}

function objectSteps(info: ValueInfo): readonly Check[] {
  const { schema } = info;
  const steps: Check[] = [];
  if (schema !== undefined) steps.push(...ignoringOld([sizeCheck(schema), closedCheck(info)]));
  if (info.cardinality === 'map') {
    const element = elementOf(info);
    if (element !== undefined) steps.push(entriesStep(info, compile(element)));
  } else if (info.cardinality === 'single') {
    const step = membersStep(info);
    if (step !== undefined) steps.push(step);
  }
  if (schema !== undefined) steps.push(...ignoringOld([requiredCheck(schema)]));
  return steps;
}

function sizeCheck({ minProperties, maxProperties }: ValueSchema): ValueCheck | undefined {
  if (minProperties === undefined && maxProperties === undefined) return undefined;
  return (value, path, into) => {
    if (!isObject(value)) return;
    const count = Object.keys(value).length;
    if (minProperties !== undefined && count < minProperties) {
      const text = `should have at least ${String(minProperties)} properties`;
      invalid(into, { path, value: count, text });
    }
    if (maxProperties !== undefined && count > maxProperties) {
      tooMany(into, { path, count, countMax: maxProperties });
    }
  };
}

/** `additionalProperties: false`. */
function closedCheck({ message, schema }: ValueInfo): ValueCheck | undefined {
  if (schema?.additionalProperties !== false) return undefined;
  const known = message?.fieldByJsonName;
  const typeMeta = message?.open?.typeMeta;
  return (value, path, into) => {
    if (!isObject(value)) return;
    for (const key of Object.keys(value)) {
      if (known?.has(key) === true || typeMeta?.has(key) === true) continue;
      const detail = `${childPath(path, key)} in body is a forbidden property`;
      into.errors.push({ reason: 'FieldValueInvalid', field: path, badValue: key, detail });
    }
  };
}

function requiredCheck({ required }: ValueSchema): ValueCheck | undefined {
  if (required.length === 0) return undefined;
  return (value, path, into) => {
    if (!isObject(value)) return;
    for (const name of required) {
      if (Object.hasOwn(value, name) && value[name] !== undefined) continue;
      const field = childPath(path, name);
      into.errors.push({ reason: 'FieldValueRequired', field, detail: '' });
    }
  };
}

function entriesStep(info: ValueInfo, check: Check): Check {
  const isAtomic = isAtomicMap(info);
  return (value, old, path, into) => {
    if (!isObject(value)) return;
    for (const key of Object.keys(value)) {
      const entry = value[key];
      const twin = isAtomic ? undefined : memberIn(old, key);
      if (entry !== undefined) check(entry, twin, childPath(path, key), into);
    }
  };
}

function membersStep(info: ValueInfo): Check | undefined {
  const isAtomic = isAtomicMap(info);
  const { open, fieldByJsonName } = info.message ?? {};
  // Metadata itself is validated as that of every kind; these are conditions on top.
  const members = open === undefined ? [] : [...(open.typeMeta ?? []), ...(fieldByJsonName ?? [])];
  const checks = members.flatMap(([name, member]) =>
    member.schema === undefined ? [] : [{ name, check: compile(member) }],
  );
  if (checks.length === 0) return undefined;
  return (value, old, path, into) => {
    if (!isObject(value)) return;
    for (const { name, check } of checks) {
      const member = memberIn(value, name);
      if (member === undefined) continue;
      check(member, isAtomic ? undefined : memberIn(old, name), childPath(path, name), into);
    }
  };
}

const memberIn = (object: Value, name: string): Value =>
  isObject(object) ? ownMember(object, name) : undefined;

/** Conditions without a type on the same value: nothing below them has an old value. */
function junctorChecks({
  anyOf,
  oneOf,
  allOf,
  not,
}: ValueSchema): readonly (ValueCheck | undefined)[] {
  return [
    anyOf.length === 0 ? undefined : anyOfCheck(anyOf.map(compile)),
    oneOf.length === 0 ? undefined : oneOfCheck(oneOf.map(compile)),
    allOf.length === 0 ? undefined : allOfCheck(allOf.map(compile)),
    not === undefined ? undefined : notCheck(compile(not)),
  ];
}

function tried(branch: Check, value: JsonValue, path: string): Checking {
  const into: Checking = { errors: [], passedCount: 0 };
  branch(value, undefined, path, into);
  return into;
}

const isValid = ({ errors }: Checking): boolean => errors.length === 0;

/** Of the branch that most checks passed in, the first among equals. */
function addBestErrors(outcomes: readonly Checking[], into: Checking): void {
  const most = Math.max(...outcomes.map(({ passedCount }) => passedCount));
  const best = outcomes.find(({ passedCount }) => passedCount === most);
  addErrors(best?.errors ?? [], into);
}

function addErrors(errors: readonly FieldError[], into: Checking): void {
  for (const error of errors) into.errors.push(error);
}

const anyOfCheck =
  (branches: readonly Check[]): ValueCheck =>
  (value, path, into) => {
    const outcomes = branches.map((branch) => tried(branch, value, path));
    if (outcomes.some(isValid)) return;
    invalidWhole(into, `"${path}" must validate at least one schema (anyOf)`);
    addBestErrors(outcomes, into);
  };

const oneOfCheck =
  (branches: readonly Check[]): ValueCheck =>
  (value, path, into) => {
    const outcomes = branches.map((branch) => tried(branch, value, path));
    const validCount = outcomes.filter(isValid).length;
    if (validCount === 1) return;
    const found = validCount === 0 ? 'none valid' : `${String(validCount)} valid alternatives`;
    invalidWhole(into, `"${path}" must validate one and only one schema (oneOf). Found ${found}`);
    if (validCount === 0) addBestErrors(outcomes, into);
  };

const allOfCheck =
  (branches: readonly Check[]): ValueCheck =>
  (value, path, into) => {
    const outcomes = branches.map((branch) => tried(branch, value, path));
    const failedCount = outcomes.filter((outcome) => !isValid(outcome)).length;
    if (failedCount === 0) return;
    for (const { errors } of outcomes) addErrors(errors, into);
    const none = failedCount === branches.length ? '. None validated' : '';
    invalidWhole(into, `"${path}" must validate all the schemas (allOf)${none}`);
  };

const notCheck =
  (branch: Check): ValueCheck =>
  (value, path, into) => {
    if (!isValid(tried(branch, value, path))) return;
    invalidWhole(into, `"${path}" must not validate the schema (not)`);
  };
