// Runs the cases of the base environment and of the libraries.
import { namingProfile } from '../../lib/api/vendor.ts';
import { dynType, intType, parseTypeText, typeText } from '../../lib/cel/model/cel-type.ts';
import type { CelType } from '../../lib/cel/model/cel-type.ts';
import type { Overload } from '../../lib/cel/model/declarations.ts';
import type { CostNode, SizeEstimator } from '../../lib/cel/model/cost-node.ts';
import { fixed } from '../../lib/cel/model/range.ts';
import type { Range } from '../../lib/cel/model/range.ts';
import { CompileErrors, Environment, ProgramFailure } from '../../lib/cel/environment.ts';
import type { EnvironmentOptions, Variable } from '../../lib/cel/environment.ts';
import { estimateCost } from '../../lib/cel/cost/estimate.ts';
import { authorizerTypes, authorizerValue } from '../../lib/cel/library/authorizer.ts';
import { allLibraries } from '../../lib/cel/library/libraries.ts';
import type { Program } from '../../lib/cel/program.ts';
import { escapeName, unescapeName } from '../../lib/cel/schema/escaping.ts';
import { bindingValue, isRecord, textOf, typedValue } from './case-values.ts';
import type { Json, JsonRecord } from './case-values.ts';
import type { Outcome } from './differences.ts';

export type Runner = (record: JsonRecord) => Outcome;

export const naming = namingProfile('kubernetes');

const rangeText = (range: Range): JsonRecord => ({
  min: String(range.min),
  max: String(range.max),
});

interface CaseVariable {
  readonly name: string;
  readonly type: string;
}

function variablesOf(record: JsonRecord): readonly Variable[] {
  const declared = (record['vars'] ?? []) as unknown as readonly CaseVariable[];
  const bindings = isRecord(record['bindings']) ? record['bindings'] : {};
  return declared.map(({ name, type }) => {
    const celType = parseTypeText(type);
    return { name, type: celType, wrap: () => bindingValue(bindings[name] ?? null, celType) };
  });
}

function hintedSizes(record: JsonRecord): SizeEstimator {
  const hints = isRecord(record['sizeHints']) ? record['sizeHints'] : {};
  return (path) => {
    const hint = hints[path.join('.')];
    return typeof hint === 'number' ? { min: 0n, max: BigInt(hint) } : undefined;
  };
}

/** Compiles and evaluates in an environment; reports everything a truth may ask for. */
function run(record: JsonRecord, options: Partial<EnvironmentOptions>): Outcome {
  const environment = new Environment({
    naming,
    variables: variablesOf(record),
    sizes: hintedSizes(record),
    ...options,
  });
  const compiled = environment.compile(textOf(record['expr']));
  if (compiled instanceof CompileErrors) return { compileErrors: compiled.toLines() };
  if (compiled instanceof ProgramFailure) {
    const { checked, message } = compiled;
    const estimated = estimateCost(checked, hintedSizes(record));
    return {
      programError: message,
      outputType: typeText(checked.resultType),
      estimatedCost: rangeText(estimated),
    };
  }
  return { ...describe(compiled), ...evaluate(compiled, record, options.foldsConstants === false) };
}

function describe(program: Program): Outcome {
  return {
    outputType: typeText(program.resultType),
    estimatedCost: rangeText(program.estimatedCost),
  };
}

function evaluate(program: Program, record: JsonRecord, isUnlimited: boolean): Outcome {
  const limit = record['costLimit'];
  const bindings = {
    authorizer: authorizerValue(naming),
    ...(isRecord(record['bindings']) ? record['bindings'] : {}),
  };
  const result = program.evaluate(bindings, {
    ...(typeof limit === 'number'
      ? { costLimit: limit }
      : isUnlimited
        ? { costLimit: Infinity }
        : {}),
    authorizer: { decide: () => ({ decision: 'allow', reason: '', error: '' }) },
  });
  if (result.kind === 'pending') return { error: 'pending' };
  if (result.kind === 'error') return { error: result.message, cost: result.cost };
  return { value: typedValue(result.value), cost: result.cost };
}

const base: Runner = (record) => run(record, {});

const compileOnly: Runner = (record) => {
  const environment = new Environment({
    naming,
    variables: variablesOf(record),
    sizes: hintedSizes(record),
  });
  const compiled = environment.compile(textOf(record['expr']));
  if (compiled instanceof CompileErrors) return { compileErrors: compiled.toLines() };
  return compiled instanceof ProgramFailure
    ? { programError: compiled.message }
    : describe(compiled);
};

const unfolded: Runner = (record) => run(record, { foldsConstants: false });

/** Estimates of library functions: texts of unknown size count as up to 12. */
const librarySizes: SizeEstimator = (_, type) =>
  type.kind === 'string' || type.kind === 'bytes' ? { min: 0n, max: 12n } : undefined;

const libraryCost: Runner = (record) =>
  run(record, {
    foldsConstants: false,
    jsonPatch: true,
    sizes: librarySizes,
    variables: [{ name: 'authorizer', type: authorizerTypes(naming).authorizer }],
  });

const resultSize: Runner = (record) => {
  const sizeOf = (json: Json): Range => {
    const size = isRecord(json) ? json : {};
    return { min: BigInt(Number(size['min'])), max: BigInt(Number(size['max'])) };
  };
  const node = (size: Range, type: CelType): CostNode => ({
    type,
    literal: undefined,
    computedSize: size,
    size,
    element: undefined,
  });
  const args = (record['argSizes'] as readonly Json[]).map((size) => node(sizeOf(size), intType));
  const overload = overloadsOf(textOf(record['function']))[0];
  const estimate = overload?.estimate?.(node(sizeOf(record['targetSize'] ?? null), dynType), args);
  const result = estimate?.resultSize ?? fixed(0);
  return {
    estimatedCost: rangeText(estimate?.cost ?? fixed(1)),
    resultSize: { min: Number(result.min), max: Number(result.max) },
  };
};

function overloadsOf(name: string, library?: string): readonly Overload[] {
  return allLibraries(naming)
    .filter((candidate) => library === undefined || naming.resolve(candidate.name) === library)
    .flatMap((candidate) => candidate.functions ?? [])
    .filter((declared) => declared.name === name)
    .flatMap((declared) => declared.overloads);
}

const declarations: Runner = (record) => ({
  overloads: overloadsOf(textOf(record['expr']), textOf(record['library'])).map((overload) => ({
    id: overload.id,
    member: overload.isMember,
    args: overload.args.map(declaredTypeText),
    result: declaredTypeText(overload.result),
  })),
});

function declaredTypeText(type: CelType): string {
  if (type.kind === 'param') return `<${type.name}>`;
  return type.params.length === 0
    ? type.name
    : `${type.name}(${type.params.map(declaredTypeText).join(', ')})`;
}

const escaping: Runner = (record) => {
  const text = textOf(record['expr']);
  return record['op'] === 'unescape'
    ? { unescaped: unescapeName(text) ?? null }
    : { escaped: escapeName(text) ?? null };
};

export const baseRunners: Readonly<Record<string, Runner>> = {
  'celgo_check.json': compileOnly,
  'celgo_cost_estimated.json': compileOnly,
  'celgo_cost_runtime.json': unfolded,
  'celgo_ext.json': base,
  'celgo_ext_cost.json': unfolded,
  'celgo_format.json': base,
  'celgo_interpreter.json': base,
  'celspec_comprehension.json': base,
  'celspec_conformance.json': base,
  'celspec_parsing.json': base,
  'escaping.json': escaping,
  'library_cost.json': libraryCost,
  'library_cost_resultsize.json': resultSize,
  'library_declarations.json': declarations,
  'library_ip_cidr.json': base,
  'library_quantity_format.json': base,
  'library_semver.json': base,
};
