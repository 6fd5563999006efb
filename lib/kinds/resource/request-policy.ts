// Which amounts of a shared capacity can be asked for: some values in ascending order, or a range
// with steps, and the amount when nothing is asked for.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, recordAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { sumQuantities } from '../../api/quantity.ts';
import { nanoOf } from '../core/resource-lists.ts';

const valuesMax = 10;
const nanoPerUnit = 1_000_000_000n;

export function validateRequestPolicy(
  policy: JsonObject,
  capacity: string,
  path: string,
  errors: FieldErrors,
): void {
  const values = textsAt(policy, 'validValues');
  const range = recordAt(policy, 'validRange');
  const name = values.length > 0 ? 'validValues' : 'validRange';
  if (values.length > 0 && range !== undefined) {
    const detail =
      'exactly one policy can be specified, ' +
      'cannot specify "validValues" and "validRange" at the same time';
    errors.forbidden(path, detail);
  } else if (values.length > 0 || range !== undefined) {
    const chosen = textAt(policy, 'default');
    const of = { chosen, capacity, path: `${path}.${name}`, errors };
    if (!isSet(policy, 'default')) {
      errors.required(`${path}.default`, `required when ${name} is defined`);
    } else if (range === undefined) validateValues(values, of);
    else validateRange(range, of);
  }
}

interface Policy {
  /** The amount when nothing is asked for. */
  readonly chosen: string;
  /** All that there is. */
  readonly capacity: string;
  readonly path: string;
  readonly errors: FieldErrors;
}

function validateValues(values: readonly string[], { chosen, capacity, path, errors }: Policy) {
  const placeOf = (at: number): string => `${path}[${String(at)}]`;
  for (const [at, value] of values.entries()) {
    const before = at === 0 ? undefined : values[at - 1];
    if (before !== undefined && nanoOf(before) > nanoOf(value)) {
      errors.invalid(placeOf(at), value, 'values must be sorted in ascending order');
    }
  }
  if (values.length > valuesMax) errors.tooMany(path, values.length, valuesMax);
  else validateEach(values, { capacity, placeOf, errors });
  // What is not looked into does not have the default.
  const hasDefault = values.length <= valuesMax && values.some((one) => isSame(one, chosen));
  if (!hasDefault) {
    errors.invalid(path, chosen, 'default value is not valid according to the requestPolicy');
  }
}

const isSame = (left: string, right: string): boolean => nanoOf(left) === nanoOf(right);

function validateEach(
  values: readonly string[],
  of: {
    readonly capacity: string;
    readonly placeOf: (at: number) => string;
    readonly errors: FieldErrors;
  },
): void {
  const { capacity, placeOf, errors } = of;
  for (const [at, value] of values.entries()) {
    if (nanoOf(value) <= nanoOf(capacity)) continue;
    errors.invalid(placeOf(at), value, `option is larger than capacity value: ${capacity}`);
  }
  const seen = new Set<bigint>();
  for (const [at, value] of values.entries()) {
    const whole = wholeOf(value);
    if (seen.has(whole)) errors.duplicate(placeOf(at), String(whole));
    seen.add(whole);
  }
}

/** In whole units, rounded up. */
const wholeOf = (text: string): bigint => {
  const nano = nanoOf(text);
  const isRoundedUp = nano > 0n && nano % nanoPerUnit !== 0n;
  return nano / nanoPerUnit + (isRoundedUp ? 1n : 0n);
};

function validateRange(range: JsonObject, { chosen, capacity, path, errors }: Policy): void {
  if (!isSet(range, 'min')) {
    errors.required(`${path}.min`, 'required when validRange is defined');
    return;
  }
  const min = textAt(range, 'min');
  const isMore = (left: string, right: string): boolean => nanoOf(left) > nanoOf(right);
  const report = (name: string, value: string, detail: string): void => {
    errors.invalid(`${path}.${name}`, value, detail);
  };
  if (isMore(min, capacity)) report('min', min, `min is larger than capacity value: ${capacity}`);
  if (isMore(min, chosen)) report('default', chosen, `default is less than min: ${min}`);
  if (isSet(range, 'max')) {
    const max = textAt(range, 'max');
    if (isMore(min, max)) report('max', min, `min is larger than max: ${max}`);
    if (isMore(max, capacity)) report('max', max, `max is larger than capacity value: ${capacity}`);
    if (isMore(chosen, max)) report('default', chosen, `default is more than max: ${max}`);
  }
  if (!isSet(range, 'step')) return;
  const step = textAt(range, 'step');
  if (nanoOf(step) <= 0n) {
    report('step', step, 'must be greater than zero');
    return;
  }
  const first = nanoOf(min) + nanoOf(step);
  if (first > nanoOf(capacity)) {
    const sum = sumQuantities([min, step]) ?? step;
    report('step', step, `one step ${sum} is larger than capacity value: ${capacity}`);
  }
  for (const value of isSet(range, 'max') ? [chosen, textAt(range, 'max')] : [chosen]) {
    if ((wholeOf(value) - wholeOf(min)) % wholeOf(step) === 0n) continue;
    report('step', value, `value is not a multiple of a given step (${step}) from (${min})`);
  }
}
