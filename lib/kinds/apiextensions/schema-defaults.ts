// Defaults in a schema are values that it takes: nothing unknown, valid, and right by its rules.
import { entriesAt, isSet, recordAt, valueAt } from '../../api/json-access.ts';
import { isObject } from '../../api/json-value.ts';
import { valueErrors } from '../../api/open-validation.ts';
import type { JsonObject, JsonValue, ValueInfo } from '../../api/type-info.ts';
import { elementOf, memberOf } from '../../api/value-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { FieldError } from '../../base/status.ts';
import type { Steps } from '../../base/steps.ts';
import { Budget } from '../../cel/use/budget.ts';
import { createObjectValidator, valuesWithRules } from '../../cel/use/object-validator.ts';
import type { SchemaReport } from './schema-report.ts';

/** What all defaults of a schema may spend on its rules. */
const costMax = 10_000_000;

/** `value` is what the schema becomes. */
export function* validateDefaults(
  node: SchemaNode,
  naming: NamingProfile,
  report: SchemaReport,
): Steps<void> {
  const { value } = node;
  const reaching = value === undefined ? new Set<ValueInfo>() : valuesWithRules(value);
  yield* validateWithin(node, { naming, report, budget: new Budget(costMax), reaching });
}

export interface SchemaNode {
  readonly schema: JsonObject;
  readonly path: string;
  readonly value: ValueInfo | undefined;
}

interface DefaultsContext {
  readonly naming: NamingProfile;
  readonly report: SchemaReport;
  readonly budget: Budget;
  readonly reaching: ReadonlySet<ValueInfo>;
}

function* validateWithin(node: SchemaNode, context: DefaultsContext): Steps<void> {
  const { schema, path, value } = node;
  yield;
  if (context.report.isFull || value === undefined) return;
  if (isSet(schema, 'default')) yield* validateDefault(schema, value, `${path}.default`, context);
  const items = recordAt(schema, 'items');
  const element = elementOf(value);
  if (items !== undefined) {
    yield* validateWithin({ schema: items, path: `${path}.items`, value: element }, context);
  }
  for (const [name, property] of entriesAt(schema, 'properties')) {
    if (!isObject(property)) continue;
    const at = `${path}.properties[${name}]`;
    yield* validateWithin({ schema: property, path: at, value: memberOf(value, name) }, context);
  }
  const additional = recordAt(schema, 'additionalProperties');
  if (additional === undefined) return;
  const at = `${path}.additionalProperties`;
  yield* validateWithin({ schema: additional, path: at, value: element }, context);
}

function* validateDefault(
  schema: JsonObject,
  value: ValueInfo,
  path: string,
  context: DefaultsContext,
): Steps<void> {
  const given = valueAt(schema, 'default') ?? null;
  if (hasUnknown(given, value)) {
    const detail = 'must not have unknown fields';
    context.report.of('prunedDefaults').invalid(path, given, detail);
  }
  yield;
  const errors = valueErrors(value, given);
  const found = errors.length > 0 ? errors : yield* ruleErrors(value, given, context);
  context.report.errors.add(found.map(at(path)));
}

/** Rules hold for a default as for a new value, and as for one that was there before. */
function* ruleErrors(
  value: ValueInfo,
  given: JsonValue,
  { naming, budget, reaching }: DefaultsContext,
): Steps<readonly FieldError[]> {
  const validate = createObjectValidator(value, { naming, reaching });
  if (validate === undefined) return [];
  const { errors } = validate({ path: '', object: given, oldObject: given, budget });
  yield;
  return errors.length > 0 ? errors : validate({ path: '', object: given, budget }).errors;
}

/** Failures below a default, whose paths begin there. */
const at =
  (path: string) =>
  (error: FieldError): FieldError => {
    if (error.field === '<nil>') return error;
    const isStep = error.field === '' || error.field.startsWith('[');
    return { ...error, field: `${path}${isStep ? '' : '.'}${error.field}` };
  };

/** Whether something in a value has no place in the schema. */
function hasUnknown(value: JsonValue, info: ValueInfo | undefined): boolean {
  if (info === undefined) return false;
  if (Array.isArray(value)) {
    const element = elementOf(info);
    return element !== undefined && value.some((item) => hasUnknown(item, element));
  }
  if (!isObject(value)) return false;
  const { open } = info.message ?? {};
  return Object.keys(value).some((name) => {
    const member = memberOf(info, name);
    if (member !== undefined) return hasUnknown(value[name] ?? null, member);
    const isImplied = open?.typeMeta !== undefined && resourceMembers.includes(name);
    return open?.unknownFields === 'drop' && !isImplied;
  });
}

const resourceMembers = ['apiVersion', 'kind', 'metadata'];
