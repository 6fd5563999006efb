// Configuration of devices that only a driver understands, and other data of drivers: JSON objects
// of a limited size.
import type { FieldErrors } from '../../api/field-errors.ts';
import { recordAt, textAt } from '../../api/json-access.ts';
import { isRecord } from '../../api/json-value.ts';
import { isAbsent } from '../../api/presence.ts';
import { opened, sortedText } from '../../api/raw-json.ts';
import type { JsonValue } from '../../api/type-info.ts';
import type { Holder } from '../validator.ts';
import { validateDriver } from './names.ts';

const parametersBytesMax = 10_240;

/** The member `opaque`; parameters that are stored may be of any size. */
export function validateConfiguration(
  config: Holder,
  path: string,
  errors: FieldErrors,
  { isStored = false } = {},
): void {
  const opaque = recordAt(config, 'opaque');
  if (opaque === undefined) {
    errors.required(`${path}.opaque`);
    return;
  }
  validateDriver(textAt(opaque, 'driver'), `${path}.opaque.driver`, errors);
  const bytesMax = isStored ? Infinity : parametersBytesMax;
  validateData(opaque['parameters'], `${path}.opaque.parameters`, bytesMax, errors);
}

export function validateData(
  data: JsonValue | undefined,
  path: string,
  bytesMax: number,
  errors: FieldErrors,
): void {
  if (isAbsent(data)) errors.required(path);
  else if (Buffer.byteLength(sortedText(data)) > bytesMax) errors.tooLong(path, bytesMax);
  else if (!isRecord(opened(data))) {
    errors.invalid(path, '<value omitted>', 'must be a valid JSON object');
  }
}
