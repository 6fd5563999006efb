import { expect, test } from '@jest/globals';
import { fieldErrorMessage, invalid } from './status.ts';
import type { FieldError } from './status.ts';

const field = 'spec.x';

test.each<[string, FieldError, string]>([
  [
    'a bad value is shown',
    { reason: 'FieldValueInvalid', field, badValue: 'a', detail: 'must be b' },
    'Invalid value: "a": must be b',
  ],
  [
    'null is a value',
    { reason: 'FieldValueInvalid', field, badValue: null, detail: 'd' },
    'Invalid value: null: d',
  ],
  [
    'without a value none is shown',
    { reason: 'FieldValueInvalid', field, badValue: undefined, detail: 'd' },
    'Invalid value: d',
  ],
  [
    'a large integer keeps its digits',
    { reason: 'FieldValueInvalid', field, badValue: { n: 9007199254740993n }, detail: '' },
    'Invalid value: {"n":9007199254740993}',
  ],
  [
    'a required value has none',
    { reason: 'FieldValueRequired', field, detail: 'd' },
    'Required value: d',
  ],
  [
    'a long value is not repeated',
    { reason: 'FieldValueTooLong', field, badValue: 'x', detail: 'd' },
    'Too long: d',
  ],
])('%s', (_name, error, text) => {
  expect(fieldErrorMessage(error)).toBe(text);
});

test('all field errors of an object are told at once, each with its path', () => {
  const error = invalid({ group: 'apps', kind: 'Deployment' }, 'd', [
    { reason: 'FieldValueRequired', field: 'spec.selector', detail: '' },
    {
      reason: 'FieldValueInvalid',
      field: 'spec.replicas',
      badValue: -1,
      detail: 'must be 0 or more',
    },
  ]);
  expect(error.message).toBe(
    'Deployment.apps "d" is invalid: [spec.selector: Required value, ' +
      'spec.replicas: Invalid value: -1: must be 0 or more]',
  );
  expect(error.code).toBe(422);
  expect(error.details?.causes?.map((cause) => cause.field)).toEqual([
    'spec.selector',
    'spec.replicas',
  ]);
});
