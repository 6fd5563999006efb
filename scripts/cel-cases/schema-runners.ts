// Runs the cases of rules in custom resources' schemas.
import { objectCostBudget } from '../../lib/cel/testing/evaluate.ts';
import { loadResourceSchema, loadSchema } from '../../lib/api/load-schema.ts';
import { sourceOf } from '../../lib/api/testing/schema-types.ts';
import { FieldErrors } from '../../lib/api/field-errors.ts';
import type { JsonObject, ValueInfo } from '../../lib/api/type-info.ts';
import { valueOf } from '../../lib/api/value-info.ts';
import type { FieldError } from '../../lib/base/status.ts';
import { childCardinality, summarizeCosts } from '../../lib/cel/schema/cardinality.ts';
import { FieldPathError, relativeFieldPath } from '../../lib/cel/schema/field-path.ts';
import { Budget } from '../../lib/cel/use/budget.ts';
import { createObjectValidator } from '../../lib/cel/use/object-validator.ts';
import { compileSchemaRules } from '../../lib/cel/use/schema-rules.ts';
import { DefinitionSchemas } from '../../lib/kinds/apiextensions/definition-schemas.ts';
import {
  validateParts,
  validateVersions,
} from '../../lib/kinds/apiextensions/definition-versions.ts';
import { atOnce } from '../../lib/base/steps.ts';
import { naming } from './base-runners.ts';
import type { Runner } from './base-runners.ts';
import { plainJson, textOf } from './case-values.ts';
import type { Json, JsonRecord } from './case-values.ts';
import type { Outcome } from './differences.ts';

const source = sourceOf('Case');

function schemaOf(record: JsonRecord): ValueInfo {
  const schema = plainJson(record['schema'] ?? null);
  const value = loadSchema(schema, source);
  const isResource = record['isResourceRoot'] === true && value.schema?.type === 'object';
  return isResource ? valueOf(loadResourceSchema(schema, source)) : value;
}

/** The compiled rule at `index`, under the keys of the truth. */
function compileOutcome(record: JsonRecord, index: number): Outcome {
  const compiled = compileSchemaRules(schemaOf(record), { naming });
  const rule = compiled.rules[index];
  if (rule === undefined) return { compileError: 'no such rule' };
  if (rule.error !== undefined) return { compileError: rule.error };
  return {
    estimatedCost: String(rule.maxCost),
    usesOldSelf: rule.usesOldSelf,
    maxCardinality: String(compiled.maxCardinality),
    ...(rule.messageError === undefined ? {} : { messageExpressionError: rule.messageError }),
    messageExpressionMaxCost: String(rule.messageProgram?.estimatedCost.max ?? 0n),
  };
}

const compile: Runner = (record) => {
  const index = record['ruleIndex'];
  return { compile: compileOutcome(record, typeof index === 'number' ? index : 0) };
};

/** An error with the value it shows, as people read it. */
function errorText(error: FieldError): string {
  const labels: Readonly<Record<string, string>> = {
    FieldValueInvalid: 'Invalid value',
    FieldValueForbidden: 'Forbidden',
    FieldValueRequired: 'Required value',
    FieldValueDuplicate: 'Duplicate value',
  };
  const value = error.badValue === undefined ? '' : `: ${JSON.stringify(error.badValue)}`;
  const detail = error.detail === '' ? '' : `: ${error.detail}`;
  return `${error.field}: ${labels[error.reason] ?? error.reason}${value}${detail}`;
}

const errorRecord = (error: FieldError): JsonRecord => ({
  type: error.reason,
  field: error.field,
  detail: error.detail,
  error: errorText(error),
});

function validate(record: JsonRecord, ratchets: boolean): Outcome {
  const validator = createObjectValidator(schemaOf(record), { naming });
  const amount = typeof record['costBudget'] === 'number' ? record['costBudget'] : objectCostBudget;
  const budget = new Budget(amount);
  const limit = record['perCallLimit'];
  const old = 'oldObject' in record ? plainJson(record['oldObject'] ?? null) : undefined;
  const outcome = validator?.({
    path: 'root',
    object: plainJson(record['object'] ?? null),
    ...(old === undefined ? {} : { oldObject: old }),
    budget,
    ratchets,
    ...(typeof limit === 'number' ? { evaluation: { costLimit: limit } } : {}),
  });
  return {
    cost: amount - budget.remaining,
    errors: (outcome?.errors ?? []).map(errorRecord),
    warnings: (outcome?.warnings ?? []).map(errorText),
    remainingBudget: budget.remaining,
  };
}

const levels: Runner = (record) => validate(record, false);
const ratcheted: Runner = (record) => validate(record, true);
const ruleRun: Runner = (record) => ({
  compile: compileOutcome(record, 0),
  ...validate(record, false),
});

const cardinality: Runner = (record) => {
  const chain = (record['schemaChain'] as readonly Json[]).map((json) =>
    loadSchema(plainJson(json), source),
  );
  const times = chain.reduce<bigint | undefined>(childCardinality, 1n);
  return { maxCardinality: times === undefined ? null : String(times) };
};

const totalCost: Runner = (record) => {
  const costs = (record['costs'] as readonly Json[]).map((cost) => BigInt(textOf(cost)));
  const { total, mostExpensive } = summarizeCosts(costs);
  return { total: String(total), mostExpensive: mostExpensive.map(String) };
};

const fieldPath: Runner = (record) => {
  try {
    return { relativePath: relativeFieldPath(textOf(record['expr']), schemaOf(record)) };
  } catch (error) {
    if (error instanceof FieldPathError) return { error: error.message };
    throw error;
  }
};

/** What is wrong with the schemas of a definition, with `spec` and the stored one. */
function definitionErrors(
  spec: JsonObject,
  before: JsonObject | undefined,
  celVersion?: number,
): Outcome {
  const errors = new FieldErrors();
  const schemas = new DefinitionSchemas({ naming, spec, before, celVersion });
  atOnce(validateVersions(spec, before, schemas, errors));
  const first = errors.list.length;
  atOnce(validateParts(spec, before, schemas, errors));
  // The cases are about schemas alone.
  const ofSchemas = errors.list.filter(
    ({ field }, at) => at >= first || field.includes('openAPIV3Schema'),
  );
  return { errors: ofSchemas.map(errorRecord) };
}

const schemaRules: Runner = (record) => {
  const schema = { openAPIV3Schema: plainJson(record['schema'] ?? null) };
  const minor = /^1\.(\d+)$/.exec(textOf(record['compatibilityVersion'] ?? ''))?.[1];
  const spec = { versions: [{ name: 'v1', schema }] } as JsonObject;
  return definitionErrors(spec, undefined, minor === undefined ? undefined : Number(minor));
};

const objectRules: Runner = (record) => {
  const specOf = (definition: Json): JsonObject =>
    (plainJson(definition) as { readonly spec: JsonObject }).spec;
  const old = record['oldCrd'];
  return definitionErrors(
    specOf(record['crd'] ?? null),
    old === undefined ? undefined : specOf(old),
  );
};

export const schemaRunners: Readonly<Record<string, Runner>> = {
  'crd_cardinality.json': cardinality,
  'crd_compilation.json': compile,
  'crd_cost_estimated.json': compile,
  'crd_cost_runtime.json': ruleRun,
  'crd_fieldpath.json': fieldPath,
  'crd_message_expression.json': ruleRun,
  'crd_object_rules.json': objectRules,
  'crd_optional_oldself.json': ruleRun,
  'crd_ratcheting.json': ratcheted,
  'crd_reason_fieldpath.json': levels,
  'crd_schema_rules.json': schemaRules,
  'crd_total_cost.json': totalCost,
  'crd_validation.json': ruleRun,
  'crd_validation_levels.json': levels,
};
