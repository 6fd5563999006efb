// Ranges of sizes and costs: unsigned 64-bit numbers that stop at the largest instead of
// overflowing.

export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

export const unsignedMax = 2n ** 64n - 1n;

/** Cost of looking at one character of a text. */
export const stringTraversalFactor = 0.1;
/** Cost of one character of a regular expression: on average four make one state. */
export const regexLengthFactor = 0.25;
export const listCreateCost = 10;
export const mapCreateCost = 30;
export const structCreateCost = 40;

export const fixed = (value: number | bigint): Range => ({
  min: BigInt(value),
  max: BigInt(value),
});
export const zero: Range = fixed(0);
export const one: Range = fixed(1);
export const unknownSize: Range = { min: 0n, max: unsignedMax };

const saturate = (value: bigint): bigint => (value > unsignedMax ? unsignedMax : value);

export function addRanges(left: Range, right: Range): Range {
  return { min: saturate(left.min + right.min), max: saturate(left.max + right.max) };
}

export function multiplyRanges(left: Range, right: Range): Range {
  return { min: saturate(left.min * right.min), max: saturate(left.max * right.max) };
}

/** The range that holds both. */
export function uniteRanges(left: Range, right: Range): Range {
  return {
    min: left.min < right.min ? left.min : right.min,
    max: left.max > right.max ? left.max : right.max,
  };
}

const twoTo64 = 2 ** 64;

function scale(value: bigint, factor: number): bigint {
  const product = Math.ceil(Number(value) * factor);
  return product >= twoTo64 ? unsignedMax : BigInt(product);
}

/** Times a factor, rounded up. Computed in doubles, as the numbers of stored definitions were. */
export function scaleRange(range: Range, factor: number): Range {
  return { min: scale(range.min, factor), max: scale(range.max, factor) };
}
