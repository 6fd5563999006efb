// YAML as the JSON that says the same, for those who read JSON next: keys that come again come again
// there, so that whoever reads it has the same to report.
import { isObject } from '../api/json-value.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { scanJson } from '../api/json-scan.ts';
import { limits } from '../base/limits.ts';
import { badRequest } from '../base/status.ts';
import { decodeText, stringify } from './json.ts';
import { tooDeep } from './walk.ts';
import { readYaml } from './yaml-reader.ts';

/** @throws StatusError 400 or 413 when the bytes are not one object in YAML that JSON could hold. */
export function yamlAsJson(body: Uint8Array): Uint8Array {
  const text = decodeText(body);
  if (isJson(text)) {
    if (scanJson(text, limits.bodyDepthMax).depth > limits.bodyDepthMax) throw tooDeep();
    return body;
  }
  const { value, repeated } = readYaml(text);
  if (!isObject(value)) throw badRequest('the YAML body cannot be read: it must be an object');
  return Buffer.from(repeated.size === 0 ? stringify(value) : textOf(value, repeated));
}

/** Tools send JSON under YAML's media types. */
function isJson(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

type Repeated = ReadonlyMap<JsonObject, readonly string[]>;

function textOf(value: JsonValue, repeated: Repeated): string {
  if (Array.isArray(value)) return `[${value.map((one) => textOf(one, repeated)).join()}]`;
  if (!isObject(value)) return stringify(value);
  const before = (repeated.get(value) ?? []).map((key) => `${JSON.stringify(key)}:null`);
  const members = Object.entries(value).map(
    ([key, member = null]) => `${JSON.stringify(key)}:${textOf(member, repeated)}`,
  );
  return `{${[...before, ...members].join()}}`;
}
