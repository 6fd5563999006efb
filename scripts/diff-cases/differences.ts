// How the answer of a server differs from the recorded one, each difference a line for people.
// Where the status differs it says it all.
import type { JsonValue } from '../../lib/api/type-info.ts';
import type { Outcome } from './recording.ts';

/** None: the answers are the same. */
export function differences(expected: Outcome, found: Outcome): readonly string[] {
  if (expected.status !== found.status) {
    return [line('status', statusOf(expected), statusOf(found))];
  }
  const lines: string[] = [];
  const compare = (what: string, one: unknown, other: unknown): void => {
    if (one !== other) lines.push(line(what, one, other));
  };
  compare('reason', expected.reason, found.reason);
  for (const cause of expected.causes ?? []) {
    if (!(found.causes ?? []).includes(cause)) lines.push(`cause: expected ${cause}`);
  }
  for (const cause of found.causes ?? []) {
    if (!(expected.causes ?? []).includes(cause)) lines.push(`cause: found ${cause}`);
  }
  compare('number of warnings', expected.warningCount, found.warningCount);
  lines.push(...jsonDifferences('details', expected.details, found.details));
  lines.push(...jsonDifferences('object', expected.object, found.object));
  return lines;
}

const statusOf = ({ status, causes }: Outcome): string =>
  [String(status), ...(causes ?? [])].join(', ');

const line = (what: string, expected: unknown, found: unknown): string =>
  `${what}: expected ${shown(expected)}, found ${shown(found)}`;

const shown = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value).slice(0, 200);
};

function jsonDifferences(
  path: string,
  expected: JsonValue | undefined,
  found: JsonValue | undefined,
): readonly string[] {
  if (expected === found) return [];
  if (!isHolder(expected) || !isHolder(found)) return [line(path, expected, found)];
  if (Array.isArray(expected) !== Array.isArray(found)) return [line(path, expected, found)];
  const [left, right] = [new Map(Object.entries(expected)), new Map(Object.entries(found))];
  const keys = new Set([...left.keys(), ...right.keys()]);
  return [...keys].flatMap((key) =>
    jsonDifferences(`${path}.${key}`, left.get(key), right.get(key)),
  );
}

const isHolder = (value: JsonValue | undefined): value is object & JsonValue =>
  typeof value === 'object' && value !== null;
