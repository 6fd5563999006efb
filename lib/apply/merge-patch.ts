// JSON Merge Patch (RFC 7386) as pure functions: null deletes, objects merge, everything else
// replaces. Any key is data; neither the document nor the patch is changed, and the result shares
// nothing with the patch.
import { isObject } from '../api/json-value.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { StatusError } from '../base/status.ts';
import { parseData } from '../codec/json.ts';
import { toData } from '../codec/walk.ts';

/**
 * @throws StatusError 400 without a reason, as Kubernetes answers, when the body is not a JSON
 * object.
 */
export function parseMergePatch(body: Uint8Array): JsonObject {
  const value = parse(body);
  if (isObject(value)) return value;
  throw unreadable('a merge patch must be a JSON object');
}

/** The document with the patch merged in. */
export function applyMergePatch(document: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return toData(patch);
  const result = Object.create(null) as JsonObject;
  if (isObject(document)) for (const key of Object.keys(document)) result[key] = document[key];
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === undefined) continue;
    if (change === null) Reflect.deleteProperty(result, key);
    else result[key] = applyMergePatch(result[key] ?? null, change);
  }
  return result;
}

function parse(body: Uint8Array): JsonValue {
  try {
    return parseData(body);
  } catch (error) {
    if (error instanceof StatusError) throw unreadable(error.message);
    throw error;
  }
}

const unreadable = (why: string): StatusError =>
  new StatusError(400, '', `error decoding patch: ${why}`);
