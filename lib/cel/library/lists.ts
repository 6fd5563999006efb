// Functions over lists: minimum, maximum, sum, order and positions (all releases), and slicing,
// flattening, sorting (later).
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  paramType,
  stringType,
  timestampType,
  uintType,
} from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type {
  FunctionDeclaration,
  Implementation,
  Library,
  Overload,
} from '../model/declarations.ts';
import { add } from '../model/arithmetic.ts';
import { compareValues } from '../model/compare.ts';
import { equalValues } from '../model/equality.ts';
import { CelError, Double, Duration, Uint, isError, listItems } from '../model/value.ts';
import type { ListValue, Value } from '../model/value.ts';
import { arg, declare, member } from './declare.ts';
import { sequenceEstimate, sequenceTraversalCost } from './string-costs.ts';

/** Types with an order, and how declarations call them. */
export const comparableTypes: readonly (readonly [string, CelType])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
];

const summable: readonly (readonly [string, CelType, Value])[] = [
  ['int', intType, 0],
  ['uint', uintType, new Uint(0n)],
  ['double', doubleType, new Double(0)],
  ['duration', durationType, new Duration(0n)],
];

const itemsOf = (args: readonly Value[]): readonly Value[] => listItems(arg(args, 0) as ListValue);

const isSorted: Implementation = (args) => {
  const items = itemsOf(args);
  for (let index = 1; index < items.length; index++) {
    const order = compareValues(items[index - 1] as Value, items[index] as Value);
    if (typeof order !== 'number') return order;
    if (order > 0) return false;
  }
  return true;
};

const extreme =
  (name: string, isBetter: (order: number) => boolean): Implementation =>
  (args) => {
    const [first, ...rest] = itemsOf(args);
    if (first === undefined) return new CelError(`${name} called on empty list`);
    let best = first;
    for (const item of rest) {
      const order = compareValues(best, item);
      if (typeof order !== 'number') return order;
      if (isBetter(order)) best = item;
    }
    return best;
  };

const sum =
  (start: Value): Implementation =>
  (args) => {
    let total = start;
    for (const item of itemsOf(args)) {
      total = add(total, item);
      if (isError(total)) return total;
    }
    return total;
  };

const indexOf: Implementation = (args) =>
  itemsOf(args).findIndex((item) => equalValues(item, arg(args, 1)) === true);
const lastIndexOf: Implementation = (args) =>
  itemsOf(args).findLastIndex((item) => equalValues(item, arg(args, 1)) === true);

const perType = (
  id: (type: string) => string,
  result: (type: CelType) => CelType,
  call: Implementation,
): Overload[] =>
  comparableTypes.map(([name, type]) => member(id(name), [[listType(type)], result(type)], call));

const visit = { runtimeCost: sequenceTraversalCost, estimate: sequenceEstimate };
const element = paramType('A');

const functions: readonly FunctionDeclaration[] = [
  declare(
    'isSorted',
    perType(
      (type) => `list_${type}_is_sorted_bool`,
      () => boolType,
      isSorted,
    ),
    visit,
  ),
  declare(
    'sum',
    summable.map(([name, type, start]) =>
      member(`list_${name}_sum_${name}`, [[listType(type)], type], sum(start)),
    ),
    visit,
  ),
  declare(
    'max',
    perType(
      (type) => `list_${type}_max_${type}`,
      (type) => type,
      extreme('max', (o) => o < 0),
    ),
    visit,
  ),
  declare(
    'min',
    perType(
      (type) => `list_${type}_min_${type}`,
      (type) => type,
      extreme('min', (o) => o > 0),
    ),
    visit,
  ),
  declare(
    'indexOf',
    [member('list_a_index_of_int', [[listType(element), element], intType], indexOf)],
    visit,
  ),
  declare(
    'lastIndexOf',
    [member('list_a_last_index_of_int', [[listType(element), element], intType], lastIndexOf)],
    visit,
  ),
];

export const listsLibrary: Library = { name: '{kubernetes}.lists', since: 0, functions };
