// A number of pods, or a percentage of them: `3` or `25%`.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isAbsent } from '../../api/presence.ts';
import type { JsonValue } from '../../api/type-info.ts';

type Amount = JsonValue | undefined;

const percentOf = (amount: Amount): number | undefined => {
  const match = typeof amount === 'string' ? /^(\d+)%$/.exec(amount) : null;
  return match === null ? undefined : Number(match[1]);
};

/** Of a number, or of a text that is no percentage: nothing, unless it is a number. */
const numberOf = (amount: Amount): number =>
  typeof amount === 'string' && !/^[+-]?\d+$/.test(amount) ? 0 : Number(amount);

export function validateAmount(amount: Amount, path: string, errors: FieldErrors): void {
  if (isAbsent(amount)) return;
  if (typeof amount === 'string') {
    if (percentOf(amount) !== undefined) return;
    const detail =
      "a valid percent string must be a numeric string followed by an ending '%' " +
      "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    errors.invalid(path, amount, detail);
    return;
  }
  if (Number(amount) < 0) errors.invalid(path, amount, 'must be greater than or equal to 0');
}

export function validateAtMostAll(amount: Amount, path: string, errors: FieldErrors): void {
  if ((percentOf(amount) ?? 0) > 100) errors.invalid(path, amount, 'must not be greater than 100%');
}

/** `0` and `0%`. */
export const isNoAmount = (amount: Amount): boolean =>
  isAbsent(amount) || (percentOf(amount) ?? numberOf(amount)) === 0;
