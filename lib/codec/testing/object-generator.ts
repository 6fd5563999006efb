// Random valid objects of any type, for tests and fuzzing: seeded, with all scalars and special
// forms.
import type { FieldInfo, JsonObject, JsonValue, TypeInfo } from '../../api/type-info.ts';

/** Valid values of any field, in every spelling that readers take; the same for the same seed. */
export class ObjectGenerator {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number from 0, less than `below`. */
  pick(below: number): number {
    this.#state = (this.#state * 1664525 + 1013904223) % 4294967296;
    return Math.floor((this.#state / 4294967296) * below);
  }
  of<T extends JsonValue>(...choices: T[]): T {
    return choices[this.pick(choices.length)] as T;
  }
  message(type: TypeInfo, depth: number): JsonValue {
    if (type.special !== undefined) return this.special(type, depth);
    if (type.isNamedList) return [this.of('a', '')];
    const object = Object.create(null) as JsonObject;
    const fields = [...type.fieldByJsonName.values()].filter((one) => one.jsonName !== '-');
    for (const field of fields.reverse()) {
      const rarely = depth > 4 || this.pick(3) > 0;
      if (field.jsonName === '' || rarely) continue;
      object[field.jsonName] = this.pick(8) === 0 ? null : this.field(field, depth + 1);
    }
    return object;
  }
  field(field: FieldInfo, depth: number): JsonValue {
    if (field.cardinality === 'single') return this.value(field, depth);
    const count = this.pick(3);
    if (field.cardinality === 'list')
      return Array.from({ length: count }, () => this.value(field, depth));
    const map = Object.create(null) as JsonObject;
    for (let entry = 0; entry < count; entry += 1) {
      map[this.of('b', 'a', '__proto__', '10', '9', 'Ü')] = this.value(field, depth);
    }
    return map;
  }
  value(field: FieldInfo, depth: number): JsonValue {
    if (field.message !== undefined) return this.message(field.message, depth);
    switch (field.scalar) {
      case 'string':
        return this.of('', 'a', 'yes', 'ä"\\\n😀', '010');
      case 'bool':
        return this.of(true, false);
      case 'int32':
        return this.of(0, 1, -2147483648);
      case 'int64':
        return this.of<number | bigint>(0, 1, 9007199254740993n);
      case 'double':
        return this.of(0, 0.5);
      case 'bytes':
        return this.of('', 'YQ==', 'YWI=');
      case undefined:
        return this.of<JsonValue>('x', 1, null);
    }
  }
  special(type: TypeInfo, depth: number): JsonValue {
    switch (type.special) {
      case 'time':
      case 'timestamp':
        return this.of(
          '2024-01-01T00:00:00Z',
          '2024-01-01T02:00:00.25+02:00',
          '0001-01-01T00:00:00Z',
        );
      case 'microTime':
        return this.of(
          '2024-01-01T00:00:00.000000Z',
          '2024-01-01T02:00:00.250000+02:00',
          '0001-01-01T00:00:00.000000Z',
        );
      case 'duration':
        return this.of('90m', '0s');
      case 'quantity':
        return this.of<JsonValue>('1000m', '1.5Gi', 3, '0');
      case 'intOrString':
        return this.of<JsonValue>(0, 80, 'http', '');
      case 'schemaOrBool':
        return this.of(true, false);
      case 'schemaOrList':
      case 'schemaOrStrings':
        return [];
      default:
        return depth > 4 ? 'x' : this.of<JsonValue>('x', { a: {}, b: [1, null] }, 5);
    }
  }
}
