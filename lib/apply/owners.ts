// The owners of an object: who set which fields, by which operation, in which version, through
// which subresource (specification 2, managedFields entry). Read from metadata and written back.
import { isObject } from '../api/json-value.ts';
import { textAt } from '../api/json-access.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { unionOf } from './field-set.ts';
import type { FieldSet } from './field-set.ts';
import { readFieldsV1, writeFieldsV1 } from './fields-v1.ts';

export type Operation = 'Apply' | 'Update';

export interface Writer {
  readonly manager: string;
  readonly operation: Operation;
  /** Version in which the fields are expressed. */
  readonly apiVersion: string;
  /** '' for the object itself. */
  readonly subresource: string;
}

export interface Entry extends Writer {
  /** When the manager last changed something; RFC 3339. undefined: not known. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Entries by `ownerIdentity`. */
export type Owners = ReadonlyMap<string, Entry>;

/** Who applies is one manager, whatever the version; who updates is another one in each. */
export const ownerIdentity = ({ manager, operation, apiVersion, subresource }: Writer): string =>
  JSON.stringify([operation, manager, subresource, operation === 'Apply' ? '' : apiVersion]);

/** `metadata.managedFields`; undefined: somebody wrote what is no such list. */
export function readOwners(list: JsonValue | undefined): Owners | undefined {
  const owners = new Map<string, Entry>();
  if (!Array.isArray(list)) return owners;
  for (const value of list) {
    const entry = isObject(value) ? readEntry(value) : undefined;
    if (entry === undefined) return undefined;
    owners.set(ownerIdentity(entry), entry);
  }
  return owners;
}

function readEntry(value: JsonObject): Entry | undefined {
  const operation = textAt(value, 'operation');
  const apiVersion = textAt(value, 'apiVersion');
  const fields = readFieldsV1(value['fieldsV1'] ?? null);
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (apiVersion === '' || textAt(value, 'fieldsType') !== 'FieldsV1' || fields === undefined) {
    return undefined;
  }
  const time = textAt(value, 'time');
  return {
    manager: textAt(value, 'manager'),
    operation,
    apiVersion,
    subresource: textAt(value, 'subresource'),
    time: time === '' ? undefined : time,
    fields,
  };
}

/** undefined: nobody manages anything. */
export function writeOwners(owners: Owners): JsonValue[] | undefined {
  const entries = [...owners.values()].filter(({ fields }) => !fields.isEmpty);
  if (entries.length === 0) return undefined;
  return entries.sort(entryOrder).map(writeEntry);
}

const writeEntry = ({
  manager,
  operation,
  apiVersion,
  time,
  fields,
  subresource,
}: Entry): JsonObject => ({
  ...(manager === '' ? {} : { manager }),
  operation,
  apiVersion,
  ...(time === undefined ? {} : { time }),
  fieldsType: 'FieldsV1',
  fieldsV1: writeFieldsV1(fields),
  ...(subresource === '' ? {} : { subresource }),
});

/** Appliers first, then the older before the younger. */
function entryOrder(left: Entry, right: Entry): number {
  return (
    textOrder(left.operation, right.operation) ||
    secondsOf(left) - secondsOf(right) ||
    textOrder(left.manager, right.manager) ||
    textOrder(left.apiVersion, right.apiVersion) ||
    textOrder(left.subresource, right.subresource)
  );
}

const secondsOf = ({ time }: Entry): number =>
  time === undefined ? 0 : Math.floor(Date.parse(time) / 1_000);

const textOrder = (left: string, right: string): number =>
  left < right ? -1 : left > right ? 1 : 0;

/** The manager of what the oldest writers set, once there are too many of them. */
const ancientName = 'ancient-changes';

/** The oldest updates of each version become one entry, until no more than the limit are left. */
export function capped(owners: Owners): Owners {
  const updates = [...owners.values()].filter(({ operation }) => operation === 'Update');
  let count = updates.length;
  if (count <= limits.updateManagersMax) return owners;
  const oldest = new Map<string, Entry[]>();
  for (const entry of updates.sort(entryOrder)) {
    if (count <= limits.updateManagersMax) break;
    const known = oldest.get(entry.apiVersion);
    if (known === undefined) {
      oldest.set(entry.apiVersion, [entry]);
      continue;
    }
    known.push(entry);
    count -= 1;
  }
  const result = new Map(owners);
  for (const [apiVersion, entries] of oldest) {
    const last = entries.at(-1);
    if (entries.length < 2 || last === undefined) continue;
    for (const entry of entries) result.delete(ownerIdentity(entry));
    const ancient: Entry = {
      manager: ancientName,
      operation: 'Update',
      apiVersion,
      subresource: '',
      time: last.time,
      fields: unionOf(entries.map(({ fields }) => fields)),
    };
    result.set(ownerIdentity(ancient), ancient);
  }
  return result;
}
