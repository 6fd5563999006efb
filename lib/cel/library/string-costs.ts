// Costs of functions over texts and lists that several libraries share, and sizes of what they
// return.
import type { CostEstimate, RuntimeCost } from '../model/declarations.ts';
import {
  addRanges,
  multiplyRanges,
  one,
  scaleRange,
  stringTraversalFactor,
  unsignedMax,
  zero,
} from '../model/range.ts';
import type { Range } from '../model/range.ts';
import { isList, isMap, listItems } from '../model/value.ts';
import type { Value } from '../model/value.ts';
import { arg } from './declare.ts';

const encoder = new TextEncoder();

/** The cost of visiting everything in a value. */
function traversalCost(value: Value): number {
  if (typeof value === 'string')
    return Math.floor(encoder.encode(value).length * stringTraversalFactor);
  if (value instanceof Uint8Array) return Math.floor(value.length * stringTraversalFactor);
  if (isList(value))
    return listItems(value).reduce<number>((sum, item) => sum + traversalCost(item), 0);
  if (!isMap(value)) return 1;
  let cost = 0;
  for (const key of value.keys())
    cost += traversalCost(key) + traversalCost(value.find(key) ?? null);
  return cost;
}

/** indexOf, sum, min and the like: one visit of the receiver. */
export const sequenceTraversalCost: RuntimeCost = (args) => traversalCost(arg(args, 0));

export const sequenceEstimate: CostEstimate = (target) => {
  if (target === undefined) return undefined;
  const { element } = target;
  if (element === undefined) return { cost: scaleRange(target.size, stringTraversalFactor) };
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes';
  const each = isText ? addRanges(one, scaleRange(element.size, stringTraversalFactor)) : one;
  return { cost: multiplyRanges(target.size, each) };
};

const next = (value: bigint): bigint => (value < unsignedMax ? value + 1n : value);
const ceilDivide = (value: bigint, by: bigint): bigint =>
  BigInt(Math.ceil(Number(value) / Number(by)));
const capped = (value: bigint): bigint => (value > unsignedMax ? unsignedMax : value);

/** The longest and shortest result of a replacement decide its size. */
export const replaceEstimate: CostEstimate = (target, [old, replacement]) => {
  if (target === undefined || old === undefined || replacement === undefined) return undefined;
  const [text, from, to] = [target.size, old.size, replacement.size];
  let count: Range = zero;
  let kept: Range = zero;
  if (from.min === 0n) {
    count = { ...count, max: next(text.max) };
    kept = { ...kept, max: text.max };
  } else if (to.max <= from.min) {
    kept = { ...kept, max: text.max };
  } else {
    count = { ...count, max: capped(ceilDivide(text.max, from.min)) };
  }
  if (from.max === 0n) {
    count = { ...count, min: next(text.min) };
    kept = { ...kept, min: text.min };
  } else if (from.max <= to.min) {
    kept = { ...kept, min: text.min };
  } else {
    count = { ...count, min: capped(ceilDivide(text.min, from.max)) };
  }
  return {
    cost: scaleRange(text, 2 * stringTraversalFactor),
    resultSize: addRanges(multiplyRanges(count, to), kept),
  };
};

export const joinEstimate: CostEstimate = (target, [separator]) => {
  if (target === undefined) return undefined;
  const { element, size: list } = target;
  let size = element === undefined ? zero : multiplyRanges(list, element.size);
  if (separator !== undefined) {
    const gaps = {
      min: list.min > 0n ? list.min - 1n : 0n,
      max: list.max > 0n ? list.max - 1n : 0n,
    };
    size = addRanges(size, multiplyRanges(separator.size, gaps));
  }
  return { cost: scaleRange(size, stringTraversalFactor), resultSize: size };
};
