// Rules of custom resources on whole objects: paths, transitions, ratcheting and the budget.
import { describe, expect, test } from '@jest/globals';
import { inLinearTime } from '../../base/testing/processor-time.ts';
import { typeOf } from '../../api/testing/schema-types.ts';
import { valueOf } from '../../api/value-info.ts';
import { naming, objectCostBudget } from '../testing/evaluate.ts';
import { Budget } from './budget.ts';
import { createObjectValidator } from './object-validator.ts';
import type { ObjectValidation } from './object-validator.ts';

const rules = (...texts: (string | object)[]): object => ({
  'x-kubernetes-validations': texts.map((text) =>
    typeof text === 'string' ? { rule: text } : text,
  ),
});

const item = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, port: { type: 'integer' } },
  ...rules('!has(self.port) || self.port > 0', {
    rule: 'self.port >= oldSelf.port',
    message: 'shrinks',
  }),
};

const schema = {
  properties: {
    spec: {
      type: 'object',
      properties: {
        min: { type: 'integer' },
        max: {
          type: 'integer',
          ...rules({ rule: 'self < 100', messageExpression: '"is " + string(self)' }),
        },
        'a-b': { type: 'string', ...rules('self != "x"') },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: item,
        },
        set: {
          type: 'array',
          'x-kubernetes-list-type': 'set',
          items: { type: 'string' },
          ...rules('self == oldSelf'),
        },
      },
      ...rules({
        rule: '!has(self.min) || !has(self.max) || self.min <= self.max',
        fieldPath: '.min',
        reason: 'FieldValueForbidden',
      }),
    },
  },
};

const validate = createObjectValidator(valueOf(typeOf(schema)), { naming });

function run(spec: object, old?: object, more: Partial<ObjectValidation> = {}) {
  const resource = (part: object): object => ({ metadata: { name: 'a' }, spec: part });
  const budget = new Budget(objectCostBudget);
  const outcome = validate?.({
    path: '',
    object: resource(spec),
    ...(old === undefined ? {} : { oldObject: resource(old) }),
    budget,
    ...more,
  });
  const text = ({ field, detail }: { field: string; detail: string }): string =>
    `${field}: ${detail}`;
  return { errors: outcome?.errors.map(text), warnings: outcome?.warnings.map(text), budget };
}

test('an object that follows the rules has no errors', () => {
  expect(run({ min: 1, max: 2, items: [{ name: 'a', port: 1 }] }).errors).toEqual([]);
});

test('failures name their field', () => {
  const { errors } = run({ min: 5, max: 2, 'a-b': 'x', items: [{ name: 'a', port: 0 }] });
  expect(errors).toEqual([
    'spec.min: failed rule: !has(self.min) || !has(self.max) || self.min <= self.max',
    'spec.a-b: failed rule: self != "x"',
    'spec.items[0]: failed rule: !has(self.port) || self.port > 0',
  ]);
});

test('message expressions say what is wrong', () => {
  expect(run({ max: 200 }).errors).toEqual(['spec.max: is 200']);
});

describe('transitions', () => {
  test('compare items that have the same key, wherever they are', () => {
    const old = {
      items: [
        { name: 'a', port: 5 },
        { name: 'b', port: 5 },
      ],
    };
    const spec = {
      items: [
        { name: 'b', port: 4 },
        { name: 'a', port: 5 },
        { name: 'c', port: 1 },
      ],
    };
    expect(run(spec, old).errors).toEqual(['spec.items[0]: shrinks']);
  });

  test('do not run on creation', () => {
    expect(run({ items: [{ name: 'b', port: 4 }] }).errors).toEqual([]);
  });

  test('compare sets without their order, in linear time', () => {
    const names = Array.from({ length: 50_000 }, (_, index) => `name-${String(index)}`);
    const errorsOf = (set: readonly string[]): readonly string[] | undefined =>
      inLinearTime(() => run({ set }, { set: names }).errors);
    expect(errorsOf(names.toReversed())).toEqual([]);
    expect(errorsOf([...names.slice(1), 'x'])).toHaveLength(1);
  });

  test('find the twins of many items in linear time', () => {
    const items = Array.from({ length: 20_000 }, (_, port) => ({
      name: String(port),
      port: port + 1,
    }));
    const budget = new Budget(Infinity);
    const old = { items: items.toReversed() };
    const { errors } = inLinearTime(() => run({ items }, old, { budget, ratchets: true }));
    expect(errors).toEqual([]);
  });
});

describe('ratcheting', () => {
  const old = { max: 200, min: 1 };

  test('lets what was wrong before stay, with a warning', () => {
    expect(run({ max: 200, min: 2 }, old, { ratchets: true })).toMatchObject({
      errors: [],
      warnings: ['spec.max: is 200'],
    });
  });

  test('refuses what changed', () => {
    expect(run({ max: 201, min: 1 }, old, { ratchets: true }).errors).toEqual(['spec.max: is 201']);
  });

  test('is asked for', () => {
    expect(run({ max: 200, min: 2 }, old).errors).toEqual(['spec.max: is 200']);
  });
});

describe('the budget', () => {
  test('is shared by all rules of an object', () => {
    const items = Array.from({ length: 10 }, (_, index) => ({ name: String(index), port: 1 }));
    const { budget } = run({ items });
    const spent = objectCostBudget - budget.remaining;
    expect(spent).toBeGreaterThan(10);
    const tight = new Budget(spent - 1);
    const { errors } = run({ items }, undefined, { budget: tight });
    expect(errors).toEqual([
      'spec.items[9]: validation failed due to running out of cost budget, ' +
        'no further validation rules will be run',
    ]);
    expect(tight.remaining).toBe(-1);
  });

  test('of one call ends the validation', () => {
    const { errors } = run({ max: 200, min: 1 }, undefined, { evaluation: { costLimit: 2 } });
    expect(errors?.[0]).toMatch(
      /operation cancelled: actual cost limit exceeded.*no further validation rules will be run/,
    );
    expect(errors).toHaveLength(1);
  });
});

test('a schema without rules needs no validator', () => {
  const plain = valueOf(typeOf({ properties: { a: { type: 'string' } } }));
  expect(createObjectValidator(plain, { naming })).toBeUndefined();
});
