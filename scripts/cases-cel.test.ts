// The runner of expression cases notices every wrong expectation, and blames only its case.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runFolder } from './cases-cel.ts';
import type { JsonRecord } from './cel-cases/case-values.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cel-cases-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Sample {
  readonly file: string;
  readonly record: JsonRecord;
  /** A wrong value for each key of the truth. */
  readonly wrong: JsonRecord;
}

const bool = (value: boolean): JsonRecord => ({ type: 'bool', value });
const rule = (text: string, more: JsonRecord = {}): JsonRecord => ({
  type: 'integer',
  'x-kubernetes-validations': [{ rule: text, ...more }],
});

const tooFew = (error: string): JsonRecord => ({
  type: 'FieldValueInvalid',
  field: 'root',
  detail: 'too few',
  error,
});

const samples: readonly Sample[] = [
  {
    file: 'celgo_interpreter.json',
    record: {
      id: 'value',
      expr: '1 < 2',
      k8s: {
        value: bool(true),
        outputType: 'bool',
        estimatedCost: { min: '1', max: '1' },
        cost: 1,
      },
    },
    wrong: {
      value: bool(false),
      outputType: 'int',
      estimatedCost: { min: '1', max: '2' },
      cost: 2,
    },
  },
  {
    file: 'library_semver.json',
    record: {
      id: 'error',
      expr: 'semver("v1.0")',
      k8s: { error: 'No Major.Minor.Patch elements found' },
    },
    wrong: { error: 'No Major.Minor.Patch elements' },
  },
  {
    file: 'celspec_conformance.json',
    record: { id: 'programError', expr: 'int(1e99)', k8s: { programError: 'integer overflow' } },
    wrong: { programError: 'integer overflow.' },
  },
  {
    file: 'celgo_check.json',
    record: {
      id: 'compileErrors',
      expr: 'a',
      k8s: { compileErrors: ["1:1: undeclared reference to 'a' (in container '')"] },
    },
    wrong: { compileErrors: ["1:2: undeclared reference to 'a' (in container '')"] },
  },
  {
    file: 'authn_config.json',
    record: {
      id: 'compileError',
      expr: '1',
      kind: 'UserValidationCondition',
      scope: 'user',
      k8s: { compileError: 'must evaluate to bool' },
    },
    wrong: { compileError: null },
  },
  {
    file: 'crd_cardinality.json',
    record: {
      id: 'maxCardinality',
      schemaChain: [{ type: 'array', maxItems: 5 }],
      k8s: { maxCardinality: '5' },
    },
    wrong: { maxCardinality: '6' },
  },
  {
    file: 'crd_compilation.json',
    record: {
      id: 'compile',
      schema: rule('self > oldSelf'),
      ruleIndex: 0,
      k8s: { compile: { estimatedCost: '3', usesOldSelf: true } },
    },
    wrong: { compile: { estimatedCost: '3', usesOldSelf: false } },
  },
  {
    file: 'crd_validation_levels.json',
    record: {
      id: 'errors',
      isResourceRoot: false,
      schema: rule('self >= 10', { message: 'too few' }),
      object: 9,
      k8s: { errors: [tooFew('root: Invalid value: 9: too few')], cost: 2 },
    },
    wrong: { errors: [tooFew('root: Invalid value: 8: too few')], cost: 3 },
  },
  {
    file: 'crd_fieldpath.json',
    record: {
      id: 'relativePath',
      expr: '.list',
      schema: { type: 'object', properties: { list: { type: 'array' } } },
      k8s: { relativePath: 'list' },
    },
    wrong: { relativePath: '.list' },
  },
  {
    file: 'vap_cost_budget.json',
    record: {
      id: 'remainingBudget',
      expressions: ['object.a'],
      costBudget: 5,
      object: { a: true },
      k8s: { results: [{ value: bool(true) }], remainingBudget: 3 },
    },
    wrong: { results: [{ value: bool(false) }], remainingBudget: 4 },
  },
  {
    file: 'vap_typecheck.json',
    record: { id: 'warnings', policy: { metadata: {}, spec: {} }, k8s: { warnings: [] } },
    wrong: { warnings: [{ fieldRef: 'spec', warning: 'x' }] },
  },
  {
    file: 'crd_total_cost.json',
    record: {
      id: 'total',
      costs: ['2000000', '1'],
      k8s: { total: '2000001', mostExpensive: ['2000000'] },
    },
    wrong: { total: '2000002', mostExpensive: [] },
  },
  {
    file: 'escaping.json',
    record: { id: 'escaped', expr: 'a.b', k8s: { escaped: 'a__dot__b' } },
    wrong: { escaped: 'a.b' },
  },
  {
    file: 'library_cost_resultsize.json',
    record: {
      id: 'resultSize',
      function: 'replace',
      targetSize: { min: 3, max: 3 },
      argSizes: [
        { min: 1, max: 1 },
        { min: 0, max: 0 },
      ],
      k8s: { estimatedCost: { min: '1', max: '1' }, resultSize: { min: 0, max: 3 } },
    },
    wrong: { estimatedCost: { min: '0', max: '1' }, resultSize: { min: 1, max: 3 } },
  },
  {
    file: 'library_declarations.json',
    record: {
      id: 'overloads',
      expr: 'isIP',
      library: 'kubernetes.net.ip',
      k8s: { overloads: [{ args: ['string'], id: 'is_ip', member: false, result: 'bool' }] },
    },
    wrong: { overloads: [{ args: ['string'], id: 'is_ip', member: true, result: 'bool' }] },
  },
  {
    file: 'map_mutations.json',
    record: {
      id: 'mutation',
      expr: 'Object{metadata: Object.metadata{labels: {"value": "x"}}}',
      kind: 'applyConfiguration',
      object: { apiVersion: 'apps/v1', kind: 'Deployment' },
      k8s: {
        object: {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { labels: { value: 'x' } },
          spec: {},
        },
      },
    },
    wrong: { object: { apiVersion: 'apps/v1', kind: 'Deployment' } },
  },
  {
    file: 'map_policies.json',
    record: {
      id: 'policy',
      object: { apiVersion: 'apps/v1', kind: 'Deployment' },
      policy: {
        spec: {
          mutations: [
            {
              patchType: 'JSONPatch',
              jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/none"}]' },
            },
          ],
        },
      },
      k8s: { errorContains: 'nonexistent key' },
    },
    wrong: { errorContains: 'another' },
  },
];

/** Writes the samples into the folder, one of them changed, and runs them. */
function linesWith(changed?: Sample, truth?: JsonRecord): readonly string[] {
  for (const sample of samples) {
    const record = sample === changed ? { ...sample.record, k8s: truth ?? null } : sample.record;
    writeFileSync(join(folder, sample.file), JSON.stringify([record]));
  }
  const lines: string[] = [];
  runFolder(folder, (line) => lines.push(line));
  return lines;
}

test('the samples pass', () => {
  const lines = linesWith();
  expect(lines.filter((line) => line.startsWith('FAILED'))).toEqual([]);
  expect(lines.at(-1)).toBe(`${String(samples.length)} passed, 0 failed`);
});

const corruptions = samples.flatMap((sample) =>
  Object.keys(sample.record['k8s'] as JsonRecord).map((key) => [key, sample.file, sample] as const),
);

test.each(corruptions)('a wrong %s of %s fails its case', (key, _file, sample) => {
  const truth = sample.record['k8s'] as JsonRecord;
  const lines = linesWith(sample, { ...truth, [key]: sample.wrong[key] ?? null });
  const failed = lines.filter((line) => line.startsWith('FAILED'));
  expect(failed.map((line) => line.split(' ')[1])).toEqual([sample.record['id']]);
  expect(lines.some((line) => line.startsWith(`  ${key}: `))).toBe(true);
  expect(lines.at(-1)).toBe(`${String(samples.length - 1)} passed, 1 failed`);
});

test('an error that no key expects fails its case', () => {
  const sample = samples[1] as Sample;
  expect(linesWith(sample, {}).at(-1)).toBe(`${String(samples.length - 1)} passed, 1 failed`);
});
