// What field validation says of a patch itself: members that come twice, and members of the
// operations of a JSON patch that mean nothing there.
import { isRecord } from '../api/json-value.ts';
import type { JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import type { FieldProblem } from '../codec/codec.ts';
import { readData } from '../codec/json.ts';
import { pathText } from '../codec/walk.ts';

/** `body` is one that the reader of its kind takes. */
export function patchProblems(
  kind: 'json' | 'merge' | 'strategic',
  body: Uint8Array,
): readonly FieldProblem[] {
  const { value, duplicates } = readData(body);
  if (kind !== 'json') return duplicates;
  const problems = [...duplicates, ...unknownMembers(value)].slice(0, limits.fieldProblemsMax);
  return problems.map((problem) => ({ ...problem, within: 'json patch' }));
}

const members: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);

function unknownMembers(operations: JsonValue): FieldProblem[] {
  if (!Array.isArray(operations)) return [];
  return operations.flatMap((operation, index) =>
    (isRecord(operation) ? Object.keys(operation) : [])
      .filter((name) => !members.has(name))
      .map((name): FieldProblem => ({ kind: 'unknown', path: pathText([index, name]) })),
  );
}
