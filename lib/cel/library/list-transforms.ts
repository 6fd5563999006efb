// distinct, flatten, range, reverse, slice, sort, sortBy: functions that make new lists. Charged by
// the size of what they make.
import { limits } from '../../base/limits.ts';
import { dynType, intType, listType, paramType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { CostEstimate, Implementation, Library, RuntimeCost } from '../model/declarations.ts';
import type { CallEstimate, CostNode } from '../model/cost-node.ts';
import {
  addRanges,
  fixed,
  listCreateCost,
  multiplyRanges,
  scaleRange,
  stringTraversalFactor,
  unsignedMax,
} from '../model/range.ts';
import type { Range } from '../model/range.ts';
import { compareValues } from '../model/compare.ts';
import { equalValues } from '../model/equality.ts';
import {
  ArrayList,
  CelError,
  costSizeOf,
  emptyList,
  isList,
  kindOf,
  listItems,
  typeNameOf,
  typeTextOf,
} from '../model/value.ts';
import type { Int, ListValue, Value } from '../model/value.ts';
import { sortMacros } from '../syntax/two-variable-macros.ts';
import { arg, declare, global, member } from './declare.ts';
import { comparableTypes } from './lists.ts';

const listOf = (args: readonly Value[]): ListValue => arg(args, 0) as ListValue;

const slice: Implementation = (args) => {
  const list = listOf(args);
  const [start, end] = [arg(args, 1) as Int, arg(args, 2) as Int];
  const name = `cannot slice(${String(start)}, ${String(end)})`;
  if (start < 0 || end < 0) return new CelError(`${name}, negative indexes not supported`);
  if (start > end)
    return new CelError(`${name}, start index must be less than or equal to end index`);
  if (end > list.size()) return new CelError(`${name}, list is length ${String(list.size())}`);
  return new ArrayList(listItems(list).slice(Number(start), Number(end)));
};

function flattenInto(target: Value[], list: ListValue, depth: Int): void {
  for (const item of listItems(list)) {
    if (depth !== 0 && isList(item))
      flattenInto(target, item, typeof depth === 'number' ? depth - 1 : depth);
    else target.push(item);
  }
}

const flatten: Implementation = (args) => {
  const list = arg(args, 0);
  const depth = args.length > 1 ? arg(args, 1) : 1;
  const types = args.length > 1 ? typeTextOf(depth) : '';
  if (!isList(list) || kindOf(depth) !== 'int') {
    return new CelError(`no such overload: ${typeTextOf(list)}.flatten(${types})`);
  }
  if ((depth as Int) < 0) return new CelError('level must be non-negative');
  const items: Value[] = [];
  flattenInto(items, list, depth as Int);
  return new ArrayList(items);
};

const { expressionRangeMax } = limits;

const range: Implementation = (args) => {
  const count = Math.min(Number(arg(args, 0)), expressionRangeMax);
  return count <= 0 ? emptyList : new ArrayList(Array.from({ length: count }, (_, index) => index));
};

const reverse: Implementation = (args) => new ArrayList(listItems(listOf(args)).toReversed());

const distinct: Implementation = (args, context) => {
  context.afford(comparingCost(listOf(args)));
  const unique: Value[] = [];
  for (const item of listItems(listOf(args))) {
    if (!unique.some((other) => equalValues(item, other) === true)) unique.push(item);
  }
  return new ArrayList(unique);
};

/** The items in the order of their keys; equal keys keep their order. */
function sortByKeys(list: ListValue, keys: readonly Value[]): Value {
  const items = listItems(list);
  if (items.length !== keys.length) {
    const sizes = `${String(items.length)} and ${String(keys.length)}`;
    return new CelError(
      '@sortByAssociatedKeys() expected a list of the same size as the associated keys list, ' +
        `but got ${sizes} elements respectively`,
    );
  }
  const [first] = keys;
  if (first === undefined) return list;
  if (typeof compareValues(first, first) !== 'number') {
    return new CelError('list elements must be comparable');
  }
  if (keys.some((key) => typeNameOf(key) !== typeNameOf(first))) {
    return new CelError('list elements must have the same type');
  }
  const order = keys.map((_, index) => index);
  order.sort(
    (left, right) =>
      Number(compareValues(keys[left] as Value, keys[right] as Value)) || left - right,
  );
  return new ArrayList(order.map((index) => items[index] as Value));
}

const sort: Implementation = (args) => sortByKeys(listOf(args), listItems(listOf(args)));
const sortBy: Implementation = (args) =>
  sortByKeys(listOf(args), listItems(arg(args, 1) as ListValue));

/**
 * Cost of making a list: one for the call, that of a list, and a factor for each of the elements.
 */
function makingCost(size: number, factor: number): number {
  return Math.floor(size * factor) + 1 + listCreateCost;
}

function makingEstimate(size: Range, factor: number): CallEstimate {
  const cost = addRanges(scaleRange(size, factor), fixed(1 + listCreateCost));
  return { cost, resultSize: size };
}

const byResult: RuntimeCost = (_, result) => makingCost(costSizeOf(result), 1);

/** Every element may be compared with every other one. */
function comparingCost(list: Value): number {
  const size = costSizeOf(list);
  const first = isList(list) && size > 0 ? list.get(0) : null;
  const isText = typeof first === 'string' || first instanceof Uint8Array;
  return makingCost(size * size, isText ? 2 + stringTraversalFactor : 2);
}

function intLiteral(node: CostNode, fallback: bigint): bigint {
  const { literal } = node;
  if (typeof literal !== 'number' && typeof literal !== 'bigint') return fallback;
  return literal < 0 ? 0n : BigInt(literal);
}

const sliceEstimate: CostEstimate = (target, [start, end]) => {
  if (target === undefined || start === undefined || end === undefined) return undefined;
  const size = intLiteral(end, target.size.max) - intLiteral(start, 0n);
  return makingEstimate(fixed(BigInt.asUintN(64, size)), 1);
};

const flattenEstimate: CostEstimate = (target, [depth]) => {
  if (target === undefined) return undefined;
  return makingEstimate(
    target.size,
    depth === undefined ? 1 : Number(intLiteral(depth, unsignedMax)),
  );
};

const comparingEstimate = (
  type: CelType,
  pick: (target: CostNode, key?: CostNode) => CostNode | undefined,
): CostEstimate => {
  const factor = type.kind === 'string' || type.kind === 'bytes' ? 2 + stringTraversalFactor : 2;
  return (target, [key]) => {
    const list = target === undefined ? undefined : pick(target, key);
    return list === undefined
      ? undefined
      : makingEstimate(multiplyRanges(list.size, list.size), factor);
  };
};

const t = paramType('T');
const listT = listType(t);

const flattenCost: RuntimeCost = (args) => {
  const depth = args.length > 1 ? arg(args, 1) : 1;
  return makingCost(costSizeOf(arg(args, 0)), kindOf(depth) === 'int' ? Number(depth) : 1);
};

const selfComparing: RuntimeCost = (args) => comparingCost(arg(args, 0));

const sizeEstimate: CostEstimate = (target) =>
  target === undefined ? undefined : makingEstimate(target.size, 1);

export const listTransformsLibrary: Library = {
  name: 'cel.lib.ext.lists',
  since: 34,
  macros: sortMacros,
  functions: [
    declare('slice', [
      member('list_slice', [[listT, intType, intType], listT], slice, {
        runtimeCost: byResult,
        estimate: sliceEstimate,
      }),
    ]),
    declare('flatten', [
      member('list_flatten', [[listType(listT)], listT], flatten, {
        runtimeCost: flattenCost,
        estimate: flattenEstimate,
        guardsItself: true,
      }),
      member('list_flatten_int', [[listType(dynType), intType], listType(dynType)], flatten, {
        runtimeCost: flattenCost,
        estimate: flattenEstimate,
        guardsItself: true,
      }),
    ]),
    declare(
      'sort',
      comparableTypes.map(([, type]) =>
        member(`list_${type.name}_sort`, [[listType(type)], listType(type)], sort, {
          runtimeCost: selfComparing,
          estimate: comparingEstimate(type, (target) => target),
        }),
      ),
    ),
    declare(
      '@sortByAssociatedKeys',
      comparableTypes.map(([, type]) =>
        member(`list_${type.name}_sortByAssociatedKeys`, [[listT, listType(type)], listT], sortBy, {
          runtimeCost: (args) => comparingCost(arg(args, 1)),
          estimate: comparingEstimate(type, (_, key) => key),
        }),
      ),
    ),
    declare('lists.range', [
      global('lists_range', [[intType], listType(intType)], range, {
        runtimeCost: byResult,
        estimate: (target, [count]) =>
          target !== undefined || count === undefined
            ? undefined
            : makingEstimate(fixed(intLiteral(count, unsignedMax)), 1),
      }),
    ]),
    declare('reverse', [
      member('list_reverse', [[listT], listT], reverse, {
        runtimeCost: byResult,
        estimate: sizeEstimate,
      }),
    ]),
    declare('distinct', [
      member('list_distinct', [[listT], listT], distinct, {
        runtimeCost: selfComparing,
        estimate: (target) =>
          target === undefined
            ? undefined
            : makingEstimate(multiplyRanges(target.size, target.size), 2),
      }),
    ]),
  ],
};
