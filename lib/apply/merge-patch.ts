// JSON Merge Patch (RFC 7386) as pure functions: null deletes, objects merge, everything else
// replaces. Any key is data, document and patch are not changed, and the result shares nothing with
// the patch. Raw JSON is opened as far as the two meet; what lies beside keeps its text.
import { isRecord } from '../api/json-value.ts';
import { opened } from '../api/raw-json.ts';
import { newRecord } from '../api/record.ts';
import type { JsonValue } from '../api/type-info.ts';
import { badRequest, StatusError } from '../base/status.ts';
import { parseData } from '../codec/json.ts';
import type { ReadJson } from '../codec/json.ts';
import { toData } from '../codec/walk.ts';

/**
 * `read` gives values, or raw JSON for objects whose text counts.
 * @throws StatusError 400 when the body is not a JSON object.
 */
export function parseMergePatch(body: Uint8Array, read: ReadJson = parseData): JsonValue {
  const value = parse(body, read);
  if (isRecord(opened(value))) return value;
  throw unreadable('a merge patch must be a JSON object');
}

/** The document with the patch merged in. */
export function applyMergePatch(document: JsonValue, patch: JsonValue): JsonValue {
  const changes = opened(patch);
  if (!isRecord(changes)) return toData(patch);
  const result = newRecord();
  const before = opened(document);
  if (isRecord(before)) for (const key of Object.keys(before)) result[key] = before[key];
  for (const key of Object.keys(changes)) {
    const change = changes[key];
    if (change === undefined) continue;
    if (change === null) Reflect.deleteProperty(result, key);
    else result[key] = applyMergePatch(result[key] ?? null, change);
  }
  return result;
}

function parse(body: Uint8Array, read: ReadJson): JsonValue {
  try {
    return read(body);
  } catch (error) {
    if (error instanceof StatusError) throw unreadable(error.message);
    throw error;
  }
}

const unreadable = (why: string): StatusError => badRequest(`error decoding patch: ${why}`);
