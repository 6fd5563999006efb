// quantity(): exact amounts with suffixes.
import { compareQuantities, formatQuantity, parseQuantity } from '../../api/quantity.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { boolType, doubleType, intType, stringType, structType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type {
  FunctionDeclaration,
  Implementation,
  Library,
  Overload,
} from '../model/declarations.ts';
import { scaleRange, stringTraversalFactor } from '../model/range.ts';
import { CelError, Double, intMax, intMin, toInt } from '../model/value.ts';
import type { Int, OpaqueValue, Value } from '../model/value.ts';
import { arg, declare, global, member, traversalOf, unit } from './declare.ts';
import type { OverloadExtras } from './declare.ts';

const nanoPerUnit = 1_000_000_000n;

class QuantityValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName: string;
  readonly quantity: Quantity;
  /** It was written, and computed of what was written, without parts of one. */
  readonly isWhole: boolean;
  constructor(typeName: string, quantity: Quantity, isWhole: boolean) {
    this.typeName = typeName;
    this.quantity = quantity;
    this.isWhole = isWhole;
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && this.quantity.nano === other.quantity.nano;
  }
  toText(): string {
    return formatQuantity(this.quantity);
  }
  /** The same kind of value with another amount. */
  with(nano: bigint, isWhole: boolean): QuantityValue {
    return new QuantityValue(this.typeName, { ...this.quantity, nano }, isWhole);
  }
}

const suffixExponents: Readonly<Record<string, number>> = {
  ...{ n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 },
  ...{ Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 },
};
const decimalDigitsMax = 18;
const binaryDigitsMax = 14;

/**
 * Whether a quantity is kept as a whole number, which its text decides: `1000m` and `1.0` are not,
 * nor is what has too many digits.
 */
function isWholeText(text: string): boolean {
  const form = /^[+-]?0*(\d*)(?:\.(\d*))?([A-Za-z]*)([+-]?\d*)$/.exec(text);
  const [, digits = '', fraction = '', suffix = '', power = ''] = form ?? [];
  const count = Math.max(digits.length, 1);
  const exponent = power === '' ? (suffixExponents[suffix] ?? 0) : Number(power);
  if (suffix.endsWith('i')) {
    return fraction === '' && count + Math.trunc((exponent * 3) / 10) <= binaryDigitsMax;
  }
  return exponent >= fraction.length && count + fraction.length <= decimalDigitsMax;
}

/** Why a text is no quantity. */
function problemOf(text: string): string {
  const form = /^[+-]?(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/.exec(text);
  if (form === null || text === '') {
    const wanted = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';
    return `quantities must match the regular expression '${wanted}'`;
  }
  const hasDigits = `${form[1] ?? ''}${form[2] ?? ''}` !== '';
  return hasDigits
    ? "unable to parse quantity's suffix"
    : 'unable to parse numeric part of quantity';
}

const at = (args: readonly Value[], index: number): QuantityValue =>
  arg(args, index) as QuantityValue;

/** The amount of an argument: a quantity, or an int. */
function nanoOf(value: Value): bigint {
  return value instanceof QuantityValue ? value.quantity.nano : BigInt(value as Int) * nanoPerUnit;
}

function wholeOf({ quantity, isWhole }: QuantityValue): Int | undefined {
  if (!isWhole || quantity.nano % nanoPerUnit !== 0n) return undefined;
  const whole = quantity.nano / nanoPerUnit;
  return whole < intMin || whole > intMax ? undefined : toInt(whole);
}

const asInteger: Implementation = (args) =>
  wholeOf(at(args, 0)) ?? new CelError('cannot convert value to integer');

const order = (args: readonly Value[]): number =>
  compareQuantities(at(args, 0).quantity, at(args, 1).quantity);

const combine =
  (sign: 1n | -1n): Implementation =>
  (args) => {
    const [left, right] = [at(args, 0), arg(args, 1)];
    const isWhole = left.isWhole && (!(right instanceof QuantityValue) || right.isWhole);
    return left.with(left.quantity.nano + sign * nanoOf(right), isWhole);
  };

/** Reading a text costs one pass over it. */
export const parsingCosts: OverloadExtras = {
  runtimeCost: traversalOf(0),
  estimate: (_, [text]) =>
    text === undefined ? undefined : { cost: scaleRange(text.size, stringTraversalFactor) },
};

export function quantityLibrary(naming: NamingProfile): Library {
  const type: CelType = {
    ...structType(naming.resolve('{kubernetes}.Quantity')),
    equality: 'fixed',
  };
  const parse: Implementation = (args) => {
    const text = arg(args, 0) as string;
    const quantity = parseQuantity(text);
    return quantity === undefined
      ? new CelError(problemOf(text))
      : new QuantityValue(type.name, quantity, isWholeText(text));
  };
  const isQuantity: Implementation = (args) => parseQuantity(arg(args, 0) as string) !== undefined;
  const method = (name: string, overloads: readonly Overload[]): FunctionDeclaration =>
    declare(name, overloads, unit);
  const comparison = (
    name: string,
    id: string,
    result: CelType,
    call: Implementation,
  ): FunctionDeclaration => method(name, [member(id, [[type, type], result], call)]);
  const approximate: Implementation = (args) => new Double(Number(at(args, 0).quantity.nano) / 1e9);
  return {
    name: '{kubernetes}.quantity',
    since: 28,
    types: [type],
    functions: [
      declare('quantity', [
        global('string_to_quantity', [[stringType], type], parse, parsingCosts),
      ]),
      declare('isQuantity', [
        global('is_quantity_string', [[stringType], boolType], isQuantity, parsingCosts),
      ]),
      method('sign', [
        global('quantity_sign', [[type], intType], (args) => {
          const { nano } = at(args, 0).quantity;
          return nano === 0n ? 0 : nano < 0n ? -1 : 1;
        }),
      ]),
      comparison('isGreaterThan', 'quantity_is_greater_than', boolType, (args) => order(args) > 0),
      comparison('isLessThan', 'quantity_is_less_than', boolType, (args) => order(args) < 0),
      comparison('compareTo', 'quantity_compare_to', intType, order),
      method('asApproximateFloat', [
        member('quantity_get_float', [[type], doubleType], approximate),
      ]),
      method('asInteger', [member('quantity_get_int', [[type], intType], asInteger)]),
      method('isInteger', [
        member(
          'quantity_is_integer',
          [[type], boolType],
          (args) => wholeOf(at(args, 0)) !== undefined,
        ),
      ]),
      method('add', [
        member('quantity_add', [[type, type], type], combine(1n)),
        member('quantity_add_int', [[type, intType], type], combine(1n)),
      ]),
      method('sub', [
        member('quantity_sub', [[type, type], type], combine(-1n)),
        member('quantity_sub_int', [[type, intType], type], combine(-1n)),
      ]),
    ],
  };
}
