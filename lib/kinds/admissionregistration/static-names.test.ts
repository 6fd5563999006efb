// Names of configurations in files, which objects of the API may not have.
import { expect, test } from '@jest/globals';
import { FieldErrors } from '../../api/field-errors.ts';
import { namingProfile } from '../../api/vendor.ts';
import type { Kind } from '../kind.ts';
import { admissionregistrationKinds } from './kinds.ts';
import { withReservedNames } from './static-names.ts';

const text =
  'names ending with ".static.svc.io" are reserved for static manifest-based configurations ' +
  'and cannot be managed via the API';

const write = (name: string, isOn: boolean) => {
  const errors = new FieldErrors();
  const naming = namingProfile('svc');
  const of = { old: undefined, subresource: '', apiVersion: 'v1' };
  return { ...of, object: { metadata: { name } }, naming, errors, isOn: () => isOn };
};

/** Whatever the form of the kind's own rules. */
const judged = (kind: Kind, name: string, isOn: boolean) => {
  const one = write(name, isOn);
  const warnings = [...(kind.warnings?.(one) ?? [])];
  kind.validate?.(one);
  const steps = kind.validateInSteps?.(one);
  for (let step = steps?.next(); step !== undefined; step = steps?.next()) {
    if (step.done !== true) continue;
    warnings.push(...step.value);
    break;
  }
  const errors = one.errors.list.filter(({ field }) => field === 'metadata.name');
  return { errors: errors.map(({ detail }) => detail), warnings };
};

test.each(admissionregistrationKinds.map((kind) => [kind.name, kind] as const))(
  's.api-names: %s: refused with the gate on, off a Warning',
  (_name, kind) => {
    const name = 'a.static.svc.io';
    expect(judged(kind, name, true).errors).toEqual([text]);
    expect(judged(kind, name, false).errors).toEqual([]);
    expect(judged(kind, name, false).warnings).toContain(`metadata.name: ${text}`);
    const free = judged(kind, 'a.svc.io', true);
    expect(free.errors).toEqual([]);
    expect(free.warnings.join()).not.toContain('reserved');
  },
);

test('the rules and warnings of the kind stay', () => {
  const kind = withReservedNames({
    name: 'a/B',
    validate: ({ errors }) => errors.required('spec'),
    warnings: () => ['unwise'],
  });
  const one = write('a', true);
  kind.validate?.(one);
  expect(one.errors.list.map(({ field }) => field)).toEqual(['spec']);
  expect(kind.warnings?.(one)).toEqual(['unwise']);
});
