import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../api/vendor.ts';
import { StatusError } from '../base/status.ts';
import { parseDeleteOptions, parseListOptions, parseWriteOptions } from './options.ts';
import { unsafeDeleteErrors } from './options.ts';

const naming = namingProfile('svc');
const query = (text: string): URLSearchParams => new URLSearchParams(text);

function failure(run: () => unknown): { code: number; causes: string[] } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const causes = (error.details?.causes ?? []).map(
      ({ field, reason }) => `${field ?? ''} ${reason ?? ''}`,
    );
    return { code: error.code, causes };
  }
  throw new Error('nothing was thrown');
}

describe('list options', () => {
  test.each([
    ['', false],
    ['watch', true],
    ['watch=', true],
    ['watch=1', true],
    ['watch=true', true],
    ['watch=0', false],
    ['watch=False', false],
  ])('%j has watch %p', (text, expected) => {
    expect(parseListOptions(query(text)).watch).toBe(expected);
  });

  test.each([
    ['limit=0', 0],
    ['limit=-1', -1],
    ['limit=500', 500],
    ['limit=9223372036854775807', Number.MAX_SAFE_INTEGER],
  ])('%j is the limit %p', (text, expected) => {
    expect(parseListOptions(query(text)).limit).toBe(expected);
  });

  test.each([
    ['', undefined],
    ['timeoutSeconds=0', undefined],
    ['timeoutSeconds=7', 7],
  ])('%j limits the time to %p s', (text, expected) => {
    expect(parseListOptions(query(text)).timeoutSeconds).toBe(expected);
  });

  test.each(['limit=abc', 'limit=1.5', 'limit=', 'timeoutSeconds=x', 'limit=9223372036854775808'])(
    '%j is a 400',
    (text) => {
      expect(failure(() => parseListOptions(query(text)))).toEqual({ code: 400, causes: [] });
    },
  );
});

describe('write options', () => {
  test.each([
    ['dryRun=All', true],
    ['dryRun=All&dryRun=All', true],
    ['dryRun', false],
    ['dryRun=', false],
    ['', false],
  ])('%j runs dry: %p', (text, expected) => {
    expect(parseWriteOptions(query(text), 'create', naming).dryRun).toBe(expected);
  });

  test.each([
    ['dryRun=Some', ['dryRun FieldValueNotSupported']],
    ['dryRun=all', ['dryRun FieldValueNotSupported']],
    ['fieldValidation=strict', ['fieldValidation FieldValueNotSupported']],
    ['fieldValidation=Warn,Strict', ['fieldValidation FieldValueNotSupported']],
    [`fieldManager=${'x'.repeat(129)}`, ['fieldManager FieldValueTooLong']],
    ['fieldManager=a%0Ab', ['fieldManager FieldValueInvalid']],
  ])('%j is a 422', (text, causes) => {
    expect(failure(() => parseWriteOptions(query(text), 'update', naming))).toEqual({
      code: 422,
      causes,
    });
  });

  test('force is for apply patches only', () => {
    const forced = query('force=true&fieldManager=me');
    expect(failure(() => parseWriteOptions(forced, 'merge', naming)).causes).toEqual([
      'force FieldValueForbidden',
    ]);
    expect(parseWriteOptions(forced, 'apply', naming).force).toBe(true);
  });

  test('an apply patch needs a manager', () => {
    expect(failure(() => parseWriteOptions(query(''), 'apply', naming)).causes).toEqual([
      'fieldManager FieldValueRequired',
    ]);
  });

  test('the error names the options of the verb in the profile’s spelling', () => {
    const run = (): unknown => parseWriteOptions(query('dryRun=x'), 'json', naming);
    expect(run).toThrow(
      /^PatchOptions\.meta\.svc\.io "" is invalid: dryRun: Unsupported value: \["x"\]/,
    );
  });
});

describe('delete options', () => {
  test('the body wins over the query, member by member', () => {
    const options = parseDeleteOptions(
      query('gracePeriodSeconds=5&propagationPolicy=Orphan&dryRun=All'),
      { kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: 'u' } },
      naming,
    );
    expect(options).toEqual({
      dryRun: true,
      gracePeriodSeconds: 0,
      orphanDependents: undefined,
      propagationPolicy: 'Orphan',
      preconditions: { uid: 'u', resourceVersion: undefined },
      ignoreReadError: false,
      stated: { gracePeriodSeconds: 0, preconditions: { uid: 'u' }, propagationPolicy: 'Orphan' },
    });
  });

  test.each([
    [
      { orphanDependents: true, propagationPolicy: 'Background' },
      ['propagationPolicy FieldValueInvalid'],
    ],
    [
      { orphanDependents: true, propagationPolicy: 'Bogus' },
      ['propagationPolicy FieldValueInvalid', 'propagationPolicy FieldValueNotSupported'],
    ],
    [{ propagationPolicy: 'Bogus' }, ['propagationPolicy FieldValueNotSupported']],
    [{ dryRun: ['Some'] }, ['dryRun FieldValueNotSupported']],
  ])('%j is a 422', (body, causes) => {
    expect(failure(() => parseDeleteOptions(query(''), body, naming))).toEqual({
      code: 422,
      causes,
    });
  });

  test.each([
    [{ uid: '' }, { uid: '', resourceVersion: undefined }],
    [{ resourceVersion: '' }, { uid: undefined, resourceVersion: '' }],
    [{ uid: null }, { uid: undefined, resourceVersion: undefined }],
  ])('the preconditions %j are %j', (preconditions, expected) => {
    expect(parseDeleteOptions(query(''), { preconditions }, naming).preconditions).toEqual(
      expected,
    );
  });

  test.each([{ propagationPolicy: '' }])('%j is no policy', (body) => {
    expect(failure(() => parseDeleteOptions(query(''), body, naming)).causes).toEqual([
      'propagationPolicy FieldValueNotSupported',
    ]);
  });

  test('a body of another kind is a 400', () => {
    const body = { kind: 'ConfigMap', apiVersion: 'v1' };
    expect(failure(() => parseDeleteOptions(query(''), body, naming)).code).toBe(400);
  });

  test('nothing else may be set with the unsafe delete', () => {
    const body = {
      ignoreStoreReadErrorWithClusterBreakingPotential: true,
      dryRun: ['All'],
      gracePeriodSeconds: 0,
      orphanDependents: false,
      preconditions: { uid: 'u' },
    };
    const errors = unsafeDeleteErrors(parseDeleteOptions(query(''), body, naming));
    expect(errors.map(({ field, reason }) => `${field} ${reason}`)).toEqual([
      'dryRun FieldValueInvalid',
      'gracePeriodSeconds FieldValueInvalid',
      'orphanDependents FieldValueInvalid',
      'preconditions FieldValueInvalid',
    ]);
  });
});
