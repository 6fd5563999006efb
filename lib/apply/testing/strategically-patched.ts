// What a strategic merge patch makes of a document of a built-in type, for tests.
import { expect } from '@jest/globals';
import { sortedText } from '../../api/raw-json.ts';
import type { JsonValue } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { rawData } from '../../codec/json.ts';
import { builtInScheme } from '../../kinds/built-in-kinds.ts';
import { applyStrategicPatch, parseStrategicPatch } from '../strategic-patch.ts';

const scheme = builtInScheme({ profile: namingProfile('svc') });
const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

/** What becomes of a document; the same with both as raw JSON. Neither is changed. */
export function patched(type: string, document: unknown, patch: unknown): unknown {
  const info = scheme.type(type);
  const before = frozen(JSON.parse(JSON.stringify(document)) as JsonValue);
  const text = JSON.stringify(
    applyStrategicPatch(before, frozen(parseStrategicPatch(bytes(patch))), info),
  );
  const raw = applyStrategicPatch(
    rawData(bytes(document)),
    parseStrategicPatch(bytes(patch), rawData),
    info,
  );
  expect(JSON.parse(sortedText(raw))).toEqual(JSON.parse(text));
  return JSON.parse(text);
}

export const pod = (spec: object): object => ({ spec });
export const containers = (...list: object[]): object => pod({ containers: list });
export const [a, b, c] = [
  { name: 'a', image: 'a:1' },
  { name: 'b', image: 'b:1' },
  { name: 'c', image: 'c:1' },
] as const;
