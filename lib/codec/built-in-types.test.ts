// Every built-in type through the codecs: what holds for the samples of json.test.ts holds for all
// of them.
import { describe, expect, test } from '@jest/globals';
import { noKindRules } from '../api/testing/no-kind-rules.ts';
import { isNameless } from '../base/nameless.ts';
import { createScheme } from '../api/scheme.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { decodeCanonical, decodeOwn, encodeText, jsonCodec } from './json.ts';
import { canonicalObject } from './normalise.ts';
import { encodeStored, openStored, withResourceVersion } from './stored-form.ts';
import { createProtobufCodec, hasProtobufForm } from './protobuf.ts';
import { cborCodec } from './cbor.ts';
import { ObjectGenerator } from './testing/object-generator.ts';
import { yamlCodec } from './yaml.ts';

const naming = namingProfile('svc');
const scheme = createScheme({ rules: noKindRules, profile: naming });
const protobufCodec = createProtobufCodec(naming.protobufMediaType);
const types = [...scheme.packages.values()].flatMap((owner) => owner.types);
const plain = types.filter((type) => type.special === undefined && !type.isNamedList);
const kinds = plain.filter((type) => type.hasTypeMeta);

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const write = (value: JsonValue): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? (JSON.parse('0') as number) : member,
  );

/** A value with what its objects are, but for those without members. */
function recordsIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(recordsIn);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, recordsIn(member)]);
  if (members.length === 0) return {};
  return { isNameless: isNameless(Object.getPrototypeOf(value)), members };
}

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
      const generator = new ObjectGenerator(index + 1);
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
  test('random objects are read alike where nothing needs to be checked (seeded)', () => {
    for (const [index, type] of plain.entries()) {
      const generator = new ObjectGenerator(index + 300);
      for (let round = 0; round < 3; round += 1) {
        const json = bytes(encodeText(generator.message(type, 0) as JsonObject, type));
        const own = decodeOwn(json, type);
        expect([type.id, recordsIn(own)]).toEqual([
          type.id,
          recordsIn(decodeCanonical(json, type)),
        ]);
        expect(canonicalObject(own, type)).toBe(own);
      }
    }
  });
  test('random objects are the same through JSON and Protobuf (seeded)', () => {
    for (const [index, type] of plain.entries()) {
      if (!hasProtobufForm(type)) continue;
      const generator = new ObjectGenerator(index + 500);
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
      const generator = new ObjectGenerator(index + 700);
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
      const object = new ObjectGenerator(index + 1000).message(type, 0) as JsonObject;
      const body = bytes(write({ ...object, 'no-such-field': { a: [1] } }));
      const { problems } = jsonCodec.decode(body, type);
      expect([type.id, problems]).toEqual([type.id, [{ kind: 'unknown', path: 'no-such-field' }]]);
    }
  });
  test('stored objects of every resource open and show their version (seeded)', () => {
    for (const [index, resource] of scheme.storedResources.entries()) {
      const object = new ObjectGenerator(index + 1).message(resource.type, 0) as JsonObject;
      const metadata = { ...(object['metadata'] as JsonObject | undefined), name: 'a' };
      const stored = openStored(encodeStored({ ...object, metadata }, resource).value);
      if (stored === undefined) throw new Error(`${resource.resource} opens`);
      const sent = jsonCodec.decode(withResourceVersion(stored, 77), resource.type).object;
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
