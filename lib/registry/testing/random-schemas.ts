// Random schemas in OpenAPI's words, and values that are right for them, nearly right or nothing of
// the kind.
import type { JsonObject, JsonValue } from '../../api/type-info.ts';

export interface Dice {
  below(count: number): number;
  of<T>(choices: readonly T[]): T;
}

const names = ['a', 'b', 'c', 'kind', '__proto__', 'constructor'] as const;
const texts = ['', 'x', 'ab', '😀', '10.0.0.1', '2024-02-29', 'abc-d'] as const;
const numbers: readonly JsonValue[] = [0, 1, -1, 2, 3, 1.5, 0.3, 1e19, 9007199254740993n];
const extension = (name: string): string => `x-kubernetes-${name}`;

/** One in `count`. */
const once = (dice: Dice, count: number): boolean => dice.below(count) === 0;

/** An object whose names are data, whatever they are. */
export function objectOf(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const object = Object.create(null) as JsonObject;
  for (const [name, value] of entries) object[name] = value;
  return object;
}

const some = <T>(dice: Dice, most: number, make: () => T): T[] =>
  Array.from({ length: dice.below(most + 1) }, make);

const distinctNames = (dice: Dice, most: number): string[] => [
  ...new Set(some(dice, most, () => dice.of(names))),
];

/** Of a value; `depth`: how far it may nest. */
export function randomSchema(dice: Dice, depth: number): JsonObject {
  const schema = baseSchema(dice, depth);
  if (once(dice, 6)) schema['nullable'] = true;
  if (once(dice, 6)) {
    schema['enum'] = [...some(dice, 3, () => randomValue(dice, 1)), dice.of(texts)];
  }
  if (depth > 0 && once(dice, 4)) addJunctor(dice, schema, depth);
  return schema;
}

function baseSchema(dice: Dice, depth: number): JsonObject {
  switch (dice.below(depth > 0 ? 8 : 4)) {
    case 0:
      return textSchema(dice);
    case 1:
      return { type: dice.of(['integer', 'number']), ...numberWords(dice) };
    case 2:
      return { type: 'boolean' };
    case 3:
      return { [extension('int-or-string')]: true };
    case 4:
    case 5:
      return objectSchema(dice, depth);
    case 6:
      return listSchema(dice, depth);
    default:
      return {
        type: 'object',
        additionalProperties: randomSchema(dice, depth - 1),
        ...(once(dice, 4) ? { maxProperties: 1 + dice.below(2) } : {}),
        ...(once(dice, 6) ? { [extension('map-type')]: 'atomic' } : {}),
      };
  }
}

function textSchema(dice: Dice): JsonObject {
  const schema: JsonObject = { type: 'string' };
  if (once(dice, 3)) schema['maxLength'] = dice.below(4);
  if (once(dice, 3)) schema['minLength'] = dice.below(4);
  if (once(dice, 3)) schema['pattern'] = dice.of(['^a', 'b$', '[0-9]']);
  if (once(dice, 3)) schema['format'] = dice.of(['ipv4', 'date', 'no-such-format']);
  return schema;
}

function numberWords(dice: Dice): JsonObject {
  const words: JsonObject = {};
  if (once(dice, 3)) words['minimum'] = dice.of([0, 1, 0.5]);
  if (once(dice, 3)) words['maximum'] = dice.of([2, 1.5]);
  if (once(dice, 3)) words['exclusiveMinimum'] = true;
  if (once(dice, 3)) words['exclusiveMaximum'] = true;
  if (once(dice, 3)) words['multipleOf'] = dice.of([2, 3, 0.1]);
  if (once(dice, 6)) words['format'] = dice.of(['int32', 'double', 'uuid']);
  return words;
}

function objectSchema(dice: Dice, depth: number): JsonObject {
  const schema: JsonObject = { type: 'object' };
  const properties = distinctNames(dice, 4).map(
    (name) => [name, randomSchema(dice, depth - 1)] as const,
  );
  if (properties.length > 0 || once(dice, 2)) schema['properties'] = objectOf(properties);
  if (once(dice, 3)) schema['required'] = distinctNames(dice, 2);
  if (once(dice, 6)) schema['minProperties'] = 1 + dice.below(2);
  if (once(dice, 6)) schema['maxProperties'] = 1 + dice.below(2);
  if (once(dice, 6)) schema[extension('preserve-unknown-fields')] = true;
  if (once(dice, 8)) schema[extension('map-type')] = 'atomic';
  return schema;
}

function listSchema(dice: Dice, depth: number): JsonObject {
  const list: JsonObject = { type: 'array', items: randomSchema(dice, depth - 1) };
  if (once(dice, 4)) list['maxItems'] = 1 + dice.below(3);
  if (once(dice, 4)) list['minItems'] = 1 + dice.below(2);
  const listType = dice.of(['', '', 'atomic', 'set', 'map']);
  if (listType !== '') list[extension('list-type')] = listType;
  if (listType === 'map') {
    list['items'] = objectSchema(dice, depth);
    list[extension('list-map-keys')] = ['a', 'b'];
  }
  return list;
}

function addJunctor(dice: Dice, schema: JsonObject, depth: number): void {
  const name = dice.of(['allOf', 'anyOf', 'oneOf', 'not']);
  if (name === 'not') schema['not'] = condition(dice, depth - 1);
  else
    schema[name] = [condition(dice, depth - 1), ...some(dice, 2, () => condition(dice, depth - 1))];
}

/** What a junctor may say: nothing of types. */
function condition(dice: Dice, depth: number): JsonObject {
  const schema: JsonObject = {};
  if (once(dice, 3)) schema['maxLength'] = dice.below(3);
  if (once(dice, 3)) Object.assign(schema, numberWords(dice), { format: '' });
  if (once(dice, 3)) schema['required'] = distinctNames(dice, 2);
  if (once(dice, 4)) schema['enum'] = [dice.of(texts), ...some(dice, 2, () => dice.of(numbers))];
  const below = depth > 0 ? dice.below(5) : 0;
  if (below === 1) schema['items'] = condition(dice, depth - 1);
  if (below === 2) {
    const properties = distinctNames(dice, 2).map(
      (name) => [name, condition(dice, depth - 1)] as const,
    );
    schema['properties'] = objectOf(properties);
  }
  return schema;
}

/** Any JSON. */
export function randomValue(dice: Dice, depth: number): JsonValue {
  switch (dice.below(depth > 0 ? 7 : 5)) {
    case 0:
      return dice.of(texts);
    case 1:
    case 2:
      return dice.of(numbers);
    case 3:
      return once(dice, 2);
    case 4:
      return null;
    case 5:
      return some(dice, 3, () => randomValue(dice, depth - 1));
    default:
      return objectOf(
        distinctNames(dice, 3).map((name) => [name, randomValue(dice, depth - 1)] as const),
      );
  }
}

/** A value that mostly has the types of the schema. */
export function valueFor(dice: Dice, schema: JsonObject, depth: number): JsonValue {
  if (once(dice, 12)) return randomValue(dice, depth);
  const { type, items, properties, additionalProperties } = schema;
  const below = (of: JsonValue | undefined): JsonValue =>
    valueFor(dice, (of ?? {}) as JsonObject, depth - 1);
  if (type === 'string') return dice.of(texts);
  if (type === 'boolean') return once(dice, 2);
  if (type === 'integer' || type === 'number') return dice.of(numbers);
  if (type === 'array') return some(dice, 3, () => below(items));
  if (type !== 'object') return randomValue(dice, 1);
  const isMap = additionalProperties !== undefined;
  const known = isMap ? distinctNames(dice, 3) : Object.keys((properties ?? {}) as JsonObject);
  const chosen = known.filter(() => !once(dice, 4));
  if (once(dice, 4)) chosen.push(dice.of(names));
  const schemaOf = (name: string): JsonValue | undefined =>
    isMap ? additionalProperties : ((properties ?? {}) as JsonObject)[name];
  return objectOf([...new Set(chosen)].map((name) => [name, below(schemaOf(name))]));
}
