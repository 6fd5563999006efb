// Rules of a schema compile, see what they may, and cost no more than an object may spend.
import type { FieldErrors } from '../../api/field-errors.ts';
import { entriesAt, isSet, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import { isObject } from '../../api/json-value.ts';
import { loadResourceSchema, loadSchema } from '../../api/load-schema.ts';
import type { JsonObject, ValueInfo } from '../../api/type-info.ts';
import { valueOf } from '../../api/value-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { childCardinality, summarizeCosts } from '../../cel/schema/cardinality.ts';
import { FieldPathError, relativeFieldPath } from '../../cel/schema/field-path.ts';
import { UnsupportedSchemaError, compileSchemaRules } from '../../cel/use/schema-rules.ts';
import type { CompiledRule } from '../../cel/use/schema-rules.ts';
import { schemaSource } from './schema-source.ts';

const ruleCostMax = 10_000_000n;
const schemaCostMax = 100_000_000n;

export interface ExpressionOptions {
  readonly naming: NamingProfile;
  readonly errors: FieldErrors;
  /** Fields that something else is wrong with: rules at and above them are not looked at. */
  readonly wrong: readonly string[];
  /** Expressions of the stored definition, which may use all that an older server took. */
  readonly stored: ReadonlySet<string>;
  /** The schema is stored just so: what one rule costs was accepted. */
  readonly isStored: boolean;
}

interface RuleNode {
  readonly schema: JsonObject;
  readonly path: string;
  readonly isRoot: boolean;
  /** How often a value of the node can occur; undefined: without bound. */
  readonly times: bigint | undefined;
  /** The outermost list whose items have no older value; undefined: there is none around. */
  readonly unrelated: string | undefined;
}

interface Costs {
  readonly paths: string[];
  readonly costs: bigint[];
}

export function validateExpressions(
  schema: JsonObject,
  path: string,
  options: ExpressionOptions,
): void {
  const costs: Costs = { paths: [], costs: [] };
  const root = { schema, path, isRoot: true, times: 1n, unrelated: undefined };
  validateNodeRules(root, costs, options);
  const { total, mostExpensive } = summarizeCosts(costs.costs);
  if (total <= schemaCostMax) return;
  const dear = costs.costs.map((cost, at) => ({ cost, path: costs.paths[at] ?? '' }));
  for (const cost of mostExpensive) {
    const at = dear.findIndex((one) => one.cost === cost);
    const [found] = dear.splice(at, 1);
    const detail =
      'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    options.errors.forbidden(found?.path ?? path, detail);
  }
  const what = `${options.naming.schemaExtensionPrefix}validations estimated rule cost total`;
  const detail = costText(`${what} for entire OpenAPIv3 schema`, total, schemaCostMax);
  options.errors.forbidden(path, detail);
}

function validateNodeRules(node: RuleNode, costs: Costs, options: ExpressionOptions): void {
  const { schema, path } = node;
  const value = valueOfNode(node, options.naming);
  const times = childCardinality(node.times, value);
  for (const [name, property] of entriesAt(schema, 'properties')) {
    if (!isObject(property)) continue;
    const at = `${path}.properties[${name}]`;
    const child = { ...node, schema: property, path: at, isRoot: false };
    validateNodeRules(child, costs, options);
  }
  const additional = recordAt(schema, 'additionalProperties');
  if (additional !== undefined) {
    const at = `${path}.additionalProperties`;
    const child = { ...node, schema: additional, path: at, isRoot: false, times };
    validateNodeRules(child, costs, options);
  }
  const items = recordAt(schema, 'items');
  if (items !== undefined) {
    const unrelated = node.unrelated ?? (value.listType === 'map' ? undefined : path);
    const child = { schema: items, path: `${path}.items`, isRoot: false, times, unrelated };
    validateNodeRules(child, costs, options);
  }
  const { schemaExtensionPrefix: prefix } = options.naming;
  const rules = recordsAt(schema, `${prefix}validations`);
  if (rules.length === 0 || options.wrong.some((field) => field.startsWith(path))) return;
  validateRules(rules, value, { ...node, path: `${path}.${prefix}validations` }, costs, options);
}

function valueOfNode({ schema, isRoot }: RuleNode, naming: NamingProfile): ValueInfo {
  const source = schemaSource(naming);
  return isRoot ? valueOf(loadResourceSchema(schema, source)) : loadSchema(schema, source);
}

function validateRules(
  raw: readonly JsonObject[],
  value: ValueInfo,
  node: RuleNode,
  costs: Costs,
  options: ExpressionOptions,
): void {
  for (const [at, rule] of (value.schema?.rules ?? []).entries()) {
    const given = raw[at] ?? {};
    const path = `${node.path}[${String(at)}]`;
    const isKnown = options.stored.has(rule.rule);
    try {
      const version = isKnown ? ({ version: 'stored' } as const) : {};
      const compiled = compileSchemaRules(value, { naming: options.naming, ...version }, [rule]);
      const times = node.times ?? compiled.maxCardinality;
      for (const one of compiled.rules) {
        validateCompiled(one, given, { ...node, path, times }, value, costs, options);
      }
    } catch (error) {
      if (!(error instanceof UnsupportedSchemaError)) throw error;
      options.errors.invalid(`${path}.rule`, shownRule(given), error.message);
    }
  }
}

function validateCompiled(
  compiled: CompiledRule,
  given: JsonObject,
  node: RuleNode & { readonly times: bigint },
  value: ValueInfo,
  costs: Costs,
  options: ExpressionOptions,
): void {
  const { errors, isStored } = options;
  const { path, times, unrelated } = node;
  const account = (name: string, noun: string, cost: bigint): void => {
    costs.paths.push(`${path}.${name}`);
    costs.costs.push(cost);
    if (isStored || cost <= ruleCostMax) return;
    errors.forbidden(`${path}.${name}`, costText(`estimated ${noun} cost`, cost, ruleCostMax));
  };
  account('rule', 'rule', compiled.maxCost * times);
  const pathProblem = fieldPathProblem(textAt(given, 'fieldPath'), value);
  if (pathProblem !== undefined) {
    const fieldPath = textAt(given, 'fieldPath');
    const detail = `fieldPath ${fieldPath} must be a valid path: ${pathProblem}`;
    errors.invalid(`${path}.fieldPath`, fieldPath, detail);
  } else if (compiled.error !== undefined) {
    errors.invalid(`${path}.rule`, shownRule(given), compiled.error);
  }
  if (compiled.messageError !== undefined) {
    errors.invalid(`${path}.messageExpression`, shownRule(given), compiled.messageError);
  } else if (compiled.messageProgram !== undefined) {
    const cost = compiled.messageProgram.estimatedCost.max * times;
    account('messageExpression', 'messageExpression', cost);
  }
  if (compiled.usesOldSelf && unrelated !== undefined) {
    const place = `the uncorrelatable portion of the schema within ${unrelated}`;
    errors.invalid(`${path}.rule`, textAt(given, 'rule'), `oldSelf cannot be used on ${place}`);
  } else if (!compiled.usesOldSelf && isSet(given, 'optionalOldSelf')) {
    const detail = 'may not be set if oldSelf is not used in rule';
    errors.invalid(`${path}.optionalOldSelf`, valueAt(given, 'optionalOldSelf'), detail);
  }
}

function fieldPathProblem(fieldPath: string, value: ValueInfo): string | undefined {
  if (fieldPath === '') return undefined;
  try {
    relativeFieldPath(fieldPath, value);
    return undefined;
  } catch (error) {
    if (error instanceof FieldPathError) return error.message;
    throw error;
  }
}

/** A rule as clients know it in failures: all members, with the names of the type. */
const shownRule = (rule: JsonObject): JsonObject => ({
  Rule: textAt(rule, 'rule'),
  Message: textAt(rule, 'message'),
  MessageExpression: textAt(rule, 'messageExpression'),
  Reason: valueAt(rule, 'reason') ?? null,
  FieldPath: textAt(rule, 'fieldPath'),
  OptionalOldSelf: valueAt(rule, 'optionalOldSelf') ?? null,
});

function costText(what: string, cost: bigint, costMax: bigint): string {
  const factor = Number(cost) / Number(costMax);
  const shown =
    factor > 100
      ? 'more than 100x'
      : factor < 1.5
        ? `${factor.toFixed(6)}x`
        : `${factor.toFixed(1)}x`;
  return (
    `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding ` +
    'maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'
  );
}
