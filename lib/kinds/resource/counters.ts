// Counters of a pool: sets of them that devices share, and what one device takes of a set.
import type { FieldErrors } from '../../api/field-errors.ts';
import { entriesAt, textAt } from '../../api/json-access.ts';
import type { Holder } from '../validator.ts';
import { eachEntry } from './lists.ts';
import { validateLabelName } from './names.ts';

const countersMax = 32;
const nameBytesMax = 63;

/** `setName`: the member that names the set. */
export function validateCounters(
  of: Holder,
  setName: string,
  path: string,
  errors: FieldErrors,
): void {
  const name = textAt(of, setName);
  if (name === '') errors.required(`${path}.${setName}`);
  else validateLabelName(name, `${path}.${setName}`, errors);
  if (entriesAt(of, 'counters').length === 0) {
    errors.required(`${path}.counters`);
    return;
  }
  eachEntry({ of, name: 'counters', path, countMax: countersMax }, errors, {
    keyBytesMax: nameBytesMax,
    validateKey: validateLabelName,
  });
}
