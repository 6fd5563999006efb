// Writes that convert nothing, for the server's own parts: an object that lies in another version
// than the storage version stays in it. Only its metadata can be changed so, which is the same in
// all versions, and nothing else of it is looked at.
import { jsonEqual, without } from '../api/json-value.ts';
import type { FieldError } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isIn } from './conversion.ts';
import type { StoreParts } from './store-parts.ts';
import type { ObjectRules } from './validation.ts';

/** What `item` is written with: `parts`, unless nobody converts it and it needs that. */
export function partsInPlace(parts: StoreParts, item: Item): StoreParts {
  const isConverted = parts.conversion !== undefined || parts.storing !== undefined;
  if (isConverted || isIn(item, parts.storedAs)) return parts;
  const { resource } = item;
  return { ...parts, resource, storedAs: resource, strategy: {}, rules: metadataRules };
}

const nothing = (): void => undefined;

/** Of writes that change nothing else. */
export const metadataRules: ObjectRules = {
  dropDisabled: nothing,
  prepare: nothing,
  authorize: () => [],
  validate: (object, old) => (isContentOf(object, old) ? [] : [changedContent]),
  warn: nothing,
};

const isContentOf = (object: Readonly<ApiObject>, old: Readonly<ApiObject> | undefined): boolean =>
  old !== undefined && jsonEqual(without(object, 'metadata'), without(old, 'metadata'));

const changedContent: FieldError = {
  reason: 'FieldValueForbidden',
  field: '',
  detail: 'only metadata can be changed where nothing converts the object to its storage version',
};
