// Objects of any built-in type for tests, from a seed: every scalar is set to something that is not
// its zero value; `shapes` gives what a type's objects look like where fields depend on each other.
import type { FieldInfo, JsonObject, JsonValue, TypeInfo } from '../type-info.ts';

/** By type id; gets a whole object and the generator's choices. */
export type Shapes = Readonly<Record<string, (object: JsonObject, of: Choose) => JsonObject>>;
type Choose = <T>(...choices: readonly [T, ...T[]]) => T;

/** Below this depth lists and maps have one element instead of two. */
const wideDepthMax = 3;

export class ObjectGenerator {
  #state: number;
  readonly #shapes: Shapes;
  /** Of ten fields, how many are set. */
  readonly #density: number;
  /** Types that the current message lies in: a type is not put into itself. */
  readonly #around = new Set<TypeInfo>();

  constructor(options: {
    readonly seed: number;
    readonly shapes?: Shapes;
    readonly density?: number;
  }) {
    this.#state = options.seed;
    this.#shapes = options.shapes ?? {};
    this.#density = options.density ?? 6;
  }

  object(type: TypeInfo, apiVersion: string): JsonObject {
    const name = `o-${String(this.#pick(1000))}`;
    const object = this.#message(type, 0);
    return { ...object, kind: type.name, apiVersion, metadata: { name } };
  }

  #pick(below: number): number {
    this.#state = (this.#state * 1664525 + 1013904223) % 4294967296;
    return Math.floor((this.#state / 4294967296) * below);
  }

  readonly #of: Choose = (...choices) => choices[this.#pick(choices.length)] ?? choices[0];

  #message(type: TypeInfo, depth: number): JsonObject {
    const object: JsonObject = {};
    this.#around.add(type);
    for (const field of type.fieldByJsonName.values()) {
      if (field.jsonName === '' || field.jsonName === '-') continue;
      if (field.message !== undefined && this.#around.has(field.message)) continue;
      if (this.#pick(10) >= this.#density) continue;
      const value = this.#field(field, depth + 1);
      if (value !== undefined) object[field.jsonName] = value;
    }
    this.#around.delete(type);
    const shape = Object.hasOwn(this.#shapes, type.id) ? this.#shapes[type.id] : undefined;
    return shape === undefined ? object : shape(object, this.#of);
  }

  #field(field: FieldInfo, depth: number): JsonValue | undefined {
    if (field.cardinality === 'single') return this.#value(field, depth);
    const count = depth > wideDepthMax ? 1 : 2;
    const values = Array.from({ length: count }, () => this.#value(field, depth)).filter(
      (value): value is JsonValue => value !== undefined,
    );
    if (field.cardinality === 'list') return values;
    return Object.fromEntries(values.map((value, at) => [`key-${String(at)}`, value]));
  }

  #value({ message, scalar }: FieldInfo, depth: number): JsonValue | undefined {
    if (message?.special !== undefined) return this.#special(message);
    if (message !== undefined) {
      if (message.isNamedList) return ['named'];
      const object = this.#message(message, depth);
      return Object.keys(object).length === 0 ? undefined : object;
    }
    switch (scalar) {
      case 'bool':
        return true;
      case 'bytes':
        return 'YQ==';
      case 'double':
        return this.#of(0.5, 2);
      case 'int32':
      case 'int64':
        return this.#of(1, 7, 42);
      default:
        return this.#of('a', 'bc', 'd-e');
    }
  }

  #special({ special }: TypeInfo): JsonValue {
    switch (special) {
      case 'microTime':
        return '2024-01-02T03:04:05.123456Z';
      case 'time':
      case 'timestamp':
        return '2024-01-02T03:04:05Z';
      case 'duration':
        return '1h0m0s';
      case 'quantity':
        return this.#of('1', '250m', '1Gi');
      case 'intOrString':
        return this.#of<JsonValue>(80, 'http');
      case 'schemaOrBool':
        return true;
      case 'schemaOrList':
      case 'schemaOrStrings':
        return ['a'];
      default:
        return { a: { b: [1, 'x'] } };
    }
  }
}
