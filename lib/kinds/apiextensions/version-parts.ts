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
type SharedPart = (typeof sharedParts)[number][0];

export interface VersionPart {
  readonly version: JsonObject;
  /** Where failures of the part are reported. */
  readonly path: string;
}

/** A part of each version; once, where it is the same in all of them. */
export function partsOf(spec: JsonObject, name: SharedPart): readonly VersionPart[] {
  const versions = recordsAt(spec, 'versions');
  const [first, ...others] = versions;
  if (first === undefined) return [];
  const isShared = others.every((other) => sameJson(valueAt(other, name), valueAt(first, name)));
  const [, shared] = sharedParts.find(([part]) => part === name) ?? ['', name];
  if (isShared) return [{ version: first, path: `spec.${shared}` }];
  return versions.map((version, at) => ({ version, path: `spec.versions[${String(at)}].${name}` }));
}
