// What field validation says of a patch itself: members that come twice, and members of the
// operations of a JSON patch that mean nothing there.
import { isRecord } from '../api/json-value.ts';
import { opened } from '../api/raw-json.ts';
import type { JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import type { FieldProblem } from '../codec/codec.ts';
import type { ReadData } from '../codec/json.ts';
import { pathText } from '../codec/walk.ts';

/** `read` is what the reader of its kind has taken. */
export function patchProblems(
  kind: 'json' | 'merge' | 'strategic',
  read: ReadData,
): readonly FieldProblem[] {
  const { value } = read;
  const duplicates = read.duplicates();
  if (kind !== 'json') return duplicates;
  const problems = [...duplicates, ...unknownMembers(value)].slice(0, limits.fieldProblemsMax);
  return problems.map((problem) => ({ ...problem, within: 'json patch' }));
}

const members: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);

function unknownMembers(value: JsonValue): FieldProblem[] {
  const operations = opened(value);
  if (!Array.isArray(operations)) return [];
  return operations.flatMap((element, index) => {
    const operation = opened(element);
    return (isRecord(operation) ? Object.keys(operation) : [])
      .filter((name) => !members.has(name))
      .map((name): FieldProblem => ({ kind: 'unknown', path: pathText([index, name]) }));
  });
}
