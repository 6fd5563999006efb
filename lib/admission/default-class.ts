// Which of several classes is the one for those that name none: marked by an annotation, the
// newest, then by name.
import { recordIn, textAt } from '../api/json-access.ts';
import type { ApiObject } from '../codec/codec.ts';
import { nameOf } from '../codec/object-meta.ts';

/** The name; undefined: no class has one of the annotations with the value `true`. */
export function defaultClass(
  classes: readonly Readonly<ApiObject>[],
  annotations: readonly string[],
): string | undefined {
  let chosen: Readonly<ApiObject> | undefined;
  for (const one of classes) {
    const given = recordIn(one, 'metadata', 'annotations');
    if (!annotations.some((key) => textAt(given, key) === 'true')) continue;
    if (chosen === undefined || isBefore(one, chosen)) chosen = one;
  }
  return chosen && nameOf(chosen);
}

function isBefore(left: Readonly<ApiObject>, right: Readonly<ApiObject>): boolean {
  const [ours, theirs] = [madeAt(left), madeAt(right)];
  return ours === theirs ? nameOf(left) < nameOf(right) : ours > theirs;
}

/** Times of one form: their texts are in the order of time. */
const madeAt = (object: Readonly<ApiObject>): string =>
  textAt(recordIn(object, 'metadata'), 'creationTimestamp');
