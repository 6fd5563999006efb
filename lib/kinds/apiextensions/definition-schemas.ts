// Schemas of a definition: the words of each node, the structural form, defaults, rules. An update
// need not mend what was stored.
import {
  flagAt,
  isSet,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ValidatedWrite } from '../validator.ts';
import { validateDefaults } from './schema-defaults.ts';
import { validateExpressions } from './schema-expressions.ts';
import { nodesOf } from './schema-formats.ts';
import { SchemaReport } from './schema-report.ts';
import type { LenientRule } from './schema-report.ts';
import { rootPlace, validateNode } from './schema-words.ts';
import { structuralErrors, unreadableWord } from './structural-rules.ts';
import { unreadableText } from './structural-violations.ts';
import { partsOf } from './version-parts.ts';

export function validateSchemas(spec: JsonObject, { errors, old, naming }: ValidatedWrite): void {
  const before = recordAt(old, 'spec');
  if (before !== undefined && sameJson(spec['versions'], before['versions'])) return;
  const report = reportOf(spec, before, new Set(), naming);
  if (before === undefined || report.broken.size === 0) {
    errors.add(report.errors.list);
    return;
  }
  const kept = reportOf(before, undefined, new Set(), naming).broken;
  errors.add(reportOf(spec, before, kept, naming).errors.list);
}

function reportOf(
  spec: JsonObject,
  before: JsonObject | undefined,
  kept: ReadonlySet<LenientRule>,
  naming: NamingProfile,
): SchemaReport {
  const report = new SchemaReport(kept);
  for (const { version, path } of partsOf(spec, 'schema')) {
    const schema = recordIn(version, 'schema', 'openAPIV3Schema');
    if (schema === undefined) continue;
    const hasStatus = recordsAt(spec, 'versions').some(
      (one) =>
        isSet(recordAt(one, 'subresources'), 'status') &&
        (path.startsWith('spec.validation') || one === version),
    );
    const isStructural = !flagAt(spec, 'preserveUnknownFields');
    const options = { naming, hasStatus, isStructural, before, version };
    validateSchema(schema, `${path}.openAPIV3Schema`, options, report);
  }
  return report;
}

interface SchemaOptions {
  readonly naming: NamingProfile;
  readonly hasStatus: boolean;
  readonly isStructural: boolean;
  readonly before: JsonObject | undefined;
  readonly version: JsonObject;
}

function validateSchema(
  schema: JsonObject,
  path: string,
  options: SchemaOptions,
  report: SchemaReport,
): void {
  const { errors } = report;
  const { naming } = options;
  const prefix = naming.schemaExtensionPrefix;
  const start = errors.list.length;
  if (options.hasStatus) validateRootWords(schema, path, prefix, report);
  if (flagAt(schema, 'nullable')) {
    errors.forbidden(`${path}.nullable`, 'nullable cannot be true at the root');
  }
  const unreadable = options.isStructural ? unreadableWord(schema) : undefined;
  let hasForm = options.isStructural && unreadable === undefined;
  if (hasForm) {
    const count = errors.list.length;
    errors.add(structuralErrors(schema, path, prefix));
    if (errors.list.length === count) validateDefaults(schema, path, naming, report);
    hasForm = errors.list.length === count;
  }
  validateNode(schema, path, rootPlace, { report, prefix });
  if (errors.list.length === start && unreadable !== undefined) {
    errors.invalid(path, '', unreadableText(unreadable));
  }
  if (!hasForm) return;
  const wrong = errors.list.slice(start).map(({ field }) => field);
  validateExpressions(schema, path, { naming, errors, wrong, ...storedRules(options, schema) });
}

/** Expressions that the stored definition has, and whether the version's schema is unchanged. */
function storedRules(
  { before, version, naming }: SchemaOptions,
  schema: JsonObject,
): { readonly stored: ReadonlySet<string>; readonly isStored: boolean } {
  const stored = new Set<string>();
  let isStored = false;
  for (const one of recordsAt(before, 'versions')) {
    const known = recordIn(one, 'schema', 'openAPIV3Schema');
    if (known === undefined) continue;
    isStored ||= textAt(one, 'name') === textAt(version, 'name') && sameJson(known, schema);
    for (const node of nodesOf(known)) {
      for (const rule of recordsAt(node, `${naming.schemaExtensionPrefix}validations`)) {
        stored.add(textAt(rule, 'rule'));
      }
    }
  }
  return { stored, isStored };
}

/** Beside the status subresource the status is validated by its own schema alone. */
const rootWords: readonly (readonly [word: string, shown: string])[] = [
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
];

function validateRootWords(
  schema: JsonObject,
  path: string,
  prefix: string,
  { errors }: SchemaReport,
): void {
  const place = 'at the root of the schema if the status subresource is enabled';
  const type = textAt(schema, 'type');
  if (type !== '' && type !== 'object') {
    const detail = `only "object" is allowed as the type ${place}`;
    errors.invalid(`${path}.type`, type, detail);
    return;
  }
  const own = ['preserve-unknown-fields', 'validations'].map((word) => prefix + word);
  const known = new Set([...rootWords.map(([word]) => word), ...own]);
  const other = Object.keys(schema).find((word) => !known.has(word) && valueAt(schema, word));
  if (other === undefined) return;
  const words = [...rootWords.map(([, shown]) => shown), 'XPreserveUnknownFields', 'XValidations'];
  const detail = `only [${words.join(' ')}] fields are allowed ${place}`;
  errors.invalid(path, schema, detail);
}
