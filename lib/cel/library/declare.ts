// Short forms for declaring the functions of a library as data, and the cost rules that several of
// them share.
import type { CelType } from '../model/cel-type.ts';
import type {
  CostEstimate,
  FunctionDeclaration,
  Implementation,
  Overload,
  RuntimeCost,
} from '../model/declarations.ts';
import type { CostNode } from '../model/cost-node.ts';
import {
  one,
  regexLengthFactor,
  scaleRange,
  addRanges,
  multiplyRanges,
  stringTraversalFactor,
} from '../model/range.ts';
import { costSizeOf } from '../model/value.ts';
import type { Value } from '../model/value.ts';

/** What an overload may have beside its types and code. */
export interface OverloadExtras {
  readonly runtimeCost?: RuntimeCost;
  readonly estimate?: CostEstimate;
  readonly guardsItself?: boolean;
}

type Signature = readonly [args: readonly CelType[], result: CelType];

function paramsOf(types: readonly CelType[]): string[] {
  const names = types.flatMap((type) =>
    type.kind === 'param' ? [type.name] : paramsOf(type.params),
  );
  return [...new Set(names)];
}

function overload(
  isMember: boolean,
  id: string,
  [args, result]: Signature,
  call: Implementation,
  extras: OverloadExtras = {},
): Overload {
  return { id, isMember, args, result, typeParams: paramsOf([...args, result]), call, ...extras };
}

/** An overload called as `f(x)`. */
export const global = (
  id: string,
  signature: Signature,
  call: Implementation,
  extras?: OverloadExtras,
): Overload => overload(false, id, signature, call, extras);

/** An overload called as `x.f(y)`; the receiver is the first argument. */
export const member = (
  id: string,
  signature: Signature,
  call: Implementation,
  extras?: OverloadExtras,
): Overload => overload(true, id, signature, call, extras);

/** A function with its overloads, and what holds for all of them. */
export function declare(
  name: string,
  overloads: readonly Overload[],
  shared: {
    runtimeCost?: RuntimeCost;
    estimate?: CostEstimate;
    precompile?: FunctionDeclaration['precompile'];
    acceptsErrors?: boolean;
  } = {},
): FunctionDeclaration {
  const { estimate, ...rest } = shared;
  const estimated =
    estimate === undefined
      ? overloads
      : overloads.map((o) => ({ ...o, estimate: o.estimate ?? estimate }));
  return { name, overloads: estimated, ...rest } as FunctionDeclaration;
}

/** The argument at `index`; overloads are only called with as many as they declare. */
export function arg(args: readonly Value[], index: number): Value {
  return args[index] as Value;
}

export const unit: { readonly runtimeCost: RuntimeCost; readonly estimate: CostEstimate } = {
  runtimeCost: () => 1,
  estimate: () => ({ cost: one }),
};

/** One pass over the text at `index`. */
export const traversalOf = (index: number, factor = stringTraversalFactor): RuntimeCost => {
  return (args) => Math.ceil(costSizeOf(arg(args, index)) * factor);
};

/** Searching with a regular expression: length of the text times length of the expression. */
export const regexRuntimeCost: RuntimeCost = (args) =>
  Math.ceil((1 + costSizeOf(arg(args, 0))) * stringTraversalFactor) *
  Math.ceil(costSizeOf(arg(args, 1)) * regexLengthFactor);

export function regexEstimate(
  target: CostNode,
  pattern: CostNode,
): ReturnType<typeof multiplyRanges> {
  const text = scaleRange(addRanges(target.size, one), stringTraversalFactor);
  return multiplyRanges(text, scaleRange(pattern.size, regexLengthFactor));
}
