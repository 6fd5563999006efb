// JSON.parse for text with long integers.
import type { JsonValue } from './type-info.ts';

interface ReviverContext {
  readonly source?: string;
}
type Reviver = (key: string, value: JsonValue, context: ReviverContext) => JsonValue;

/** Keeps integers beyond 2^53 as bigint; several times slower than JSON.parse. */
export function parseExact(text: string): JsonValue {
  const revive: Reviver = (_key, value, { source }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    return source !== undefined && /^-?\d{1,64}$/.test(source) ? BigInt(source) : value;
  };
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown) as JsonValue;
}
