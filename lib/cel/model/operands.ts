// Which error an operator gives for operands that it does not take. What may stand on its left
// answers for itself; of anything else the error names the operator.
import { operators } from './ast.ts';
import { durationType, timestampType } from './cel-type.ts';
import { CelError, isError, typeNameOf } from './value.ts';
import type { Value } from './value.ts';

/** Types that answer whatever the operator is. */
const answering = ['string', durationType.name, timestampType.name];
const numeric = [...answering, 'int', 'uint', 'double'];
const comparable = [...numeric, 'bool', 'bytes'];

interface Operator {
  readonly operands: ReadonlySet<string>;
  readonly unnamed: CelError;
}

const known: ReadonlyMap<string, Operator> = new Map(
  (
    [
      [operators.less, comparable],
      [operators.lessEquals, comparable],
      [operators.greater, comparable],
      [operators.greaterEquals, comparable],
      [operators.add, [...numeric, 'bytes', 'list']],
      [operators.subtract, numeric],
      [operators.multiply, numeric],
      [operators.divide, numeric],
      [operators.modulo, [...answering, 'int', 'uint']],
      [operators.negate, [...answering, 'int', 'double', 'bool']],
    ] as const
  ).map(([name, operands]) => [
    name,
    { operands: new Set(operands), unnamed: new CelError(`no such overload: ${name}`) },
  ]),
);

/** `result` of an operator; its error, if `left` is no operand of it. */
export function resultOf(name: string, left: Value, result: Value): Value {
  if (!isError(result) || isError(left)) return result;
  const operator = known.get(name);
  return operator === undefined || operator.operands.has(typeNameOf(left))
    ? result
    : operator.unnamed;
}
