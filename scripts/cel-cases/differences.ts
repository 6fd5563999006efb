// Compares what the engine did with the expected outcome of a case: every key, texts character by
// character.
import { isDeepStrictEqual } from 'node:util';
import { isRecord, sameTyped, textOf } from './case-values.ts';
import type { Json, JsonRecord } from './case-values.ts';

/** What a run observed, under the keys of the truth. Absent keys: did not happen. */
export type Outcome = Readonly<Record<string, unknown>>;

const outcomeKeys = [
  'error',
  'programError',
  'errorContains',
  'compileError',
  'compileErrors',
  'messageExpressionError',
];
const textKeys = new Set([
  'error',
  'programError',
  'compileError',
  'messageExpressionError',
  'detail',
]);
const unorderedKeys = new Set(['compileErrors', 'errors', 'warnings', 'overloads']);

/** The texts that differ, `key: …`; none: the case passes. */
export function differences(truth: JsonRecord, outcome: Outcome): string[] {
  const problems: string[] = [];
  for (const [key, expected] of Object.entries(truth)) {
    if (key === 'object') {
      if (!isDeepStrictEqual(pruned(expected), pruned(outcome[key])))
        problems.push(differs(key, expected, outcome[key]));
    } else if (!agrees(key, expected, observed(key, outcome))) {
      problems.push(differs(key, expected, observed(key, outcome)));
    }
  }
  // An error that the case does not expect fails it, even where its keys agree.
  for (const key of outcomeKeys) {
    const isExpected = key in truth || expectsError(truth);
    if (!isExpected && outcome[key] !== undefined && outcome[key] !== null) {
      problems.push(`unexpected ${key}: ${JSON.stringify(outcome[key])}`);
    }
  }
  return problems;
}

function expectsError(truth: JsonRecord): boolean {
  return outcomeKeys.some((key) => key in truth);
}

function observed(key: string, outcome: Outcome): unknown {
  if (key === 'programError')
    return outcome['programError'] ?? outcome['error'] ?? outcome['compileError'];
  if (key === 'errorContains') return outcome['error'];
  return outcome[key];
}

const differs = (key: string, expected: unknown, found: unknown): string =>
  `${key}: expected ${show(expected)}, found ${show(found)}`;

const show = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? String(v) : v));

function agrees(key: string, expected: Json, found: unknown): boolean {
  if (found === undefined) return false;
  if (key === 'value') return sameTyped(expected, found as Json);
  if (key === 'errorContains') return typeof found === 'string' && found.includes(textOf(expected));
  if (key === 'compileErrors') return sameCompileErrors(expected, found);
  if (unorderedKeys.has(key)) return sameMultiset(expected, found);
  return sameJson(expected, found, key);
}

/** Syntax errors are worded freely, but start on the same line. */
function sameCompileErrors(expected: Json, found: unknown): boolean {
  const [wanted, got] = [expected as readonly string[], found as readonly string[]];
  if (!wanted.some((text) => text.includes('Syntax error:'))) return sameMultiset(expected, found);
  const lineOf = (texts: readonly string[]): number =>
    Math.min(...texts.map((text) => Number.parseInt(text, 10)));
  return got.some((text) => text.includes('Syntax error:')) && lineOf(wanted) === lineOf(got);
}

function sameMultiset(expected: unknown, found: unknown): boolean {
  if (!Array.isArray(expected) || !Array.isArray(found) || expected.length !== found.length)
    return false;
  const rest: unknown[] = [...(found as readonly unknown[])];
  return expected.every((item: unknown) => {
    const index = rest.findIndex((other) => sameJson(item, other));
    if (index >= 0) rest.splice(index, 1);
    return index >= 0;
  });
}

function sameJson(expected: unknown, found: unknown, key = ''): boolean {
  if (typeof expected === 'string' && typeof found === 'string')
    return sameText(expected, found, key);
  if (typeof expected === 'bigint' || typeof found === 'bigint')
    return String(expected) === String(found);
  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || expected.length !== found.length) return false;
    return expected.every((item: unknown, index) =>
      sameJson(item, (found as readonly unknown[])[index]),
    );
  }
  if (!isRecord(expected) || !isRecord(found)) return expected === found;
  if ('type' in expected && 'value' in expected) return sameTyped(expected, found);
  const keys = Object.keys(expected);
  return (
    keys.every((name) => name in found && agrees(name, expected[name] ?? null, found[name])) &&
    Object.keys(found).every(
      (name) => name in expected || !outcomeKeys.includes(name) || name === 'error',
    )
  );
}

/** Names of anonymous types are the engine's own; so is the wording of syntax errors. */
function sameText(expected: string, found: string, key: string): boolean {
  if (expected.includes('Syntax error:') && (textKeys.has(key) || key === ''))
    return found.includes('Syntax error:');
  if (!expected.includes('selfType<N>')) return expected === found;
  const escaped = expected
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('selfType<N>', '[A-Za-z0-9_]+');
  return new RegExp(`^${escaped}$`, 's').test(found);
}

/** JSON without nulls, empty objects and empty lists, at every depth. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned).filter((item) => !isEmpty(item));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, pruned(inner)] as const);
  return Object.fromEntries(entries.filter(([, inner]) => !isEmpty(inner)));
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
