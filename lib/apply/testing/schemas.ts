// Schemas of definitions for tests, in the kubernetes spelling, and fields of objects as texts.
import { typeOf } from '../../api/testing/schema-types.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { FieldSet } from '../field-set.ts';
import { memberPaths } from '../field-set.ts';
import { readFieldsV1 } from '../fields-v1.ts';
import { pathText } from '../path-element.ts';
import { shapeOf } from '../shape.ts';
import type { Shape } from '../shape.ts';

export const extension = (word: string): string => `x-kubernetes-${word}`;

export const text: JsonObject = { type: 'string' };
export const open: JsonObject = { [extension('preserve-unknown-fields')]: true };
export const struct = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
export const mapOf = (additionalProperties: JsonObject): JsonObject => ({
  type: 'object',
  additionalProperties,
});
export const setOf = (items: JsonObject): JsonObject => ({
  type: 'array',
  items,
  [extension('list-type')]: 'set',
});
export const keyed = (keys: string[], properties: JsonObject): JsonObject => ({
  type: 'array',
  items: struct(properties),
  [extension('list-type')]: 'map',
  [extension('list-map-keys')]: keys,
});
export const atomic = (schema: JsonObject): JsonObject => ({
  ...schema,
  [extension(schema['type'] === 'array' ? 'list-type' : 'map-type')]: 'atomic',
});

/** Of a whole resource with these fields. */
export const shapeWith = (properties: JsonObject): Shape => shapeOf(typeOf(struct(properties)));

/** @throws Error */
export function fields(value: JsonObject): FieldSet {
  const set = readFieldsV1(value);
  if (set === undefined) throw new Error('is no FieldsV1');
  return set;
}

/** Its members, as people read them. */
export const pathsOf = (set: FieldSet): string => [...memberPaths(set)].map(pathText).join(' ');

/** One text for values that are equal. */
export function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${textOf(value[name])}`);
  return `{${members.join()}}`;
}
