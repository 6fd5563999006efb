// Values of an object's selectable fields, as field selectors compare them: text, with booleans and
// counts written out, and with a digest in place of what is long.
import { createHash } from 'node:crypto';
import { valueIn } from './json-access.ts';
import { isAbsent } from './presence.ts';
import type { FieldRequirement } from './selector.ts';
import type { FieldInfo, FieldReader, JsonObject, JsonValue, ResourceInfo } from './type-info.ts';

const textOf = (value: JsonValue | undefined, unset: string): string => {
  if (isAbsent(value) || typeof value === 'object') return unset;
  return typeof value === 'string' ? value : String(value);
};

/**
 * What an absent field compares as: unset booleans and counts are false and 0 where absence is
 * no value of its own.
 */
function unsetText(resource: ResourceInfo, path: readonly string[]): string {
  let field: FieldInfo | undefined;
  let type = resource.type;
  for (const key of path) {
    field = type.fieldByJsonName.get(key);
    if (field?.message !== undefined) type = field.message;
  }
  if (field === undefined || field.pointer) return '';
  if (field.scalar === 'bool') return 'false';
  return field.scalar === 'int32' || field.scalar === 'int64' ? '0' : '';
}

const readersByResource = new WeakMap<ResourceInfo, readonly (readonly [string, FieldReader])[]>();

function readersOf(resource: ResourceInfo): readonly (readonly [string, FieldReader])[] {
  const known = readersByResource.get(resource);
  if (known !== undefined) return known;
  const { fieldSelectors, keptFields = [] } = resource;
  const paths = [...fieldSelectors.filter((path) => !path.startsWith('metadata.')), ...keptFields];
  const readers = paths.map((path): readonly [string, FieldReader] => {
    const own = resource.fieldReaders?.[path];
    if (own !== undefined) return [path, own];
    const keys = path.split('.');
    const unset = unsetText(resource, keys);
    return [path, (object) => textOf(valueIn(object, keys), unset)];
  });
  readersByResource.set(resource, readers);
  return readers;
}

/** Characters of a value that is compared as it is. */
const comparedLengthMax = 256;
/** No text of an object starts with half of a surrogate pair. */
const digestMark = '\udc00';

/**
 * What stands for a value wherever values of selectable fields are kept and compared: itself, or of
 * a long one its digest. Given such a stand-in it returns it.
 */
export function comparedText(value: string): string {
  if (value.length <= comparedLengthMax) return value;
  return digestMark + createHash('sha256').update(value).digest('base64url');
}

/**
 * Selectable fields other than metadata.name and metadata.namespace, as they are compared; empty
 * values are left out. `object` is in the version of `resource`.
 */
export function selectableFields(
  object: Readonly<JsonObject>,
  resource: ResourceInfo,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [path, read] of readersOf(resource)) {
    const value = read(object);
    if (value !== '') values[path] = comparedText(value);
  }
  return values;
}

/** A requirement on a field that `resource` offers, as one on what is kept of stored objects. */
export function storedRequirement(
  requirement: FieldRequirement,
  of: { readonly resource: ResourceInfo; readonly storedAs: ResourceInfo },
): FieldRequirement {
  const path = storedFieldPath(requirement.path, of);
  const { operator, value } = requirement;
  // Names are kept whole, in the key.
  return { path, operator, value: path.startsWith('metadata.') ? value : comparedText(value) };
}

/** Events of the newer group select by other names than the stored core events. */
function storedFieldPath(
  path: string,
  { resource, storedAs }: { readonly resource: ResourceInfo; readonly storedAs: ResourceInfo },
): string {
  if (resource === storedAs || storedAs.fieldSelectors.includes(path)) return path;
  if (storedAs.keptFields?.includes(path) === true) return path;
  if (path === 'reportingController') return 'reportingComponent';
  return path.replace(/^regarding\./, 'involvedObject.');
}
