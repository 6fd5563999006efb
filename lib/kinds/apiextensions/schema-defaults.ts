// Defaults in a schema are values that it takes: nothing unknown, valid, and right by its rules.
import { entriesAt, isSet, recordAt, valueAt } from '../../api/json-access.ts';
import { isObject } from '../../api/json-value.ts';
import { loadSchema } from '../../api/load-schema.ts';
import { valueErrors } from '../../api/open-validation.ts';
import type { JsonObject, JsonValue, ValueInfo } from '../../api/type-info.ts';
import { elementOf, memberOf } from '../../api/value-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { FieldError } from '../../base/status.ts';
import { Budget } from '../../cel/use/budget.ts';
import { createObjectValidator } from '../../cel/use/object-validator.ts';
import type { SchemaReport } from './schema-report.ts';
import { schemaSource } from './schema-source.ts';

/** What all defaults of a schema may spend on its rules. */
const costMax = 10_000_000;

export function validateDefaults(
  schema: JsonObject,
  path: string,
  naming: NamingProfile,
  report: SchemaReport,
): void {
  validateWithin(schema, path, { naming, report, budget: new Budget(costMax) });
}

interface DefaultsContext {
  readonly naming: NamingProfile;
  readonly report: SchemaReport;
  readonly budget: Budget;
}

function validateWithin(schema: JsonObject, path: string, context: DefaultsContext): void {
  if (isSet(schema, 'default')) validateDefault(schema, `${path}.default`, context);
  const items = recordAt(schema, 'items');
  if (items !== undefined) validateWithin(items, `${path}.items`, context);
  for (const [name, property] of entriesAt(schema, 'properties')) {
    if (isObject(property)) validateWithin(property, `${path}.properties[${name}]`, context);
  }
  const additional = recordAt(schema, 'additionalProperties');
  if (additional !== undefined) validateWithin(additional, `${path}.additionalProperties`, context);
}

function validateDefault(schema: JsonObject, path: string, context: DefaultsContext): void {
  const given = valueAt(schema, 'default') ?? null;
  const info = loadSchema(schema, schemaSource(context.naming));
  if (hasUnknown(given, info)) {
    const detail = 'must not have unknown fields';
    context.report.of('prunedDefaults').invalid(path, given, detail);
  }
  const errors = valueErrors(info, given);
  context.report.errors.add(
    (errors.length > 0 ? errors : ruleErrors(info, given, context)).map(at(path)),
  );
}

/** Rules hold for a default as for a new value, and as for one that was there before. */
function ruleErrors(
  info: ValueInfo,
  given: JsonValue,
  context: DefaultsContext,
): readonly FieldError[] {
  const validate = createObjectValidator(info, { naming: context.naming });
  if (validate === undefined) return [];
  const { budget } = context;
  const { errors } = validate({ path: '', object: given, oldObject: given, budget });
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
