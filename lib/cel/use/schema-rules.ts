// Compiling the rules about one value of a custom resource: `self` and `oldSelf` have its type.
import type { ValidationRule, ValueInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { optionalType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import { CompileErrors, Environment, ProgramFailure, defaultVersion } from '../environment.ts';
import type { Variable } from '../environment.ts';
import type { Program } from '../program.ts';
import { OptionalValue, isError, optionalNone } from '../model/value.ts';
import {
  keywordFieldsSince,
  maxCardinality,
  objectTypesOf,
  sizesFrom,
} from '../schema/declared-type.ts';
import type { DeclaredType } from '../schema/declared-type.ts';
import { FieldPathError, relativeFieldPath } from '../schema/field-path.ts';
import { declaredType } from '../schema/value-types.ts';
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
}

/** The schema has rules, but values of it cannot be seen by expressions. */
export class UnsupportedSchemaError extends Error {}

// Names of the types of anonymous objects must not be something to rely on.
let typeNumber = 0;

/** Compiles rules about a value; rules of values within it are not its business. */
export function compileSchemaRules(
  value: ValueInfo,
  options: SchemaRulesOptions,
  rules: readonly ValidationRule[] = value.schema?.rules ?? [],
): CompiledRules {
  if (rules.length === 0) return { rules: [], maxCardinality: 0n };
  const type = declaredType(value, `selfType${String(++typeNumber)}`);
  if (type === undefined) {
    const extension = `${options.naming.schemaExtensionPrefix}preserve-unknown-fields`;
    const preserves = String(value.schema?.preservesUnknownFields === true);
    throw new UnsupportedSchemaError(
      'rule declared on schema that does not support validation rules ' +
        `type: '${value.schema?.type ?? ''}' ${extension}: '${preserves}'`,
    );
  }
  const environments = environmentsFor(value, type, options);
  return {
    rules: rules.map((rule) => compileRule(rule, value, environments)),
    maxCardinality: maxCardinality(type),
  };
}

interface RuleEnvironments {
  readonly plain: Environment;
  /** With an optional oldSelf. */
  readonly optional: Environment;
}

function environmentsFor(
  value: ValueInfo,
  type: DeclaredType,
  options: SchemaRulesOptions,
): RuleEnvironments {
  const wrap = wrapFor(value);
  const version = options.version ?? defaultVersion;
  const shared = {
    naming: options.naming,
    version,
    objects: objectTypesOf([type], version === 'stored' || version >= keywordFieldsSince),
    sizes: sizesFrom(type),
  };
  const self: Variable = { name: 'self', type: type.celType, wrap };
  const oldSelf = (oldType: CelType, wrapOld: Variable['wrap']): Variable => ({
    name: 'oldSelf',
    type: oldType,
    ...(wrapOld === undefined ? {} : { wrap: wrapOld }),
  });
  const wrapOptional: Variable['wrap'] = (raw) => {
    if (raw === absentOldSelf) return optionalNone;
    const old = wrap(raw);
    return isError(old) ? old : new OptionalValue(old);
  };
  return {
    plain: new Environment({ ...shared, variables: [self, oldSelf(type.celType, wrap)] }),
    optional: new Environment({
      ...shared,
      variables: [self, oldSelf(optionalType(type.celType), wrapOptional)],
    }),
  };
}

/** Bound to an optional `oldSelf` where there is no previous value. */
export const absentOldSelf: unique symbol = Symbol('absent');

function compileRule(
  rule: ValidationRule,
  value: ValueInfo,
  environments: RuleEnvironments,
): CompiledRule {
  const environment = rule.optionalOldSelf === true ? environments.optional : environments.plain;
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
  const compiled = compileTo(environment, rule.rule, 'bool');
  if (typeof compiled === 'string') return { ...empty, error: compiled };
  const fieldPath = fieldPathOf(rule, value);
  if (fieldPath instanceof FieldPathError) return { ...empty, error: fieldPath.message };
  const message = messageOf(rule, environment);
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
function messageOf(rule: ValidationRule, environment: Environment): Program | string | undefined {
  const { messageExpression } = rule;
  if (messageExpression === undefined || messageExpression === '') return undefined;
  if (messageExpression.trim() === '') return 'messageExpression must be non-empty if specified';
  const compiled = environment.compile(messageExpression);
  if (compiled instanceof CompileErrors)
    return `messageExpression compilation failed: ${compiled.toText()}`;
  if (compiled instanceof ProgramFailure) {
    return `messageExpression instantiation failed: ${compiled.message}`;
  }
  return compiled.resultType.kind === 'string'
    ? compiled
    : 'messageExpression must evaluate to a string';
}

function compileTo(environment: Environment, text: string, kind: 'bool'): Program | string {
  const compiled = environment.compile(text);
  if (compiled instanceof CompileErrors) return `compilation failed: ${compiled.toText()}`;
  const { resultType } = compiled instanceof ProgramFailure ? compiled.checked : compiled;
  if (resultType.kind !== kind) return `cel expression must evaluate to a ${kind}`;
  return compiled instanceof ProgramFailure
    ? `program instantiation failed: ${compiled.message}`
    : compiled;
}
