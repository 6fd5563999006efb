// Parts of versions, where their failures are reported: what all versions have alike once, at the
// place of the older form of definitions.
import { recordsAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';

/** A part of a version, and the name of what all versions share. */
const sharedParts = [
  ['schema', 'validation'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
  ['selectableFields', 'selectableFields'],
] as const;
export type SharedPart = (typeof sharedParts)[number][0];

/** Where failures of a part are reported that is the same in all versions. */
export const sharedPath = (name: SharedPart): string =>
  `spec.${sharedParts.find(([part]) => part === name)?.[1] ?? name}`;

/** Whether all versions have the same, or none. */
export function isShared(spec: JsonObject, name: SharedPart): boolean {
  const [first, ...others] = recordsAt(spec, 'versions');
  return others.every((other) => sameJson(valueAt(other, name), valueAt(first, name)));
}
