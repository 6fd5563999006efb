// The operators as functions: logic, equality, order, arithmetic, membership, indexing.
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  paramType,
  stringType,
  timestampType,
  uintType,
} from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type {
  CostEstimate,
  FunctionDeclaration,
  Implementation,
  Overload,
} from '../model/declarations.ts';
import { addRanges, one, scaleRange, stringTraversalFactor } from '../model/range.ts';
import { add, divide, modulo, multiply, negate, subtract } from '../model/arithmetic.ts';
import { compareValues } from '../model/compare.ts';
import { equalValues, listContains, noSuchOverload } from '../model/equality.ts';
import { qualify } from '../eval/qualify.ts';
import { CelError, costSizeOf, isError, isList, isMap } from '../model/value.ts';
import type { Value } from '../model/value.ts';
import { operators } from '../model/ast.ts';
import { resultOf } from '../model/operands.ts';
import { arg, declare, global } from './declare.ts';
import type { OverloadExtras } from './declare.ts';

const a = paramType('A');
const b = paramType('B');

const binary =
  (compute: (left: Value, right: Value) => Value): Implementation =>
  (args) =>
    compute(arg(args, 0), arg(args, 1));

/** Comparing looks at the shorter of the two. */
const comparisonEstimate: CostEstimate = (_, args) => {
  const [left, right] = args;
  if (left === undefined || right === undefined) return undefined;
  const [first, second] = [sizeOf(left), sizeOf(right)];
  const max = first < second ? first : second;
  return { cost: scaleRange({ min: max > 0n ? 1n : 0n, max }, stringTraversalFactor) };
};

// Sizes here come from the expression only; what declared limits say is part of it.
const sizeOf = (node: Parameters<CostEstimate>[1][number]): bigint => node.size.max;

const formatSizeMax = 64n;

/** Equality of library types has costs of its own; everything else is compared by size. */
const equalsEstimate: CostEstimate = (target, args) => {
  const [left, right] = args;
  if (left !== undefined && left.type.name === right?.type.name) {
    switch (left.type.equality) {
      case 'fixed':
        return { cost: one };
      case 'format':
        return { cost: scaleRange({ min: 1n, max: formatSizeMax }, stringTraversalFactor) };
      case 'url': {
        const max = right.computedSize?.max ?? 1n;
        return { cost: scaleRange({ min: 1n, max }, stringTraversalFactor) };
      }
      case undefined:
    }
  }
  return comparisonEstimate(target, args);
};

const unequal: Implementation = binary((left, right) => {
  const equal = equalValues(left, right);
  return isError(equal) ? equal : equal !== true;
});

type Comparison = readonly [prefix: string, name: string, accepts: (order: number) => boolean];

const comparisons: readonly Comparison[] = [
  ['less', operators.less, (order) => order < 0],
  ['less_equals', operators.lessEquals, (order) => order <= 0],
  ['greater', operators.greater, (order) => order > 0],
  ['greater_equals', operators.greaterEquals, (order) => order >= 0],
];

const ordered: readonly (readonly [string, CelType])[] = [
  ['bool', boolType],
  ['int64', intType],
  ['uint64', uintType],
  ['double', doubleType],
  ['string', stringType],
  ['bytes', bytesType],
  ['timestamp', timestampType],
  ['duration', durationType],
];
const numbers = ordered.slice(1, 4);

function comparison([prefix, name, accepts]: Comparison, crossTypes: boolean): FunctionDeclaration {
  const compare = (left: Value, right: Value): Value => {
    const order = compareValues(left, right);
    return typeof order === 'number' ? accepts(order) : order;
  };
  const call = binary((left, right) => resultOf(name, left, compare(left, right)));
  const overloads = ordered.map(([type, celType]) => {
    const extras: OverloadExtras = { guardsItself: true };
    const isSized = type === 'string' || type === 'bytes';
    const all = isSized ? { ...extras, estimate: comparisonEstimate } : extras;
    return global(`${prefix}_${type}`, [[celType, celType], boolType], call, all);
  });
  if (crossTypes) {
    for (const [left, leftType] of numbers) {
      for (const [right, rightType] of numbers) {
        if (left === right) continue;
        const id = `${prefix}_${left}_${right}`;
        overloads.push(global(id, [[leftType, rightType], boolType], call, { guardsItself: true }));
      }
    }
  }
  return declare(name, overloads);
}

const sumEstimate: CostEstimate = (_, [left, right]) => {
  if (left === undefined || right === undefined) return undefined;
  const resultSize = addRanges(left.size, right.size);
  return { cost: scaleRange(resultSize, stringTraversalFactor), resultSize };
};

const listSumEstimate: CostEstimate = (_, [left, right]) => {
  if (left === undefined || right === undefined) return undefined;
  return { cost: one, resultSize: addRanges(left.size, right.size) };
};

function arithmetic(
  name: string,
  compute: (left: Value, right: Value) => Value,
  rows: readonly (readonly [
    id: string,
    left: CelType,
    right: CelType,
    result: CelType,
    estimate?: CostEstimate,
  ])[],
): FunctionDeclaration {
  const call = binary((left, right) => resultOf(name, left, compute(left, right)));
  const overloads = rows.map(([id, left, right, result, estimate]): Overload => {
    const extras = { guardsItself: true, ...(estimate === undefined ? {} : { estimate }) };
    return global(id, [[left, right], result], call, extras);
  });
  return declare(name, overloads);
}

const listA = listType(a);
const mapAB = mapType(a, b);

const arithmeticFunctions: readonly FunctionDeclaration[] = [
  arithmetic(operators.add, add, [
    ['add_bytes', bytesType, bytesType, bytesType, sumEstimate],
    ['add_double', doubleType, doubleType, doubleType],
    ['add_duration_duration', durationType, durationType, durationType],
    ['add_duration_timestamp', durationType, timestampType, timestampType],
    ['add_timestamp_duration', timestampType, durationType, timestampType],
    ['add_int64', intType, intType, intType],
    ['add_list', listA, listA, listA, listSumEstimate],
    ['add_string', stringType, stringType, stringType, sumEstimate],
    ['add_uint64', uintType, uintType, uintType],
  ]),
  arithmetic(operators.subtract, subtract, [
    ['subtract_double', doubleType, doubleType, doubleType],
    ['subtract_duration_duration', durationType, durationType, durationType],
    ['subtract_int64', intType, intType, intType],
    ['subtract_timestamp_duration', timestampType, durationType, timestampType],
    ['subtract_timestamp_timestamp', timestampType, timestampType, durationType],
    ['subtract_uint64', uintType, uintType, uintType],
  ]),
  arithmetic(operators.multiply, multiply, [
    ['multiply_double', doubleType, doubleType, doubleType],
    ['multiply_int64', intType, intType, intType],
    ['multiply_uint64', uintType, uintType, uintType],
  ]),
  arithmetic(operators.divide, divide, [
    ['divide_double', doubleType, doubleType, doubleType],
    ['divide_int64', intType, intType, intType],
    ['divide_uint64', uintType, uintType, uintType],
  ]),
  arithmetic(operators.modulo, modulo, [
    ['modulo_int64', intType, intType, intType],
    ['modulo_uint64', uintType, uintType, uintType],
  ]),
];

const negation: Implementation = (args) => {
  const value = arg(args, 0);
  return resultOf(operators.negate, value, negate(value));
};
const logicalNot: Implementation = (args) => {
  const value = arg(args, 0);
  return typeof value === 'boolean' ? !value : noSuchOverload(value);
};

const contains: Implementation = binary((wanted, container) => {
  if (isList(container)) return listContains(container, wanted);
  if (!isMap(container)) return noSuchOverload(container);
  const found = container.find(wanted);
  return found !== undefined && isError(found) ? found : found !== undefined;
});

const self = { guardsItself: true };
const neverCalled: Implementation = () => new CelError('no such overload');

/**
 * Operators of every environment. Comparison of numbers of different types came later:
 * `crossTypes`.
 */
export function operatorFunctions(crossTypes: boolean): readonly FunctionDeclaration[] {
  return [
    declare(operators.conditional, [global('conditional', [[boolType, a, a], a], neverCalled)]),
    declare(operators.and, [global('logical_and', [[boolType, boolType], boolType], neverCalled)]),
    declare(operators.or, [global('logical_or', [[boolType, boolType], boolType], neverCalled)]),
    declare(operators.not, [global('logical_not', [[boolType], boolType], logicalNot, self)]),
    declare(
      operators.notStrictlyFalse,
      [
        global(
          'not_strictly_false',
          [[boolType], boolType],
          (args) => arg(args, 0) !== false,
          self,
        ),
      ],
      { acceptsErrors: true },
    ),
    declare(operators.equals, [
      global('equals', [[a, a], boolType], binary(equalValues), {
        ...self,
        estimate: equalsEstimate,
      }),
    ]),
    declare(operators.notEquals, [
      global('not_equals', [[a, a], boolType], unequal, { ...self, estimate: comparisonEstimate }),
    ]),
    ...comparisons.map((row) => comparison(row, crossTypes)),
    ...arithmeticFunctions,
    declare(operators.negate, [
      global('negate_double', [[doubleType], doubleType], negation, self),
      global('negate_int64', [[intType], intType], negation, self),
      global('negate_duration', [[durationType], durationType], negation, self),
    ]),
    declare(operators.in, [
      global('in_list', [[a, listA], boolType], contains, {
        ...self,
        runtimeCost: (args) => costSizeOf(arg(args, 1)),
        estimate: (_, [, list]) =>
          list === undefined ? undefined : { cost: scaleRange(list.size, 1) },
      }),
      global('in_map', [[a, mapAB], boolType], contains, self),
    ]),
  ];
}

const index: Implementation = binary(qualify);

/** Indexing; optionals add overloads that look into them. */
export function indexFunctions(hasOptionals: boolean): readonly FunctionDeclaration[] {
  const optional = (type: CelType): CelType => ({
    kind: 'opaque',
    name: 'optional_type',
    params: [type],
  });
  const plain = [
    global('index_list', [[listA, intType], a], index, self),
    global('index_map', [[mapAB, a], b], index, self),
  ];
  if (!hasOptionals) return [declare(operators.index, plain)];
  return [
    declare(operators.index, [
      ...plain,
      global('optional_list_index_int', [[optional(listA), intType], optional(a)], index, self),
      global('optional_map_index_value', [[optional(mapAB), a], optional(b)], index, self),
    ]),
    declare(operators.optionalIndex, [
      global('list_optindex_optional_int', [[listA, intType], optional(a)], index, self),
      global(
        'optional_list_optindex_optional_int',
        [[optional(listA), intType], optional(a)],
        index,
        self,
      ),
      global('map_optindex_optional_value', [[mapAB, a], optional(b)], index, self),
      global(
        'optional_map_optindex_optional_value',
        [[optional(mapAB), a], optional(b)],
        index,
        self,
      ),
    ]),
    declare(operators.optionalSelect, [
      global('select_optional_field', [[dynType, stringType], optional(a)], index, self),
    ]),
  ];
}
