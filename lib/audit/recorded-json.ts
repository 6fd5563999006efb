// Recorded objects: JSON as it was sent or is answered, on one line, without managed fields where
// the policy says so.
import { asRecord, listAt, recordAt } from '../api/json-access.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { parseCanonical, stringify } from '../codec/json.ts';
import type { JsonPieces } from './event.ts';
import type { Outcome } from './policy.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/** @param json valid, in pieces: those without newlines are kept as they are */
export function recordedJson(
  json: JsonPieces,
  { omitsManagedFields }: Pick<Outcome, 'omitsManagedFields'>,
): JsonPieces {
  if (omitsManagedFields && json.some(mayHaveManagedFields)) {
    const object = parseCanonical(Buffer.concat(json));
    dropManagedFields(object);
    return [Buffer.from(stringify(object))];
  }
  return json.map(oneLine);
}

/** Within JSON newlines stand between tokens alone: any other white space says the same. */
function oneLine(json: Uint8Array): Uint8Array {
  if (!json.includes(lineFeed) && !json.includes(carriageReturn)) return json;
  const isLast = json.indexOf(lineFeed) === json.length - 1 && !json.includes(carriageReturn);
  if (isLast) return json.subarray(0, -1);
  return json.map((byte) => (byte === lineFeed || byte === carriageReturn ? space : byte));
}

const mayHaveManagedFields = (json: Uint8Array): boolean =>
  Buffer.from(json.buffer, json.byteOffset, json.byteLength).includes('"managedFields"');

/** Of the object, of a list's items, and of the objects of a Table's rows. */
function dropManagedFields(object: JsonObject): void {
  dropOwn(object);
  for (const item of listAt(object, 'items')) dropOwn(asRecord(item));
  for (const row of listAt(object, 'rows')) dropOwn(recordAt(asRecord(row), 'object'));
}

function dropOwn(object: JsonObject | undefined): void {
  const metadata: Record<string, JsonValue | undefined> | undefined = recordAt(object, 'metadata');
  if (metadata !== undefined) delete metadata['managedFields'];
}
