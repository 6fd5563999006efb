// Values of an object's selectable fields, as field selectors compare them:
// text, with booleans and counts written out.
import type { FieldInfo, FieldReader, JsonObject, JsonValue, ResourceInfo } from './type-info.ts';

const memberOf = (value: JsonValue | undefined, key: string): JsonValue | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
    ? value[key]
    : undefined;

function at(object: Readonly<JsonObject>, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const key of path) value = memberOf(value, key);
  return value;
}

const textOf = (value: JsonValue | undefined, unset: string): string => {
  if (value === undefined || value === null || typeof value === 'object') return unset;
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
  const paths = resource.fieldSelectors.filter((path) => !path.startsWith('metadata.'));
  const readers = paths.map((path): readonly [string, FieldReader] => {
    const own = resource.fieldReaders?.[path];
    if (own !== undefined) return [path, own];
    const keys = path.split('.');
    const unset = unsetText(resource, keys);
    return [path, (object) => textOf(at(object, keys), unset)];
  });
  readersByResource.set(resource, readers);
  return readers;
}

/**
 * Selectable fields other than metadata.name and metadata.namespace; empty values are left out.
 * `object` is in the version of `resource`.
 */
export function selectableFields(
  object: Readonly<JsonObject>,
  resource: ResourceInfo,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [path, read] of readersOf(resource)) {
    const value = read(object);
    if (value !== '') values[path] = value;
  }
  return values;
}

/**
 * The path under which the storage version knows a field that `resource` offers:
 * events of the newer group select by other names than the stored core events.
 */
export function storedFieldPath(
  resource: ResourceInfo,
  stored: ResourceInfo,
  path: string,
): string {
  if (resource === stored || stored.fieldSelectors.includes(path)) return path;
  if (path === 'reportingController') return 'reportingComponent';
  return path.replace(/^regarding\./, 'involvedObject.');
}
