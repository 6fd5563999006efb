// Lists as sets: contains, intersects, equivalent. Charged by the product of the sizes.
import { boolType, listType, paramType } from '../model/cel-type.ts';
import type { FunctionDeclaration, Library } from '../model/declarations.ts';
import { addRanges, multiplyRanges, one, scaleRange } from '../model/range.ts';
import { equalValues } from '../model/equality.ts';
import { costSizeOf, listItems } from '../model/value.ts';
import type { ListValue, Value } from '../model/value.ts';
import { arg, declare, global } from './declare.ts';

type Items = readonly Value[];

const has = (items: Items, wanted: Value): boolean =>
  items.some((item) => equalValues(wanted, item) === true);
const containsAll = (items: Items, wanted: Items): boolean =>
  wanted.every((item) => has(items, item));

function setFunction(
  name: string,
  factor: number,
  compute: (left: Items, right: Items) => boolean,
): FunctionDeclaration {
  const list = listType(paramType('T'));
  const itemsAt = (args: readonly Value[], index: number): Items =>
    listItems(arg(args, index) as ListValue);
  return declare(`sets.${name}`, [
    global(
      `list_sets_${name}_list`,
      [[list, list], boolType],
      (args) => compute(itemsAt(args, 0), itemsAt(args, 1)),
      {
        runtimeCost: (args) =>
          Math.floor(costSizeOf(arg(args, 0)) * costSizeOf(arg(args, 1)) * factor) + 1,
        estimate: (_, [left, right]) =>
          left === undefined || right === undefined
            ? undefined
            : { cost: addRanges(scaleRange(multiplyRanges(left.size, right.size), factor), one) },
      },
    ),
  ]);
}

export const setsLibrary: Library = {
  name: 'cel.lib.ext.sets',
  since: 29,
  functions: [
    setFunction('contains', 1, containsAll),
    setFunction(
      'equivalent',
      2,
      (left, right) => containsAll(left, right) && containsAll(right, left),
    ),
    setFunction('intersects', 1, (left, right) => right.some((item) => has(left, item))),
  ],
};
