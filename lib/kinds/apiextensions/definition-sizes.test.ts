// Definitions of the size of a request, of any shape: judged in small steps, as many as there are
// nodes and rules, without an overflow of the stack, and with an answer that is no longer than the
// question.
import { describe, expect, test } from '@jest/globals';
import { FieldErrors } from '../../api/field-errors.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { limits } from '../../base/limits.ts';
import { inTurns } from '../../base/steps.ts';
import { Yielder } from '../../base/yielder.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { validateDefinition } from './definition-validation.ts';

const naming = namingProfile('kubernetes');
const own = (word: string): string => naming.schemaExtensionPrefix + word;

const definitionOf = (schema: JsonObject): ApiObject => ({
  metadata: { name: 'ws.e.com' },
  spec: {
    group: 'e.com',
    scope: 'Namespaced',
    names: { plural: 'ws', singular: 'w', kind: 'W', listKind: 'WList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
  status: { storedVersions: ['v1'] },
});

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ type: 'object', properties },
  ...more,
});
const many = (count: number, of: (at: number) => JsonObject): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_item, at) => [`a${String(at)}`, of(at)]));
const nested = (depth: number, leaf: JsonObject, more: JsonObject = {}): JsonObject => {
  let schema = leaf;
  for (let at = 0; at < depth; at += 1) schema = object({ b: schema }, more);
  return schema;
};
const numbered = <T>(count: number, of: (at: number) => T): T[] =>
  Array.from({ length: count }, (_item, at) => of(at));
const ruled = (...rules: readonly string[]): JsonObject => ({
  ...{ type: 'string', maxLength: 10 },
  [own('validations')]: rules.map((rule) => ({ rule })),
});

function judged(schema: JsonObject): { readonly stepCount: number; readonly errors: FieldErrors } {
  const errors = new FieldErrors();
  const steps = validateDefinition({
    ...{ object: definitionOf(schema), old: undefined, errors, naming },
    ...{ isOn: () => true, subresource: '', apiVersion: 'v1' },
  });
  let stepCount = 0;
  while (steps.next().done !== true) stepCount += 1;
  return { stepCount, errors };
}

describe('a definition near the limit of requests', () => {
  test.each<[string, JsonObject, number]>([
    ['20,000 properties', object({ s: object(many(20_000, () => ({ type: 'string' }))) }), 20_000],
    [
      '20,000 values of an enum',
      object({ s: { type: 'string', enum: numbered(20_000, String) } }),
      2,
    ],
    [
      '5,000 conditions',
      object({ s: { type: 'string', anyOf: numbered(5_000, (at) => ({ minLength: at })) } }),
      5_000,
    ],
    [
      '5,000 conditions of the root',
      object(
        { s: object({ a: { type: 'string' } }) },
        { allOf: numbered(5_000, () => ({ properties: { s: { properties: { a: {} } } } })) },
      ),
      15_000,
    ],
    [
      '1,000 rules of a value',
      object({ s: ruled(...numbered(1_000, (at) => `self != "${String(at)}"`)) }),
      1_000,
    ],
    [
      '1,000 values with a rule',
      object({ s: object(many(1_000, () => ruled('self != ""'))) }),
      2_000,
    ],
    [
      'defaults within defaults around rules',
      object({ s: nested(40, object(many(1_000, () => ruled('self != ""'))), { default: {} }) }),
      2_000,
    ],
    [
      'a default of many values',
      object({
        s: { type: 'array', items: { type: 'string' }, default: numbered(20_000, String) },
      }),
      3,
    ],
    [
      'names of 5,000 characters within each other',
      object({
        s: nested(
          40,
          object({ ['n'.repeat(5_000)]: object(many(1_000, () => ({ type: 'string' }))) }),
        ),
      }),
      1_000,
    ],
  ])('%s: taken, in steps that each do little', (_name, schema, nodeCount) => {
    const { errors, stepCount } = judged(schema);
    expect(errors.list).toEqual([]);
    // Walks over all nodes: survey, types, structure, defaults, words, rules; formats at last.
    expect(stepCount).toBeGreaterThan(nodeCount);
    expect(stepCount).toBeLessThan(12 * nodeCount + 1_000);
  });

  test.each<[string, JsonObject, RegExp]>([
    [
      '20,000 properties without a type',
      object({ s: object(many(20_000, () => ({}))) }),
      /must not be empty/,
    ],
    [
      '20,000 keys that are no property',
      object({
        s: {
          ...{ type: 'array', items: { type: 'object', properties: {} } },
          ...{ [own('list-type')]: 'map', [own('list-map-keys')]: numbered(20_000, String) },
        },
      }),
      /entries must all be names/,
    ],
    [
      '3,000 rules that do not compile',
      object({ s: object(many(3_000, () => ruled('self +'))) }),
      /compilation failed/,
    ],
    [
      '5,000 regular expressions of a thousand steps',
      object({
        s: object(many(5_000, (at) => ({ type: 'string', pattern: `a{1000}${String(at)}` }))),
      }),
      /too large together/,
    ],
    [
      'one regular expression of a million steps',
      object({ s: { type: 'string', pattern: 'a{1000}'.repeat(1_000) } }),
      /too large/,
    ],
  ])('%s: refused, with no more failures than anybody reads', (_name, schema, detail) => {
    const { errors } = judged(schema);
    expect(errors.list.at(0)?.detail).toMatch(detail);
    const byteCount = errors.list.reduce(
      (sum, one) => sum + one.field.length + one.detail.length,
      0,
    );
    expect(byteCount).toBeLessThan(2 * limits.definitionFailureBytesMax);
  });

  test('as deep as anything that is stored may be', () => {
    const depth = limits.storedDepthMax;
    const { errors } = judged(nested(depth, { type: 'string' }));
    expect(errors.list).toEqual([]);
    const conditions = numbered(depth, String).reduce<JsonObject>((not) => ({ not }), {});
    expect(judged(object({ s: { type: 'string', not: conditions } })).errors.list).toEqual([]);
  });

  test('others have their turns meanwhile', async () => {
    let turnCount = 0;
    const yielder = new (class extends Yielder {
      override async yield(): Promise<void> {
        turnCount += 1;
        await super.yield();
      }
    })(-1);
    const errors = new FieldErrors();
    const schema = object({ s: object(many(1_000, () => ({ type: 'string' }))) });
    const steps = validateDefinition({
      ...{ object: definitionOf(schema), old: undefined, errors, naming },
      ...{ isOn: () => true, subresource: '', apiVersion: 'v1' },
    });
    expect(await inTurns(steps, yielder)).toEqual([]);
    expect(turnCount).toBeGreaterThan(100);
  });
});
