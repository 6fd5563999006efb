// Random schemas of resources, and values by them, hostile names among both. The schemas are those
// of definitions, in the kubernetes spelling; objects have no prototype.
import { ownMember } from '../../api/json-value.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { extension, textOf } from './schemas.ts';
import type { Random } from '../../../scripts/fuzz/random.ts';

const declaredNames = ['a', 'b', 'c', '__proto__', 'constructor', '.', 'f:x', 'k:{"a":1}', '10'];
const entryNames = [...declaredNames, '', 'toString', 'ü😀', 'n'.repeat(70), '2'];
const texts = ['', 'x', 'y', '__proto__', 'ü😀', '"\\'];
const integers = [0, 1, -7, 9007199254740993n, 9007199254740995n];

/** How values are varied; shares are out of a hundred. */
export interface Variation {
  readonly absentShare: number;
  readonly freshShare: number;
  readonly nullShare: number;
  /** Of lists whose elements have identities: that one is there twice. */
  readonly twinShare: number;
}

const asMade: Variation = { absentShare: 0, freshShare: 0, nullShare: 0, twinShare: 0 };

export class RandomValues {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  #isIn(share: number): boolean {
    return this.#random.below(100) < share;
  }

  /** Some of the names, each once. */
  #some(names: readonly string[], countMax: number): readonly string[] {
    const count = 1 + this.#random.below(countMax);
    return [...new Set(Array.from({ length: count }, () => this.#random.of(names)))];
  }

  /** Of whole resources. */
  resourceSchema(depth: number): JsonObject {
    const text = { type: 'string' };
    const metadata = { type: 'object', properties: { name: text } };
    const { properties } = this.#struct(depth);
    return {
      type: 'object',
      properties: object([
        ['apiVersion', text],
        ['kind', text],
        ['metadata', metadata],
        ...Object.entries(properties as JsonObject),
      ]),
    };
  }

  #schema(depth: number): JsonObject {
    const kind = this.#random.below(depth > 0 ? 14 : 4);
    switch (kind) {
      case 0:
      case 1:
        return this.#scalar();
      case 2:
        return { type: 'array', items: this.#scalar(), [extension('list-type')]: 'set' };
      case 3:
        return { [extension('preserve-unknown-fields')]: true };
      case 4:
        return { type: 'array', items: this.#schema(depth - 1) };
      case 5:
        return { ...this.#struct(depth - 1), [extension('map-type')]: 'atomic' };
      case 6:
        return { ...this.#struct(depth - 1), [extension('preserve-unknown-fields')]: true };
      case 7:
      case 8:
        return this.#map(depth - 1);
      case 9:
      case 10:
      case 11:
        return this.#keyed(depth - 1);
      default:
        return this.#struct(depth - 1);
    }
  }

  #scalar(): JsonObject {
    if (this.#isIn(15)) return { [extension('int-or-string')]: true };
    return { type: this.#random.of(['string', 'integer', 'boolean']) };
  }

  #struct(depth: number): JsonObject {
    const names = this.#some(declaredNames, 4);
    const properties = object(names.map((name) => [name, this.#schema(depth)]));
    return { type: 'object', properties };
  }

  #map(depth: number): JsonObject {
    const map = { type: 'object', additionalProperties: this.#schema(depth) };
    return this.#isIn(15) ? { ...map, [extension('map-type')]: 'atomic' } : map;
  }

  #keyed(depth: number): JsonObject {
    const keys = this.#some(declaredNames, 2);
    const items = this.#struct(depth);
    const others = Object.entries(items['properties'] as JsonObject);
    const properties = object([
      ...others.filter(([name]) => !keys.includes(name)),
      ...keys.map((name) => [name, this.#key()] as const),
    ]);
    const words = { [extension('list-type')]: 'map', [extension('list-map-keys')]: [...keys] };
    return { type: 'array', items: { ...items, properties }, ...words };
  }

  #key(): JsonObject {
    const key = { type: this.#random.of(['string', 'integer']) };
    if (!this.#isIn(30)) return key;
    return { ...key, default: key.type === 'string' ? 'x' : 1 };
  }

  value(schema: JsonObject): JsonValue {
    const { type, properties, additionalProperties, items } = schema;
    switch (type) {
      case 'string':
        return this.#random.of(texts);
      case 'integer':
        return this.#random.of<JsonValue>(integers);
      case 'boolean':
        return this.#random.of([true, false]);
      case 'array': {
        const count = this.#random.below(4);
        const list = Array.from({ length: count }, () => this.#element(schema));
        return hasIdentities(schema) ? unique(list, schema) : list;
      }
      case 'object': {
        const names = Object.keys((properties ?? {}) as JsonObject).filter(() => this.#isIn(70));
        const more = additionalProperties === undefined && !isOpen(schema) ? [] : this.#entries();
        const all = [...new Set([...names, ...more])];
        return object(all.map((name) => [name, this.value(memberSchema(schema, name) ?? {})]));
      }
      default:
        return items === undefined && isOpen(schema)
          ? (this.#any(2) ?? 'x')
          : this.#random.of([1, 'x']);
    }
  }

  #entries(): readonly string[] {
    return this.#isIn(15) ? [] : this.#some(entryNames, 3);
  }

  #element(list: JsonObject): JsonValue {
    const items = list['items'] as JsonObject;
    const element = this.value(items);
    if (list[extension('list-type')] !== 'map') return element;
    return this.#withKeys(element as JsonObject, list);
  }

  /** Keys without a default are there; an element has one at least. */
  #withKeys(element: JsonObject, list: JsonObject): JsonObject {
    const items = list['items'] as JsonObject;
    const result = object(Object.entries(element));
    for (const name of keysOf(list)) {
      const key = memberSchema(items, name) ?? {};
      const isOptional = key['default'] !== undefined;
      if (!isOptional || Object.hasOwn(result, name)) result[name] ??= this.value(key);
    }
    return result;
  }

  /** Any JSON. */
  any(): JsonValue {
    return this.#any(3);
  }

  #any(depth: number): JsonValue {
    switch (this.#random.below(depth > 0 ? 6 : 3)) {
      case 0:
        return this.#random.of(texts);
      case 1:
        return this.#random.of<JsonValue>(integers);
      case 2:
        return this.#random.of<JsonValue>([true, null, {}, []]);
      case 3:
        return [this.#any(depth - 1), this.#any(depth - 1)];
      default:
        return object(this.#entries().map((name) => [name, this.#any(depth - 1)]));
    }
  }

  /** The value with other parts, fewer and more; undefined: without all of it. */
  varied(value: JsonValue | undefined, schema: JsonObject, by: Variation): JsonValue | undefined {
    if (this.#isIn(by.absentShare)) return undefined;
    if (this.#isIn(by.nullShare)) return null;
    if (value === undefined || this.#isIn(by.freshShare)) return this.value(schema);
    if (Array.isArray(value)) return this.#variedList(value, schema, by);
    const isWhole = schema[extension('map-type')] === 'atomic';
    if (typeof value !== 'object' || value === null || isWhole) return value;
    return this.variedObject(value, schema, by);
  }

  variedObject(value: JsonObject, schema: JsonObject, by: Variation): JsonObject {
    const names = Object.keys(value);
    if (this.#isIn(by.freshShare)) names.push(...Object.keys(this.#fresh(schema)));
    const result = object([]);
    for (const name of new Set(names)) {
      const member = this.varied(ownMember(value, name), memberSchema(schema, name) ?? {}, by);
      if (member !== undefined) result[name] = member;
    }
    return result;
  }

  #fresh(schema: JsonObject): JsonObject {
    const fresh = this.value(schema);
    return typeof fresh === 'object' && fresh !== null && !Array.isArray(fresh) ? fresh : {};
  }

  #variedList(list: readonly JsonValue[], schema: JsonObject, by: Variation): JsonValue {
    if (!hasIdentities(schema)) return [...list];
    const items = schema['items'] as JsonObject;
    const isKeyed = schema[extension('list-type')] === 'map';
    const result: JsonValue[] = [];
    for (const element of list) {
      if (this.#isIn(by.absentShare)) continue;
      if (!isKeyed) {
        result.push(element);
        continue;
      }
      const old = element as JsonObject;
      const varied = this.variedObject(old, items, by);
      for (const name of keysOf(schema)) {
        Reflect.deleteProperty(varied, name);
        if (Object.hasOwn(old, name)) varied[name] = old[name];
      }
      result.push(varied);
    }
    if (this.#isIn(by.freshShare)) result.splice(this.#at(result), 0, this.#element(schema));
    if (this.#isIn(30)) result.sort(() => this.#random.of([1, -1]));
    const alone = unique(result, schema);
    if (!this.#isIn(by.twinShare) || alone.length === 0) return alone;
    const twin = this.varied(this.#random.of(alone), isKeyed ? items : {}, asMade);
    alone.splice(this.#at(alone), 0, twin ?? null);
    return alone;
  }

  #at(list: readonly unknown[]): number {
    return this.#random.below(list.length + 1);
  }
}

const isOpen = (schema: JsonObject): boolean =>
  schema[extension('preserve-unknown-fields')] === true;

export const keysOf = (list: JsonObject): readonly string[] =>
  (list[extension('list-map-keys')] ?? []) as string[];

const hasIdentities = (list: JsonObject): boolean => list[extension('list-type')] !== undefined;

/** undefined: the schema does not know the member. */
export function memberSchema(schema: JsonObject, name: string): JsonObject | undefined {
  const { properties, additionalProperties } = schema;
  const known = (properties ?? {}) as JsonObject;
  if (Object.hasOwn(known, name)) return known[name] as JsonObject;
  if (additionalProperties !== undefined) return additionalProperties as JsonObject;
  const isAny = schema['type'] === undefined || isOpen(schema);
  return isAny ? { [extension('preserve-unknown-fields')]: true } : undefined;
}

/** The first of each identity. */
function unique(list: readonly JsonValue[], schema: JsonObject): JsonValue[] {
  const found = new Map<string, JsonValue>();
  for (const element of list) {
    const identity = identityIn(element, schema);
    if (!found.has(identity)) found.set(identity, element);
  }
  return [...found.values()];
}

/** The step of FieldsV1 to an element of a list with identities. */
export function identityIn(element: JsonValue, list: JsonObject): string {
  if (list[extension('list-type')] === 'set') return `v:${textOf(element)}`;
  const keys = [...keysOf(list)].sort().flatMap((name) => {
    const members = element as JsonObject;
    const key =
      ownMember(members, name) ?? memberSchema(list['items'] as JsonObject, name)?.['default'];
    return key === undefined ? [] : [`${JSON.stringify(name)}:${textOf(key)}`];
  });
  return `k:{${keys.join()}}`;
}

/** Without a prototype; what is undefined is left out. */
export function object(members: Iterable<readonly [string, JsonValue | undefined]>): JsonObject {
  const result = Object.create(null) as JsonObject;
  for (const [name, value] of members) if (value !== undefined) result[name] = value;
  return result;
}
