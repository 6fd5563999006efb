import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { rewritesExpected } from '../base/testing/expected-output.ts';
import { parseScript, rewriteScript, runCase } from './testing/rule-script.ts';
import type { ScriptCase } from './testing/rule-script.ts';

const folder = join(import.meta.dirname, 'testdata/validation');
const files = readdirSync(folder).sort();
if (rewritesExpected) {
  for (const file of files.map((name) => join(folder, name))) {
    const text = readFileSync(file, 'utf8');
    const rewritten = rewriteScript(text);
    if (rewritten !== text) writeFileSync(file, rewritten);
  }
}
const scripts = files.map(
  (file) => [file, parseScript(readFileSync(join(folder, file), 'utf8'))] as const,
);
const cases = scripts.flatMap(([, script]) => script);

describe.each(scripts)('%s', (_file, script) => {
  test('every unchanged object is valid', () => {
    const bases = new Map(script.filter((one) => one.isBaseValid).map((one) => [one.base, one]));
    const failures = [...bases.values()].flatMap((one) => {
      const plain: ScriptCase = { ...one, operation: 'create', changes: [] };
      const found = runCase(plain);
      return found === 'ok' ? [] : [`${one.kind}: ${found}`];
    });
    expect(failures).toEqual([]);
  });

  test('every change brings the failures that it should', () => {
    const wrong = script.flatMap((one) => {
      const found = runCase(one);
      return found === one.expected ? [] : [`${one.kind} ${one.claim}: ${found}`];
    });
    expect(wrong).toEqual([]);
  });
});

/** Rules of other parts of the product, and where their tests are. */
const elsewhere: readonly (readonly [kind: string, path: RegExp, where: string])[] = [
  ['metadata', /./, 'lib/api/meta.test.ts, lib/registry/write-verbs.test.ts'],
  ['request options', /./, 'lib/registry/options.test.ts, lib/registry/read-mode.test.ts'],
];

const facts = join(import.meta.dirname, '../../../shared/api-facts/validation.json');

interface Row {
  readonly path: string;
  readonly rule: string;
}

// The table of all rules is no part of the product.
(existsSync(facts) ? test : test.skip)('which test covers which rule', () => {
  const { kinds } = JSON.parse(readFileSync(facts, 'utf8')) as {
    readonly kinds: Readonly<Record<string, readonly Row[]>>;
  };
  const claims = new Set(cases.map((one) => `${one.kind}: ${one.claim}`));
  const uncovered: string[] = [];
  let coveredCount = 0;
  for (const [kind, rows] of Object.entries(kinds)) {
    for (const { path, rule } of rows) {
      const claim = `${kind}: ${path}: ${rule.replaceAll(' | ', ' or ')}`;
      const isElsewhere = elsewhere.some(([name, at]) => name === kind && at.test(path));
      if (claims.has(claim) || isElsewhere) coveredCount += 1;
      else uncovered.push(claim);
    }
  }
  process.stdout.write(`${String(coveredCount)} rules have a test; none for:\n`);
  process.stdout.write(`${uncovered.map((one) => `  ${one}\n`).join('')}\n`);
  expect(coveredCount).toBeGreaterThan(550);
});
