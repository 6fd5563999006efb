// Runs every case file of a folder against the expression engine: node scripts/cases-cel.ts FOLDER
// Prints each failed case with its id, a line per file, and the totals last.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { baseRunners } from './cel-cases/base-runners.ts';
import type { Runner } from './cel-cases/base-runners.ts';
import { textOf } from './cel-cases/case-values.ts';
import type { JsonRecord } from './cel-cases/case-values.ts';
import { differences } from './cel-cases/differences.ts';
import { mutationRunners } from './cel-cases/mutation-runners.ts';
import { policyRunners } from './cel-cases/policy-runners.ts';
import { schemaRunners } from './cel-cases/schema-runners.ts';

export const runners: Readonly<Record<string, Runner>> = {
  ...baseRunners,
  ...schemaRunners,
  ...policyRunners,
  ...mutationRunners,
};

/** What differs between a case and its run; empty: it passes. */
export function runCase(file: string, record: JsonRecord): readonly string[] {
  const runner = runners[file];
  if (runner === undefined) return ['no runner for this file'];
  const truth = (record['k8s'] ?? record['reference'] ?? record['expect']) as JsonRecord;
  try {
    return differences(truth, runner(record));
  } catch (error) {
    return [`thrown: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
}

/** Runs the case files of a folder; true: none failed. */
export function runFolder(folder: string, print: (line: string) => void): boolean {
  let passed = 0;
  let failed = 0;
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  for (const file of files.sort()) {
    const records = readRecords(path.join(folder, file));
    const failedHere = records.filter((record) => !passes(file, record, print)).length;
    const passedHere = records.length - failedHere;
    print(`${file}: ${String(passedHere)} passed, ${String(failedHere)} failed`);
    passed += passedHere;
    failed += failedHere;
  }
  print(`${String(passed)} passed, ${String(failed)} failed`);
  return failed === 0;
}

const readRecords = (file: string): readonly JsonRecord[] =>
  JSON.parse(readFileSync(file, 'utf8')) as readonly JsonRecord[];

function passes(file: string, record: JsonRecord, print: (line: string) => void): boolean {
  const problems = runCase(file, record);
  if (problems.length === 0) return true;
  const name = JSON.stringify(record['expr'] ?? record['name'] ?? '');
  print(`FAILED ${textOf(record['id'])} ${name}`);
  for (const problem of problems) print(`  ${problem}`);
  return false;
}

if (import.meta.main) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error('usage: cases-cel FOLDER');
  process.exitCode = runFolder(folder, console.log) ? 0 : 1;
}
