// The value of a field's `(default_value)` option: plain text for texts, numbers, booleans and the
// special forms that JSON writes as text; JSON for lists, maps and messages.
import { cloneJson } from './json-value.ts';
import type { FieldInfo, JsonValue } from './type-info.ts';

/** undefined: the field has no default. @throws Error for a text that is no such value. */
export function defaultValueOf(field: FieldInfo): JsonValue | undefined {
  const text = field.options['defaultValue'];
  if (typeof text !== 'string') return undefined;
  const value = read(field, text);
  if (value === undefined) {
    throw new Error(`${field.jsonName}: ${JSON.stringify(text)} is no value of the field`);
  }
  return value;
}

function read(field: FieldInfo, text: string): JsonValue | undefined {
  if (field.cardinality !== 'single') return readJson(text, field.cardinality === 'list');
  switch (field.scalar) {
    case 'string':
    case 'bytes':
      return text;
    case 'bool':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'int32':
    case 'int64':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
    case 'double':
      return Number.isFinite(Number(text)) ? Number(text) : undefined;
    case undefined:
      return readMessage(field, text);
  }
}

function readMessage({ message }: FieldInfo, text: string): JsonValue | undefined {
  switch (message?.special) {
    case 'intOrString':
      return /^-?\d{1,9}$/.test(text) ? Number(text) : text;
    case 'time':
    case 'microTime':
    case 'timestamp':
    case 'duration':
    case 'quantity':
      return text;
    default:
      return readJson(text, message?.isNamedList === true);
  }
}

function readJson(text: string, asList: boolean): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === 'object' && value !== null && Array.isArray(value) === asList
      ? cloneJson(value)
      : undefined;
  } catch {
    return undefined;
  }
}
