// What is wrong with the values of an object that its scale shows.
import type { ScalePlaces } from '../api/type-info.ts';
import type { FieldError } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import { integerAt, placeText, textAtPlace } from '../registry/scale-places.ts';

/** Writes of the status do not change the wanted replicas, and do not judge them. */
export function scaleErrors(
  object: Readonly<ApiObject>,
  { specReplicas, statusReplicas, selector }: Omit<ScalePlaces, 'specReplicasIn'>,
  subresource: string,
): readonly FieldError[] {
  const counts = subresource === 'status' ? [statusReplicas] : [specReplicas, statusReplicas];
  const errors = counts.flatMap((path) => countError(object, path) ?? []);
  if (selector === undefined) return errors;
  const { problem } = textAtPlace(object, selector);
  return problem === undefined ? errors : [...errors, errorAt(selector, '', problem)];
}

const replicasMax = 2 ** 31 - 1;

function countError(object: Readonly<ApiObject>, path: readonly string[]): FieldError | undefined {
  const { value = 0, problem } = integerAt(object, path);
  if (problem !== undefined) return errorAt(path, 0, problem);
  if (value < 0) return errorAt(path, value, 'should be a non-negative integer');
  if (value <= replicasMax) return undefined;
  return errorAt(path, value, `should be less than or equal to ${String(replicasMax)}`);
}

const errorAt = (
  path: readonly string[],
  badValue: string | number | bigint,
  detail: string,
): FieldError => ({ reason: 'FieldValueInvalid', field: placeText(path), badValue, detail });
