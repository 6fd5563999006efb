// Large objects of custom kinds: between two questions whether others are to run there is little
// work, the questions grow with the object and not faster, and nothing nests too deeply.
import { describe, expect, test } from '@jest/globals';
import { compileListChecks } from '../api/list-uniqueness.ts';
import { compileOpenValidation } from '../api/open-validation.ts';
import { FailureList } from '../api/failure-list.ts';
import { StoredParts } from '../api/stored-parts.ts';
import { typeOf } from '../api/testing/schema-types.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { valueOf } from '../api/value-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { limits } from '../base/limits.ts';
import { Yielder } from '../base/yielder.ts';
import { Budget } from '../cel/use/budget.ts';
import { createObjectValidator } from '../cel/use/object-validator.ts';

const naming = namingProfile('kubernetes');
const extension = (name: string): string => `x-kubernetes-${name}`;
const text = { type: 'string' };
const integer = { type: 'integer' };

/** Counts the questions, and lets others run at some of them. */
class CountingYielder extends Yielder {
  asked = 0;
  turns = 0;
  override isDue(): boolean {
    this.asked += 1;
    return this.asked % 1_000 === 0;
  }
  override yield(): Promise<void> {
    this.turns += 1;
    return super.yield();
  }
}

interface Outcome {
  readonly asked: number;
  readonly turns: number;
  readonly failureCount: number;
  readonly warningCount: number;
}

/** Everything that is done with one write, beside what strategies do. */
async function judge(schema: object, object: JsonObject, old?: JsonObject): Promise<Outcome> {
  const root = valueOf(typeOf(schema));
  const pace = new CountingYielder();
  const stored = new StoredParts();
  const before = old === undefined ? {} : { old };
  const declared = await compileOpenValidation(root)({ value: object, ...before, stored, pace });
  const errors = new FailureList();
  await compileListChecks(root)?.(object, '', { errors, pace });
  const budget = new Budget(limits.objectRulesCostMax);
  const validate = createObjectValidator(root, { naming, version: 'stored' });
  const wasThere = old === undefined ? {} : { oldObject: old, ratchets: true };
  const ruled = await validate?.({ path: '', object, ...wasThere, budget, stored }, pace);
  return {
    asked: pace.asked,
    turns: pace.turns,
    failureCount: declared.length + errors.count + (ruled?.errors.length ?? 0),
    warningCount: ruled?.warnings.length ?? 0,
  };
}

const list = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_item, at) => make(at));
const map = (count: number, make: (at: number) => JsonValue): JsonObject =>
  Object.fromEntries(list(count, (at) => [`key-${String(at)}`, make(at)] as const));

const ruled = (schema: object, rule: string): object => ({
  ...schema,
  [extension('validations')]: [{ rule }],
});
const entry = { type: 'object', properties: { a: text, n: integer } };
const entries = { type: 'object', additionalProperties: ruled(entry, 'size(self.a) < 3') };
const set = { type: 'array', items: text, [extension('list-type')]: 'set' };
const keyed = {
  type: 'array',
  items: { type: 'object', properties: { k: text, n: { ...integer, maximum: 5 } } },
  [extension('list-type')]: 'map',
  [extension('list-map-keys')]: ['k'],
};
const of = (schema: object): object => ({ properties: { spec: schema, note: text } });

const names = (count: number): string[] => list(count, (at) => `item-${String(at)}`);
const items = (count: number): JsonObject[] =>
  list(count, (at) => ({ k: `k${String(at)}`, n: at }));

describe('large objects', () => {
  test.each<[string, object, number, (count: number) => JsonValue, (count: number) => JsonValue]>([
    [
      'a map of entries with a rule each',
      entries,
      10_000,
      (count) => map(count, () => ({ a: 'x' })),
      (count) => map(count, (at) => ({ a: 'x', n: at })),
    ],
    [
      'a map of entries that fail but are stored',
      entries,
      10_000,
      (count) => map(count, () => ({ a: 'long' })),
      (count) => map(count, () => ({ a: 'long' })),
    ],
    ['a set', set, 100_000, (count) => names(count), (count) => names(count).reverse()],
    [
      'a keyed list that is stored in another order',
      keyed,
      30_000,
      (count) => items(count),
      (count) => items(count).reverse(),
    ],
  ])('%s', async (_claim, schema, count, now, before) => {
    const run = (size: number): Promise<Outcome> =>
      judge(of(schema), { spec: now(size), note: 'new' }, { spec: before(size), note: 'old' });
    const half = await run(count / 2);
    const whole = await run(count);
    expect(whole.failureCount).toBe(0);
    expect(whole.asked).toBeGreaterThan(count);
    expect(whole.turns).toBeGreaterThan(count / 1_000 - 1);
    expect(whole.asked).toBeLessThan(2.1 * half.asked);
  });

  test('entries that fail and are stored warn', async () => {
    const spec = map(1_000, () => ({ a: 'long' }));
    const outcome = await judge(of(entries), { spec, note: 'a' }, { spec: { ...spec }, note: 'b' });
    expect(outcome).toMatchObject({ failureCount: 0, warningCount: 1_000 });
  });
});

describe('deep objects', () => {
  const nested = (depth: number, leaf: JsonValue): JsonValue => {
    let value = leaf;
    for (let at = 0; at < depth; at += 1) value = { a: value, b: at };
    return value;
  };

  test('of a schema as deep', async () => {
    let schema: object = { ...integer, maximum: 1 };
    const depth = limits.storedDepthMax - 2;
    for (let at = 0; at < depth; at += 1) {
      schema = ruled({ type: 'object', properties: { a: schema, b: integer } }, 'self.b >= 0');
    }
    const run = (before: JsonValue): Promise<Outcome> =>
      judge(of(schema), { spec: nested(depth, 5), note: 'new' }, { spec: before, note: 'old' });
    expect(await run(nested(depth, 5))).toMatchObject({ failureCount: 0 });
    expect(await run(nested(depth, 6))).toMatchObject({ failureCount: 1 });
  });

  test('of which the schema says nothing', async () => {
    const schema = of({ type: 'object', [extension('preserve-unknown-fields')]: true });
    const enumerated = { ...schema, properties: { spec: { type: 'object', enum: [{}] } } };
    const spec = nested(limits.storedDepthMax, 1);
    expect(await judge(enumerated, { spec })).toMatchObject({ failureCount: 1 });
    const unchanged = { spec: nested(limits.storedDepthMax, 1) };
    expect(await judge(enumerated, { spec, note: 'x' }, unchanged)).toMatchObject({
      failureCount: 0,
    });
  });
});

test('of a schema only what an object holds is compiled', () => {
  const properties = Object.fromEntries(
    list(50_000, (at) => [
      `p${String(at)}`,
      ruled({ ...text, pattern: `^${String(at)}` }, 'self.'),
    ]),
  );
  const root = valueOf(typeOf(of({ type: 'object', properties })));
  const validate = createObjectValidator(root, { naming, version: 'stored' });
  const budget = new Budget(limits.objectRulesCostMax);
  const outcome = validate?.({ path: '', object: { spec: { other: 'x' } }, budget });
  // The rules of the schema would not compile.
  expect(outcome?.errors).toEqual([]);
});
