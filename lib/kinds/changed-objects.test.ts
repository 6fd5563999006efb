// What was made of a whole object is read and completed only where it differs from that: which must
// come to the same as to read and to complete all of it.
import { describe, expect, test } from '@jest/globals';
import { cloneAlike, copyOfLevel, isRecord, jsonEqual, setMember } from '../api/json-value.ts';
import { RawJson } from '../api/raw-json.ts';
import type { JsonObject, JsonValue, TypeInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { switches } from '../config/flag-kinds.ts';
import { stringify } from '../codec/json.ts';
import { readObject } from '../codec/normalise.ts';
import { ObjectGenerator } from '../codec/testing/object-generator.ts';
import { builtInScheme } from './built-in-kinds.ts';

const scheme = builtInScheme({
  profile: namingProfile('kubernetes'),
  runtimeConfig: switches.parse('api/all=true'),
});
const { defaults } = scheme;
const types = new Map(
  scheme.resources.map(({ type }) => [type.id, type] as const).filter(([, type]) => !type.open),
);
const seeds = Array.from({ length: 12 }, (_, at) => at * 7 + 1);

/** As the write path has it before it is changed: read, and with all defaults. */
function whole(value: JsonValue, type: TypeInfo): JsonObject {
  let object = readObject(value, type).object;
  for (;;) {
    const before = cloneAlike(object);
    defaults.apply(object, type);
    object = readObject(object, type).object;
    if (jsonEqual(before, object)) return object;
  }
}

/** Some members are those of `other` or gone, some elements are; the rest is shared. */
function changed(value: JsonValue, other: JsonValue, random: ObjectGenerator): JsonValue {
  if (Array.isArray(value)) {
    const more = Array.isArray(other) ? other : [];
    switch (random.pick(4)) {
      case 0:
        return [...more, ...value];
      case 1:
        return value.slice(1);
      default:
        return value.map((element, at) =>
          random.pick(2) === 0 ? element : changed(element, more[at] ?? null, random),
        );
    }
  }
  if (!isRecord(value)) return other;
  const made = copyOfLevel(value);
  const own = isRecord(other) ? other : {};
  for (const name of new Set([...Object.keys(value), ...Object.keys(own)])) {
    const [was, will] = [made[name], own[name]];
    const choice = random.pick(8);
    if (choice === 0) Reflect.deleteProperty(made, name);
    else if (choice <= 2 && will !== undefined) setMember(made, name, will);
    else if (choice <= 4 && was !== undefined) {
      setMember(made, name, changed(was, will ?? was, random));
    }
  }
  return made;
}

/** Objects and lists in it that could be changed. */
function* partsOf(value: JsonValue | undefined): Generator<object> {
  if (typeof value !== 'object' || value === null || value instanceof RawJson) return;
  yield value;
  for (const member of Object.values(value)) yield* partsOf(member);
}

const textOf = (value: JsonValue): string => stringify(value);

describe.each([...types])('%s', (_id, type) => {
  test('what changed is read and completed as all is', () => {
    for (const seed of seeds) {
      const random = new ObjectGenerator(seed);
      const base = whole(random.message(type, 0), type);
      const other = whole(random.message(type, 0), type);
      const given = changed(base, other, random);
      const before = [base, other, given].map(textOf);

      const full = cloneAlike(readObject(given, type).object);
      defaults.apply(full, type);
      const read = readObject(given, type, base);
      const made = defaults.completed(read.object, base, type);

      expect(read.problems).toEqual(readObject(given, type).problems);
      if (!jsonEqual(made, full)) expect([seed, made]).toEqual([seed, full]);
      expect([base, other, given].map(textOf)).toEqual(before);
      const foreign = new Set(partsOf(given)).difference(new Set(partsOf(base)));
      expect([...partsOf(made)].filter((part) => foreign.has(part))).toEqual([]);
    }
  });
});

test('a part is shared once, however often it is in what is completed', () => {
  const type = scheme.type('core/v1.Pod');
  const containers = [{ name: 'a', image: 'i:1' }];
  const base = whole({ kind: 'Pod', apiVersion: 'v1', spec: { containers } }, type);
  const { spec } = base as { spec: { containers: JsonObject[] } };
  const [only = {}] = spec.containers;
  const twice = { ...base, spec: { ...spec, containers: [only, only], nodeName: 'n' } };
  const made = defaults.completed(twice, base, type) as { spec: { containers: JsonObject[] } };
  expect(made.spec.containers).toEqual([only, only]);
  expect(made.spec.containers[0]).not.toBe(made.spec.containers[1]);
});
