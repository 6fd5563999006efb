// Every built-in type through the codecs: what holds for the samples of json.test.ts holds for all of them.
import { describe, expect, test } from '@jest/globals';
import { createScheme } from '../api/scheme.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { FieldInfo, JsonObject, JsonValue, TypeInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { encodeText, jsonCodec } from './json.ts';
import { canonicalObject } from './normalise.ts';
import { decodeForeign, encodeStored, openStored, withResourceVersion } from './stored-form.ts';
import { createProtobufCodec, hasProtobufForm } from './protobuf.ts';
import { cborCodec } from './cbor.ts';
import { yamlCodec } from './yaml.ts';

const naming = namingProfile('svc');
const scheme = createScheme({ profile: naming });
const protobufCodec = createProtobufCodec(naming.protobufMediaType);
const types = [...scheme.packages.values()].flatMap((owner) => owner.types);
const plain = types.filter((type) => type.special === undefined && !type.isNamedList);
const kinds = plain.filter((type) => type.hasTypeMeta);

/** Valid values of any field, in every spelling that readers take. */
class Generator {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
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
      case 'microTime':
        return this.of(
          '2024-01-01T00:00:00Z',
          '2024-01-01T02:00:00.25+02:00',
          '0001-01-01T00:00:00Z',
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

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const write = (value: JsonValue): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? (JSON.parse('0') as number) : member,
  );

describe('every built-in type', () => {
  test('there are many', () => {
    expect(plain.length).toBeGreaterThan(700);
    expect(kinds.length).toBeGreaterThan(150);
  });
  test('an empty message shows what its holders show for an unset field', () => {
    for (const type of plain) {
      for (const field of type.fields) {
        const { message, zero } = field;
        if (message === undefined || message.special !== undefined || message.isNamedList) continue;
        if (field.pointer || field.cardinality !== 'single' || zero === undefined) continue;
        const empty = jsonCodec.decode(bytes('{}'), message).object;
        expect([type.id, field.jsonName, empty]).toEqual([type.id, field.jsonName, zero]);
      }
    }
  });
  test('random objects: canonical once is canonical for good, in JSON and YAML (seeded)', () => {
    for (const [index, type] of plain.entries()) {
      const generator = new Generator(index + 1);
      for (let round = 0; round < 3; round += 1) {
        const object = generator.message(type, 0) as JsonObject;
        const text = encodeText(object, type);
        const decoded = jsonCodec.decode(bytes(text), type);
        expect([type.id, decoded.problems]).toEqual([type.id, []]);
        expect([type.id, encodeText(decoded.object, type)]).toEqual([type.id, text]);
        expect(canonicalObject(decoded.object, type)).toBe(decoded.object);
        if (round > 0) continue;
        const yaml = yamlCodec.decode(yamlCodec.encode(object, type), type);
        expect([type.id, encodeText(yaml.object, type)]).toEqual([type.id, text]);
      }
    }
  });
  test('random objects are the same through JSON and Protobuf (seeded)', () => {
    for (const [index, type] of plain.entries()) {
      if (!hasProtobufForm(type)) continue;
      const generator = new Generator(index + 500);
      for (let round = 0; round < 3; round += 1) {
        const object = generator.message(type, 0) as JsonObject;
        const text = encodeText(object, type);
        const bytes = protobufCodec.encode(object, type);
        const read = protobufCodec.decode(bytes, type).object;
        expect([type.id, encodeText(read, type)]).toEqual([type.id, text]);
        expect(Buffer.compare(protobufCodec.encode(read, type), bytes)).toBe(0);
      }
    }
  });
  test('random objects are the same through JSON and CBOR (seeded)', () => {
    for (const [index, type] of plain.entries()) {
      const generator = new Generator(index + 700);
      for (let round = 0; round < 2; round += 1) {
        const object = generator.message(type, 0) as JsonObject;
        const { object: read, problems } = cborCodec.decode(cborCodec.encode(object, type), type);
        expect([type.id, problems]).toEqual([type.id, []]);
        expect([type.id, encodeText(read, type)]).toEqual([type.id, encodeText(object, type)]);
      }
    }
  });
  test('unknown members are reported where they stand (seeded)', () => {
    for (const [index, type] of plain.entries()) {
      const object = new Generator(index + 1000).message(type, 0) as JsonObject;
      const body = bytes(write({ ...object, 'no-such-field': { a: [1] } }));
      const { problems } = jsonCodec.decode(body, type);
      expect([type.id, problems]).toEqual([type.id, [{ kind: 'unknown', path: 'no-such-field' }]]);
    }
  });
  test('stored objects of every resource open and show their version (seeded)', () => {
    for (const [index, resource] of scheme.storedResources.entries()) {
      const object = new Generator(index + 1).message(resource.type, 0) as JsonObject;
      const metadata = { ...(object['metadata'] as JsonObject | undefined), name: 'a' };
      const stored = openStored(encodeStored({ ...object, metadata }, resource));
      if (stored === undefined) throw new Error(`${resource.resource} opens`);
      const sent = decodeForeign(withResourceVersion(stored, 77), resource.type);
      const { kind } = resource.kind;
      const apiVersion = apiVersionOf(resource.kind);
      const wanted = {
        ...object,
        kind,
        apiVersion,
        metadata: { ...metadata, resourceVersion: '77' },
      };
      expect(sent === undefined ? resource.resource : encodeText(sent, resource.type)).toBe(
        encodeText(wanted, resource.type),
      );
    }
  });
});
