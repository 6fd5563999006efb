// What is valid in the spec of a claim and yet makes no sense: there are no parts of a byte.
import { recordIn } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { quantityOf } from './resource-lists.ts';

const nanoPerByte = 1_000_000_000n;

export function claimSpecWarnings(spec: JsonObject, path: string): string[] {
  return ['requests', 'limits'].flatMap((list) => {
    const amount = recordIn(spec, 'resources', list)?.['storage'];
    const quantity = quantityOf(amount);
    if (quantity === undefined || quantity.nano % nanoPerByte === 0n) return [];
    const detail = `fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`;
    return [`${path}.resources.${list}[storage]: ${detail}`];
  });
}
