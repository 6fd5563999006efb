// Validation of values of open types by their schemas: of what the codec left as it was given.
// Failures come in a fixed order: those of a value, then those of what it holds. A schema is
// compiled where values first need it, and large objects are looked at in several turns.
import { eachInTurns } from '../base/each-in-turns.ts';
import { invariant } from '../base/invariant.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { FieldError } from '../base/status.ts';
import type { Yielder } from '../base/yielder.ts';
import { FailureList } from './failure-list.ts';
import { childPath, counted } from './field-errors.ts';
import { isObject, ownMember } from './json-value.ts';
import { junctorChecks } from './open-junctors.ts';
import { StoredParts } from './stored-parts.ts';
import type { JsonObject, JsonValue, TypeInfo, ValueInfo, ValueSchema } from './type-info.ts';
import { enumCheck, formatCheck, knownFormatOf, numberCheck } from './value-checks.ts';
import { invalid, textCheck, typeCheck } from './value-checks.ts';
import type { Check, Checking, ValueCheck } from './value-checks.ts';
import { elementOf, isAtomicMap, isIntOrString, memberOf, valueOf } from './value-info.ts';

type Value = JsonValue | undefined;

/** A value to look at; paths of failures begin at `path`. */
export interface Written {
  readonly value: JsonValue;
  /** What is stored in its place: what is wrong in a part that is stored just so is no failure. */
  readonly old?: Value;
  /** Shared with what else looks at the same write; absent: the validation has its own. */
  readonly stored?: StoredParts;
  readonly pace?: Yielder | undefined;
}

export type OpenValidation = (written: Written) => MaybePromise<readonly FieldError[]>;

/** The validation of a value, by its schema alone. */
export function compileOpenValidation(info: ValueInfo): OpenValidation {
  const check = compile(info);
  return ({ value, old, stored, pace }) => {
    const into: Checking = {
      ...{ errors: new FailureList(), matchCount: 0, pace },
      stored: undefined,
    };
    // What is stored is looked at only when something is wrong.
    return whenThere(check(value, undefined, '', into), () => {
      if (into.errors.count === 0 || old === undefined) return into.errors.distinct();
      const again: Checking = {
        ...{ errors: new FailureList(), matchCount: 0, pace },
        stored: stored ?? new StoredParts(),
      };
      return whenThere(check(value, old, '', again), () => again.errors.distinct());
    });
  };
}

const compiledTypes = new WeakMap<TypeInfo, OpenValidation>();

/** All failures of a whole object, in one turn; items that exclude each other are not looked at. */
export function openErrors(
  object: JsonObject,
  old: JsonObject | undefined,
  type: TypeInfo,
): readonly FieldError[] {
  let validate = compiledTypes.get(type);
  if (validate === undefined) {
    validate = compileOpenValidation(valueOf(type));
    compiledTypes.set(type, validate);
  }
  return atOnce(validate({ value: object, old }));
}

/** What is wrong with one value by its schema; paths of failures begin at the value. */
export const valueErrors = (info: ValueInfo, value: JsonValue): readonly FieldError[] =>
  atOnce(compileOpenValidation(info)({ value }));

/** Of what was done without a pace. */
function atOnce<T>(result: MaybePromise<T>): T {
  invariant(!(result instanceof Promise), 'without a pace there is nothing to wait for');
  return result;
}

/** Compiled when a value first needs it: schemas are large, and objects use little of them. */
function compiledLater(info: ValueInfo): Check {
  let made: Check | undefined;
  return (value, old, path, into) => (made ??= compile(info))(value, old, path, into);
}

function compile(info: ValueInfo): Check {
  const { schema } = info;
  const hasType = isIntOrString(info) || (schema?.type ?? '') !== '';
  const hasFormat = schema !== undefined && knownFormatOf(schema) !== '';
  const typed = typeCheck(info);
  const listed = schema && enumCheck(schema);
  const ofNull = prompt([typed, listed]);
  const steps = [
    ...prompt([typed]),
    ...(schema === undefined ? [] : junctorChecks(schema, compiledLater)),
    ...prompt(
      schema === undefined ? [] : [textCheck(schema), formatCheck(schema), numberCheck(schema)],
    ),
    ...listSteps(info),
    ...prompt([listed]),
    ...objectSteps(info),
  ];
  // How many kinds of checks are about a value: of the branches that fail, the best has most.
  const matches = hasType || hasFormat ? 4 : 3;
  const textMatches = hasFormat ? matches + 2 : matches + 1;
  return (value, old, path, into) => {
    const before = into.errors.count;
    if (value !== null) {
      const type = typeof value;
      into.matchCount +=
        type === 'string' ? textMatches : type === 'boolean' ? matches : matches + 1;
    }
    const own = value === null ? ofNull : steps;
    for (let at = 0; at < own.length; at += 1) {
      const done = own[at]?.(value, old, path, into);
      if (done !== undefined) {
        return restLater({ steps: own, next: at + 1, before, done }, value, old, path, into);
      }
    }
    forgiveStored(before, value, old, into);
    return undefined;
  };
}

/** Steps of a value that is looked at in several turns. */
interface Rest {
  readonly steps: readonly Check[];
  readonly next: number;
  /** How many failures there were before the value. */
  readonly before: number;
  /** The step that takes longer. */
  readonly done: Promise<void>;
}

async function restLater(
  { steps, next, before, done }: Rest,
  ...of: Parameters<Check>
): Promise<void> {
  await done;
  for (const step of steps.slice(next)) await step(...of);
  const [value, old, , into] = of;
  forgiveStored(before, value, old, into);
}

function forgiveStored(before: number, value: JsonValue, old: Value, into: Checking): void {
  if (into.errors.count === before || old === undefined) return;
  if (into.stored?.isSame(value, old) === true) into.errors.rewind(before);
}

const prompt = (checks: readonly (ValueCheck | undefined)[]): readonly Check[] =>
  checks.flatMap((check): readonly Check[] =>
    check === undefined
      ? []
      : [
          (value, _old, path, into) => {
            check(value, path, into);
          },
        ],
  );

function listSteps(info: ValueInfo): readonly Check[] {
  const { minItems, maxItems } = info.schema ?? {};
  const element = info.cardinality === 'map' ? undefined : elementOf(info);
  const fewest: ValueCheck = (value, path, into) => {
    if (minItems === undefined || !Array.isArray(value) || value.length >= minItems) return;
    const text = `should have at least ${String(minItems)} items`;
    invalid(into, { path, value: value.length, text });
  };
  const most: ValueCheck = (value, path, into) => {
    if (maxItems === undefined || !Array.isArray(value) || value.length <= maxItems) return;
    tooMany(into, { path, count: value.length, countMax: maxItems });
  };
  return [
    ...(element === undefined ? [] : [itemsStep(info, compiledLater(element))]),
    ...prompt([minItems === undefined ? undefined : fewest]),
    ...prompt([maxItems === undefined ? undefined : most]),
  ];
}

function itemsStep(info: ValueInfo, check: Check): Check {
  const isKeyed = info.listType === 'map';
  return (value, old, path, into) => {
    if (!Array.isArray(value)) return undefined;
    const { pace, stored } = into;
    if (!isKeyed || stored === undefined || !Array.isArray(old)) {
      return eachInTurns(
        value,
        (item, at) => weighed(item, check(item, undefined, `${path}[${String(at)}]`, into), pace),
        pace,
      );
    }
    return whenThere(stored.twinsIn(old, info, pace), (twins) =>
      eachInTurns(
        value,
        (item, at) => {
          // It is an item of a stored list.
          const twin = twins.of(item) as Value;
          return check(item, twin, `${path}[${String(at)}]`, into);
        },
        pace,
      ),
    );
  };
}

/** Characters of a text that take about as long as another step. */
const stepCharacters = 64;

/** Long texts count as much as they take. */
function weighed(
  value: JsonValue,
  done: MaybePromise<void>,
  pace: Yielder | undefined,
): MaybePromise<void> {
  if (done !== undefined || pace === undefined || typeof value !== 'string') return done;
  if (value.length < stepCharacters) return undefined;
  return pace.isDue(Math.floor(value.length / stepCharacters)) ? pace.yield() : undefined;
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
  return [
    ...prompt(schema === undefined ? [] : [sizeCheck(schema), closedCheck(info)]),
    ...memberSteps(info),
    ...prompt(schema === undefined ? [] : [requiredCheck(schema)]),
  ];
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
function closedCheck(info: ValueInfo): ValueCheck | undefined {
  if (info.schema?.additionalProperties !== false) return undefined;
  return (value, path, into) => {
    if (!isObject(value)) return;
    for (const key of Object.keys(value)) {
      if (memberOf(info, key) !== undefined) continue;
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

/** What is known of the members of an object, or of the entries of a map. */
function memberSteps(info: ValueInfo): readonly Check[] {
  const checkOf = memberCheckOf(info);
  if (checkOf === undefined) return [];
  const isAtomic = isAtomicMap(info);
  const isResource = info.message?.open?.typeMeta !== undefined;
  return [
    (value, old, path, into) => {
      if (!isObject(value)) return undefined;
      const { pace } = into;
      return eachInTurns(
        Object.keys(value),
        (key) => {
          const check = checkOf(key);
          const member = check && ownMember(value, key);
          if (check === undefined || member === undefined) return undefined;
          // The type of the whole object says nothing about what was written.
          const isType = isResource && path === '' && (key === 'apiVersion' || key === 'kind');
          const twin = isAtomic || isType ? undefined : memberIn(old, key);
          return weighed(member, check(member, twin, childPath(path, key), into), pace);
        },
        pace,
      );
    },
  ];
}

/** undefined: nothing is said of any member. */
function memberCheckOf(info: ValueInfo): ((name: string) => Check | undefined) | undefined {
  if (info.cardinality === 'map') {
    const element = elementOf(info);
    const check = element && compiledLater(element);
    return check && (() => check);
  }
  // Metadata itself is validated as that of every kind; these are conditions on top.
  if (info.cardinality !== 'single' || info.message?.open === undefined) return undefined;
  const checks = new Map<string, Check | undefined>();
  return (name) => {
    const known = checks.get(name);
    if (known !== undefined) return known;
    const member = memberOf(info, name);
    if (member?.schema === undefined) return undefined;
    const check = compile(member);
    checks.set(name, check);
    return check;
  };
}

const memberIn = (object: Value, name: string): Value =>
  isObject(object) ? ownMember(object, name) : undefined;
