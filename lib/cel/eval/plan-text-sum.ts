// Sums of texts: a sum of sums is computed in one go, each operand counted once, and constant ones
// when compiling.
import type { Code, Frame } from './frame.ts';
import { codePointCount } from '../model/value.ts';
import type { Value } from '../model/value.ts';

/** What an operation does with operands of any type. */
export type General = (frame: Frame, left: Value, right: Value) => Value;

const constants = new WeakMap<Code, Value>();

export function constantCode(value: Value): Code {
  const code: Code = () => value;
  constants.set(code, value);
  return code;
}

interface Operand {
  readonly code: Code;
  /** The text, where it is constant, and how many characters it has. */
  readonly text: string | undefined;
  readonly size: number;
}

const sums = new WeakMap<Code, readonly Operand[]>();

export function textSumCode(left: Code, right: Code, general: General): Code {
  const operands = [...(sums.get(left) ?? [operandOf(left)]), operandOf(right)];
  const code: Code = (frame) => addTexts(frame, operands, general);
  sums.set(code, operands);
  return code;
}

function operandOf(code: Code): Operand {
  const value = constants.get(code);
  const text = typeof value === 'string' ? value : undefined;
  return { code, text, size: text === undefined ? 0 : codePointCount(text) };
}

function addTexts(frame: Frame, operands: readonly Operand[], general: General): Value {
  let sum = (operands[0] as Operand).code(frame);
  let size = typeof sum === 'string' ? codePointCount(sum) : 0;
  for (let index = 1; index < operands.length; index++) {
    const operand = operands[index] as Operand;
    if (operand.text !== undefined && typeof sum === 'string') {
      size += operand.size;
      frame.charge(traversalCost(size));
      sum += operand.text;
      continue;
    }
    const next = operand.code(frame);
    if (typeof sum === 'string' && typeof next === 'string') {
      size += codePointCount(next);
      frame.charge(traversalCost(size));
      sum += next;
    } else {
      sum = general(frame, sum, next);
    }
  }
  return sum;
}

/**
 * A tenth of a size, rounded up. In integers: a double would make the counter of costs one too, and
 * slow.
 */
export function traversalCost(size: number): number {
  return ((size + 9) / 10) | 0;
}
