// Metadata in a template of objects that are made elsewhere: labels and annotations, nothing else.
import { limits } from '../../base/limits.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { entriesAt, isSet, recordAt } from '../../api/json-access.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import { isZero } from '../../api/presence.ts';
import { mapBytes, validateLabels } from '../validator.ts';
import type { Holder } from '../validator.ts';

/** Members that must not be set, with the names under which clients know the failures. */
const refused: readonly (readonly [name: string, shown: string])[] = [
  ['name', 'name'],
  ['generateName', 'generateName'],
  ['namespace', 'namespace'],
  ['selfLink', 'selfLink'],
  ['uid', 'uID'],
  ['resourceVersion', 'resourceVersion'],
  ['generation', 'generation'],
  ['creationTimestamp', 'creationTimestamp'],
  ['deletionTimestamp', 'deletionTimestamp'],
];
/** An empty one counts as set. */
const refusedWhenThere = [
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
];

export function validateTemplateMetadata(
  metadata: Holder,
  path: string,
  errors: FieldErrors,
): void {
  if (metadata === undefined) return;
  for (const [key] of entriesAt(metadata, 'annotations')) {
    errors.problems(`${path}.annotations`, key, qualifiedNameProblems(key.toLowerCase()));
  }
  if (mapBytes(metadata, 'annotations') > limits.annotationBytesMax) {
    errors.tooLong(`${path}.annotations`, limits.annotationBytesMax);
  }
  validateLabels(recordAt(metadata, 'labels'), `${path}.labels`, errors);
  for (const [name, shown] of refused) {
    if (!isZero(metadata[name])) errors.forbidden(`${path}.${shown}`, 'cannot be set');
  }
  for (const name of refusedWhenThere) {
    if (isSet(metadata, name)) errors.forbidden(`${path}.${name}`, 'cannot be set');
  }
}
