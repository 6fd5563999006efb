// Code for calls: arguments, the call, its cost. The operators of most rules (comparisons of ints
// and texts) have short paths.
import type {
  FunctionDeclaration,
  Implementation,
  Overload,
  RuntimeCost,
} from '../model/declarations.ts';
import { operators } from '../model/ast.ts';
import type { Code, Frame } from './frame.ts';
import { noSuchOverloadError } from './frame.ts';
import { compareValues } from '../model/compare.ts';
import { resultOf } from '../model/operands.ts';
import { equalValues } from '../model/equality.ts';
import { add } from '../model/arithmetic.ts';
import { textSumCode, traversalCost } from './plan-text-sum.ts';
import type { General } from './plan-text-sum.ts';
import {
  Double,
  OptionalValue,
  Uint,
  codePointCount,
  costSizeOf,
  isError,
  toInt,
} from '../model/value.ts';
import type { Value } from '../model/value.ts';

export interface CallPlan {
  readonly declared: FunctionDeclaration;
  /**
   * The overloads that fit the static types; costs of an overload count only when it is the only
   * one.
   */
  readonly overloads: readonly Overload[];
  readonly args: readonly Code[];
  readonly implementation: Implementation;
}

const unitCost: RuntimeCost = () => 1;

export function callCode(plan: CallPlan): Code {
  const special = specialCode(plan);
  if (special !== undefined) return special;
  const { args, implementation, declared } = plan;
  const only = plan.overloads.length === 1 ? plan.overloads[0] : undefined;
  const cost = only?.runtimeCost ?? declared.runtimeCost ?? unitCost;
  const call = {
    implementation,
    cost,
    overload: only?.id,
    acceptsErrors: declared.acceptsErrors === true,
  };
  const [first, second] = args;
  if (args.length === 1 && first !== undefined)
    return (frame) => finish(frame, call, [first(frame)]);
  if (args.length === 2 && first !== undefined && second !== undefined) {
    return (frame) => finish(frame, call, [first(frame), second(frame)]);
  }
  return (frame) => {
    const values: Value[] = [];
    for (let index = 0; index < args.length; index++) {
      const value = (args[index] as Code)(frame);
      // Calls with many arguments stop at the first error, and only a complete call is charged.
      if (isError(value) && index < args.length - 1) return value;
      values.push(value);
    }
    return finish(frame, call, values);
  };
}

interface PreparedCall {
  readonly implementation: Implementation;
  readonly cost: RuntimeCost;
  readonly overload: string | undefined;
  readonly acceptsErrors: boolean;
}

function finish(frame: Frame, call: PreparedCall, values: readonly Value[]): Value {
  const failed = call.acceptsErrors ? undefined : values.find(isError);
  const result = failed ?? call.implementation(values, frame);
  frame.charge(call.cost(values, result, call.overload));
  return result;
}

function specialCode(plan: CallPlan): Code | undefined {
  const [left, right] = plan.args;
  if (left === undefined || right === undefined) return undefined;
  switch (plan.declared.name) {
    case operators.equals:
      return equalsCode(left, right, { isNegated: false });
    case operators.notEquals:
      return equalsCode(left, right, { isNegated: true });
    case operators.less:
    case operators.lessEquals:
    case operators.greater:
    case operators.greaterEquals:
      return comparisonCode(plan, left, right);
    case operators.add:
      return addCode(plan, left, right);
    case 'or':
    case 'orValue':
      return fallbackCode(left, right, { isUnwrapped: plan.declared.name === 'orValue' });
    default:
      return undefined;
  }
}

/**
 * `a.or(b)` and `a.orValue(b)`: b is computed only when it is needed, and the choice itself is
 * free.
 */
function fallbackCode(
  left: Code,
  right: Code,
  { isUnwrapped }: { readonly isUnwrapped: boolean },
): Code {
  return (frame) => {
    const first = left(frame);
    if (isError(first)) return first;
    if (!(first instanceof OptionalValue)) return noSuchOverloadError;
    if (first.value === undefined) return right(frame);
    return isUnwrapped ? first.value : first;
  };
}

/** The cost of comparing two values: that of looking at the shorter one. */
function comparisonCost(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') {
    const shorter = Math.min(left.length, right.length);
    if (shorter <= 10) return shorter === 0 ? 0 : 1;
    return traversalCost(Math.min(codePointCount(left), codePointCount(right)));
  }
  return traversalCost(Math.min(costSizeOf(left), costSizeOf(right)));
}

function equalsCode(left: Code, right: Code, { isNegated }: { readonly isNegated: boolean }): Code {
  return (frame) => {
    const first = left(frame);
    const second = right(frame);
    if (typeof first === 'number' && typeof second === 'number') {
      frame.charge(1);
      return (first === second) !== isNegated;
    }
    const result = isError(first) ? first : isError(second) ? second : equalValues(first, second);
    frame.charge(isLibraryValue(first) && !isNegated ? 1 : comparisonCost(first, second));
    if (!isNegated) return result;
    return isError(result) && (isError(first) || isError(second)) ? result : result !== true;
  };
}

function isLibraryValue(value: Value): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'opaque';
}

/** Whether an order of two values is what the operator asks for. */
const accepts: Readonly<Record<string, (order: number) => boolean>> = {
  [operators.less]: (order) => order < 0,
  [operators.lessEquals]: (order) => order <= 0,
  [operators.greater]: (order) => order > 0,
  [operators.greaterEquals]: (order) => order >= 0,
};

function comparisonCode(plan: CallPlan, left: Code, right: Code): Code {
  const { overloads, declared } = plan;
  const isSized = overloads.length === 1 && /(string|bytes)$/.test(overloads[0]?.id ?? '');
  const isAccepted = accepts[declared.name] ?? Boolean;
  const general = (frame: Frame, first: Value, second: Value): Value => {
    const order = isError(first) ? first : isError(second) ? second : compareValues(first, second);
    frame.charge(isSized ? comparisonCost(first, second) : 1);
    return typeof order === 'number'
      ? isAccepted(order)
      : isError(second)
        ? order
        : resultOf(declared.name, first, order);
  };
  return intComparisonCode(declared.name, left, right, general);
}

const isSmallInt = (value: Value): value is number => typeof value === 'number';

/**
 * One closure for each operator, written out: a shared one would make every comparison a call
 * through a variable.
 */
function intComparisonCode(name: string, left: Code, right: Code, general: General): Code {
  switch (name) {
    case operators.less:
      return (frame) => {
        const first = left(frame);
        const second = right(frame);
        if (!isSmallInt(first) || !isSmallInt(second)) return general(frame, first, second);
        frame.charge(1);
        return first < second;
      };
    case operators.lessEquals:
      return (frame) => {
        const first = left(frame);
        const second = right(frame);
        if (!isSmallInt(first) || !isSmallInt(second)) return general(frame, first, second);
        frame.charge(1);
        return first <= second;
      };
    case operators.greater:
      return (frame) => {
        const first = left(frame);
        const second = right(frame);
        if (!isSmallInt(first) || !isSmallInt(second)) return general(frame, first, second);
        frame.charge(1);
        return first > second;
      };
    default:
      return (frame) => {
        const first = left(frame);
        const second = right(frame);
        if (!isSmallInt(first) || !isSmallInt(second)) return general(frame, first, second);
        frame.charge(1);
        return first >= second;
      };
  }
}

function addCode(plan: CallPlan, left: Code, right: Code): Code {
  const { overloads } = plan;
  const id = overloads.length === 1 ? overloads[0]?.id : undefined;
  const isSized = id === 'add_string' || id === 'add_bytes';
  const general: General = (frame, first, second) => {
    const sum = isError(first) ? first : isError(second) ? second : add(first, second);
    frame.charge(isSized ? sumCost(first, second) : 1);
    return isError(sum) && !isError(second) ? resultOf(operators.add, first, sum) : sum;
  };
  if (id !== 'add_string') return (frame) => general(frame, left(frame), right(frame));
  return textSumCode(left, right, general);
}

function sumCost(left: Value, right: Value): number {
  return traversalCost(costSizeOf(left) + costSizeOf(right));
}

/**
 * `&&` and `||`: the decisive side wins over an error of the other; without one the first error is
 * the result.
 */
export function logicalCode(decisive: boolean, left: Code, right: Code): Code {
  return (frame) => {
    const first = left(frame);
    if (first === decisive) return decisive;
    const second = right(frame);
    if (second === decisive) return decisive;
    if (typeof first === 'boolean' && typeof second === 'boolean') return !decisive;
    const failed = typeof first === 'boolean' ? second : first;
    return isError(failed) ? failed : noSuchOverloadError;
  };
}

/** Membership in constants of simple types, numbers across their types. */
export function membershipCode(wanted: Code, items: readonly Value[]): Code {
  const known = new Set(items.map(membershipKey));
  return (frame) => {
    const value = wanted(frame);
    return isError(value) ? value : known.has(membershipKey(value));
  };
}

/** One key for all numbers that are equal; NaN equals nothing. */
function membershipKey(value: Value): unknown {
  if (value instanceof Uint) return toInt(value.value);
  if (!(value instanceof Double)) return value;
  if (Number.isNaN(value.value)) return Symbol('NaN');
  return Number.isInteger(value.value) ? toInt(BigInt(value.value)) : value.value;
}
