// Defaults in a schema are values that it takes: nothing unknown, valid, and right by its rules.
import { entriesAt, isSet, recordAt, valueAt } from '../../api/json-access.ts';
import { isObject } from '../../api/json-value.ts';
import { valueErrors } from '../../api/open-validation.ts';
import type { JsonObject, JsonValue, ValueInfo } from '../../api/type-info.ts';
import { isEmbedded } from '../../api/embedded-resources.ts';
import { elementOf, memberOf } from '../../api/value-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { FieldError } from '../../base/status.ts';
import type { Steps } from '../../base/steps.ts';
import { Budget } from '../../cel/use/budget.ts';
import { createObjectValidator, valuesWithRules } from '../../cel/use/object-validator.ts';
import { DefaultMetadata, itemStep } from './default-metadata.ts';
import type { InMetadata } from './default-metadata.ts';
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
  if (value === undefined) return;
  const reaching = valuesWithRules(value);
  const metadata = new DefaultMetadata(value, naming);
  const budget = new Budget(costMax);
  yield* validateWithin(node, { naming, report, budget, reaching, metadata });
}

export interface SchemaNode {
  readonly schema: JsonObject;
  readonly path: string;
  readonly value: ValueInfo | undefined;
  /** Where the node is in the metadata of an embedded resource; absent: in none. */
  readonly inMetadata?: InMetadata | undefined;
}

interface DefaultsContext {
  readonly naming: NamingProfile;
  readonly report: SchemaReport;
  readonly budget: Budget;
  readonly reaching: ReadonlySet<ValueInfo>;
  readonly metadata: DefaultMetadata;
}

function* validateWithin(node: SchemaNode, context: DefaultsContext): Steps<void> {
  const { schema, path, value } = node;
  yield;
  if (context.report.isFull || value === undefined) return;
  if (isSet(schema, 'default')) yield* validateDefault(node, value, context);
  const items = recordAt(schema, 'items');
  const element = elementOf(value);
  if (items !== undefined) {
    const inMetadata = below(node, value, itemStep);
    const at = { schema: items, path: `${path}.items`, value: element, inMetadata };
    yield* validateWithin(at, context);
  }
  for (const [name, property] of entriesAt(schema, 'properties')) {
    if (!isObject(property)) continue;
    const inMetadata = below(node, value, name);
    const at = { schema: property, path: `${path}.properties[${name}]`, inMetadata };
    yield* validateWithin({ ...at, value: memberOf(value, name) }, context);
  }
  const additional = recordAt(schema, 'additionalProperties');
  if (additional === undefined) return;
  const at = `${path}.additionalProperties`;
  yield* validateWithin({ schema: additional, path: at, value: element }, context);
}

/** Where a child of a node is in metadata. */
function below({ inMetadata }: SchemaNode, value: ValueInfo, step: string): InMetadata | undefined {
  if (inMetadata !== undefined) return { ...inMetadata, steps: [...inMetadata.steps, step] };
  return step === 'metadata' && isEmbedded(value) ? { resource: value, steps: [] } : undefined;
}

function* validateDefault(
  { schema, path: of, inMetadata }: SchemaNode,
  value: ValueInfo,
  context: DefaultsContext,
): Steps<void> {
  const { report, metadata } = context;
  const path = `${of}.default`;
  const given = valueAt(schema, 'default') ?? null;
  if (inMetadata === undefined && hasUnknown(given, value)) {
    const detail = 'must not have unknown fields';
    report.of('prunedDefaults').invalid(path, given, detail);
  }
  yield;
  if (inMetadata === undefined) {
    const wrong = metadata.errors(value, given, path);
    report.errors.add(wrong);
    if (wrong.length > 0) return;
  } else {
    const problem = metadata.problem(inMetadata, given);
    if (problem !== undefined) {
      report.errors.invalid(path, given, `must result in valid metadata: ${problem}`);
      return;
    }
  }
  const errors = valueErrors(value, given);
  const found = errors.length > 0 ? errors : yield* ruleErrors(value, given, context);
  report.errors.add(found.map(at(path)));
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
    if (open?.typeMeta !== undefined && resourceMembers.includes(name)) return false;
    const member = memberOf(info, name);
    if (member !== undefined) return hasUnknown(value[name] ?? null, member);
    return open?.unknownFields === 'drop';
  });
}

const resourceMembers = ['apiVersion', 'kind', 'metadata'];
