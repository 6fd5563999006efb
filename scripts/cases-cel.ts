// Runs every case file of a folder against the expression engine: node scripts/cases-cel.ts FOLDER
// Prints each failed case with its id, a line per file, and the totals last.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { baseRunners } from './cel-cases/base-runners.ts';
import type { Runner } from './cel-cases/base-runners.ts';
import { textOf } from './cel-cases/case-values.ts';
import type { JsonRecord } from './cel-cases/case-values.ts';
import { judge } from './cel-cases/judge.ts';
import { policyRunners } from './cel-cases/policy-runners.ts';
import { schemaRunners } from './cel-cases/schema-runners.ts';

/**
 * Files that need more than the engine: policies as a whole, and definitions of custom resources.
 */
export const setAside: ReadonlySet<string> = new Set([
  'map_mutations.json',
  'map_policies.json',
  'crd_schema_rules.json',
  'crd_object_rules.json',
]);

export const runners: Readonly<Record<string, Runner>> = {
  ...baseRunners,
  ...schemaRunners,
  ...policyRunners,
};

/** What differs between a case and its run; empty: it passes. */
export function runCase(file: string, record: JsonRecord): readonly string[] {
  const runner = runners[file];
  if (runner === undefined) return ['no runner for this file'];
  const truth = (record['k8s'] ?? record['reference'] ?? record['expect']) as JsonRecord;
  try {
    return judge(truth, runner(record));
  } catch (error) {
    return [`thrown: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
}

function main(folder: string): void {
  let passed = 0;
  let failed = 0;
  let aside = 0;
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()) {
    const records = JSON.parse(
      readFileSync(path.join(folder, file), 'utf8'),
    ) as readonly JsonRecord[];
    if (setAside.has(file)) {
      aside += records.length;
      console.log(`${file}: ${String(records.length)} set aside`);
      continue;
    }
    let failedHere = 0;
    for (const record of records) {
      const problems = runCase(file, record);
      if (problems.length === 0) continue;
      failedHere++;
      console.log(
        `FAILED ${textOf(record['id'])} ${JSON.stringify(record['expr'] ?? record['name'] ?? '')}`,
      );
      for (const problem of problems) console.log(`  ${problem}`);
    }
    failed += failedHere;
    passed += records.length - failedHere;
    console.log(
      `${file}: ${String(records.length - failedHere)} passed, ${String(failedHere)} failed`,
    );
  }
  if (aside > 0) console.log(`${String(aside)} set aside`);
  console.log(`${String(passed)} passed, ${String(failed)} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

const folder = process.argv[2];
if (import.meta.main) {
  if (folder === undefined) throw new Error('usage: cases-cel FOLDER');
  main(folder);
}
