// JSON.parse for text with long integers.
import type { JsonValue } from './type-info.ts';

interface ReviverContext {
  readonly source?: string;
}
type Reviver = (key: string, value: JsonValue, context: ReviverContext) => JsonValue;

/** An integer, written with or without decimals that are zeros. */
const wholeNumber = /^(-?\d{1,64})(?:\.0+)?$/;

/** Keeps integers beyond 2^53 as bigint; several times slower than JSON.parse. */
export function parseExact(text: string): JsonValue {
  const revive: Reviver = (_key, value, { source = '' }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    const digits = wholeNumber.exec(source)?.[1];
    return digits === undefined ? value : BigInt(digits);
  };
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown) as JsonValue;
}
