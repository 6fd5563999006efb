// Compiling the rules about one value of a custom resource: `self` and `oldSelf` have its type.
import type { ValidationRule, ValueInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { atOnce, longStep } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import { optionalType } from '../model/cel-type.ts';
import { CompileErrors, Environment, ProgramFailure, defaultVersion } from '../environment.ts';
import type { Variable } from '../environment.ts';
import type { Program } from '../program.ts';
import { OptionalValue, isError, optionalNone } from '../model/value.ts';
import { keywordFieldsSince, maxCardinality, sizesFrom } from '../schema/declared-type.ts';
import type { DeclaredType } from '../schema/declared-type.ts';
import { FieldPathError, relativeFieldPath } from '../schema/field-path.ts';
import { SchemaTypes } from '../schema/schema-types.ts';
import { wrapFor } from '../schema/typed-json.ts';

/** One rule, compiled. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Absent: the rule is empty, or has an error. */
  readonly program: Program | undefined;
  /** Why the rule is refused. */
  readonly error: string | undefined;
  /** Compares with the previous value: runs only where there is one, unless oldSelf is optional. */
  readonly usesOldSelf: boolean;
  /** Highest cost of one evaluation. */
  readonly maxCost: bigint;
  readonly messageProgram: Program | undefined;
  readonly messageError: string | undefined;
  /** Path of the field that a failure is about, below that of the node. */
  readonly fieldPath: string;
}

export interface CompiledRules {
  readonly rules: readonly CompiledRule[];
  /** How many values of this type fit into a request; bounds how often the rules run. */
  readonly maxCardinality: bigint;
}

export interface SchemaRulesOptions {
  readonly naming: NamingProfile;
  readonly version?: number | 'stored';
  /** Those of the whole schema; absent: made for these rules alone. */
  readonly types?: SchemaTypes;
  /** Expressions that may use all that any server took, whatever the version. */
  readonly stored?: StoredExpressions;
}

/** Expressions of a stored definition. */
export interface StoredExpressions {
  readonly rules: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
}

/** The schema has rules, but values of it cannot be seen by expressions. */
export class UnsupportedSchemaError extends Error {}

/** Compiles rules about a value; rules of values within it are not its business. */
export const compileSchemaRules = (
  value: ValueInfo,
  options: SchemaRulesOptions,
  rules: readonly ValidationRule[] = value.schema?.rules ?? [],
): CompiledRules => atOnce(schemaRuleSteps(value, options, rules));

/** `compileSchemaRules`, for any number of rules: a step each. */
export function* schemaRuleSteps(
  value: ValueInfo,
  options: SchemaRulesOptions,
  rules: readonly ValidationRule[],
): Steps<CompiledRules> {
  if (rules.length === 0) return { rules: [], maxCardinality: 0n };
  const types = options.types ?? new SchemaTypes();
  const type = types.of(value);
  if (type === undefined) {
    const extension = `${options.naming.schemaExtensionPrefix}preserve-unknown-fields`;
    const preserves = String(value.schema?.preservesUnknownFields === true);
    throw new UnsupportedSchemaError(
      'rule declared on schema that does not support validation rules ' +
        `type: '${value.schema?.type ?? ''}' ${extension}: '${preserves}'`,
    );
  }
  const environments = environmentsFor(value, type, { ...options, types });
  const compiled: CompiledRule[] = [];
  for (const rule of rules) {
    compiled.push(yield* compileRule(rule, value, environments));
    yield longStep;
  }
  return {
    rules: compiled,
    maxCardinality: maxCardinality(type),
  };
}

/** What a text of a rule may use. */
interface RuleEnvironments {
  ofRule(rule: ValidationRule): Environment;
  ofMessage(rule: ValidationRule): Environment;
}

function environmentsFor(
  value: ValueInfo,
  type: DeclaredType,
  options: SchemaRulesOptions & { readonly types: SchemaTypes },
): RuleEnvironments {
  const { naming, types, stored, version = defaultVersion } = options;
  const wrap = wrapFor(value);
  const self: Variable = { name: 'self', type: type.celType, wrap };
  const plain: Variable = { ...self, name: 'oldSelf' };
  const optional: Variable = {
    name: 'oldSelf',
    type: optionalType(type.celType),
    wrap: (raw) => {
      if (raw === absentOldSelf) return optionalNone;
      const old = wrap(raw);
      return isError(old) ? old : new OptionalValue(old);
    },
  };
  const made = new Map<string, Environment>();
  const environment = (isStored: boolean, oldSelf: Variable): Environment => {
    const used = isStored ? 'stored' : version;
    const key = `${String(used)} ${String(oldSelf === plain)}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const keywordsAsFields = used === 'stored' || used >= keywordFieldsSince;
    const objects = types.objects({ keywordsAsFields });
    const variables = [self, oldSelf];
    const one = new Environment({
      ...{ naming, version: used, objects, sizes: sizesFrom(type), variables },
    });
    made.set(key, one);
    return one;
  };
  const oldSelfOf = (rule: ValidationRule) => (rule.optionalOldSelf === true ? optional : plain);
  return {
    ofRule: (rule) => environment(stored?.rules.has(rule.rule) === true, oldSelfOf(rule)),
    ofMessage: (rule) =>
      environment(stored?.messages.has(rule.messageExpression ?? '') === true, oldSelfOf(rule)),
  };
}

/** Bound to an optional `oldSelf` where there is no previous value. */
export const absentOldSelf: unique symbol = Symbol('absent');

function* compileRule(
  rule: ValidationRule,
  value: ValueInfo,
  environments: RuleEnvironments,
): Steps<CompiledRule> {
  const empty: CompiledRule = {
    rule,
    program: undefined,
    error: undefined,
    usesOldSelf: false,
    maxCost: 0n,
    messageProgram: undefined,
    messageError: undefined,
    fieldPath: '',
  };
  if (rule.rule.trim() === '') return empty;
  const compiled = yield* compileTo(environments.ofRule(rule), rule.rule, 'bool');
  if (typeof compiled === 'string') return { ...empty, error: compiled };
  const fieldPath = fieldPathOf(rule, value);
  if (fieldPath instanceof FieldPathError) return { ...empty, error: fieldPath.message };
  const message = yield* messageOf(rule, environments);
  return {
    ...empty,
    program: compiled,
    usesOldSelf: compiled.uses('oldSelf'),
    maxCost: compiled.estimatedCost.max,
    ...(typeof message === 'string' ? { messageError: message } : { messageProgram: message }),
    fieldPath,
  };
}

function fieldPathOf(rule: ValidationRule, value: ValueInfo): string | FieldPathError {
  if (rule.fieldPath === undefined || rule.fieldPath === '') return '';
  try {
    return relativeFieldPath(rule.fieldPath, value);
  } catch (error) {
    if (error instanceof FieldPathError) return error;
    throw error;
  }
}

/** The program of a message expression, or why it is refused. */
function* messageOf(
  rule: ValidationRule,
  environments: RuleEnvironments,
): Steps<Program | string | undefined> {
  const { messageExpression } = rule;
  if (messageExpression === undefined || messageExpression === '') return undefined;
  if (messageExpression.trim() === '') return 'messageExpression must be non-empty if specified';
  const compiled = yield* environments.ofMessage(rule).compileSteps(messageExpression);
  if (compiled instanceof CompileErrors)
    return `messageExpression compilation failed: ${compiled.toText()}`;
  if (compiled instanceof ProgramFailure) {
    return `messageExpression instantiation failed: ${compiled.message}`;
  }
  return compiled.resultType.kind === 'string'
    ? compiled
    : 'messageExpression must evaluate to a string';
}

function* compileTo(environment: Environment, text: string, kind: 'bool'): Steps<Program | string> {
  const compiled = yield* environment.compileSteps(text);
  if (compiled instanceof CompileErrors) return `compilation failed: ${compiled.toText()}`;
  const { resultType } = compiled instanceof ProgramFailure ? compiled.checked : compiled;
  if (resultType.kind !== kind) return `cel expression must evaluate to a ${kind}`;
  return compiled instanceof ProgramFailure
    ? `program instantiation failed: ${compiled.message}`
    : compiled;
}
