// What is valid in the spec of a claim and yet makes no sense: there are no parts of a byte.
import { recordIn } from '../../api/json-access.ts';
import type { JsonValue } from '../../api/type-info.ts';
import type { Holder } from '../validator.ts';
import { quantityOf } from './resource-lists.ts';

export const claimSpecWarnings = (spec: Holder, path: string): readonly string[] =>
  ['requests', 'limits'].flatMap((list) => {
    const amount = recordIn(spec, 'resources', list)?.['storage'];
    return sizeWarnings(amount, `${path}.resources.${list}[storage]`);
  });

const nanoPerByte = 1_000_000_000n;

export function sizeWarnings(amount: JsonValue | undefined, path: string): readonly string[] {
  const quantity = quantityOf(amount);
  if (quantity === undefined || quantity.nano % nanoPerByte === 0n) return [];
  const detail = `fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`;
  return [`${path}: ${detail}`];
}
