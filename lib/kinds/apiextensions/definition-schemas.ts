// The schema of one version, or of all: the words of each node, the structural form, defaults,
// rules. An update need not mend what was stored.
import { flagAt, recordsAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { resourceSchemaSteps } from '../../api/load-schema.ts';
import type { JsonObject, ValueInfo } from '../../api/type-info.ts';
import { valueOf } from '../../api/value-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { FieldError } from '../../base/status.ts';
import type { Steps } from '../../base/steps.ts';
import { schemaOf } from './definition-parts.ts';
import { hasMember, schemaMembers, shownSchema } from './internal-form.ts';
import { validateDefaults } from './schema-defaults.ts';
import { RuleJudge } from './schema-expressions.ts';
import { SchemaReport } from './schema-report.ts';
import type { LenientRule } from './schema-report.ts';
import { schemaSource } from './schema-source.ts';
import { surveySchema } from './schema-survey.ts';
import type { SchemaSurvey } from './schema-survey.ts';
import { rootPlace, validateNode } from './schema-words.ts';
import { structuralErrors } from './structural-rules.ts';
import { unreadableText } from './structural-violations.ts';

/** Schemas of one write: of the definition and of the stored one. */
export class DefinitionSchemas {
  readonly naming: NamingProfile;
  readonly #spec: JsonObject;
  readonly #before: JsonObject | undefined;
  readonly #celVersion: number | undefined;
  readonly #surveys = new Map<JsonObject, SchemaSurvey>();
  readonly #values = new Map<JsonObject, ValueInfo>();
  #kept: ReadonlySet<LenientRule> | undefined;

  /** `celVersion`: minor of the version that new expressions may use; absent: the default. */
  constructor(of: {
    readonly naming: NamingProfile;
    readonly spec: JsonObject;
    readonly before: JsonObject | undefined;
    readonly celVersion?: number | undefined;
  }) {
    this.naming = of.naming;
    this.#spec = of.spec;
    this.#before = of.before;
    this.#celVersion = of.celVersion;
  }

  *survey(schema: JsonObject): Steps<SchemaSurvey> {
    const known = this.#surveys.get(schema);
    if (known !== undefined) return known;
    const made = yield* surveySchema(schema, this.naming.schemaExtensionPrefix);
    this.#surveys.set(schema, made);
    return made;
  }

  /** What some schema of the definition has; `before`: of the stored one. */
  *some(has: (survey: SchemaSurvey) => boolean): Steps<boolean> {
    for (const schema of schemasOf(this.#spec)) if (has(yield* this.survey(schema))) return true;
    return false;
  }

  /** What the values of a version are. */
  *value(schema: JsonObject): Steps<ValueInfo> {
    const known = this.#values.get(schema);
    if (known !== undefined) return known;
    const made = valueOf(yield* resourceSchemaSteps(schema, schemaSource(this.naming)));
    this.#values.set(schema, made);
    return made;
  }

  /** `hasStatus`: some version that has the schema has the status subresource. */
  *errors(
    schema: JsonObject,
    path: string,
    of: { readonly hasStatus: boolean; readonly version: string },
  ): Steps<readonly FieldError[]> {
    const first = yield* this.#report(schema, path, of, new Set());
    if (first.broken.size === 0 || this.#before === undefined) return allOf(first);
    const kept = yield* this.#keptRules(this.#before);
    if (![...kept].some((rule) => first.broken.has(rule))) return allOf(first);
    return allOf(yield* this.#report(schema, path, of, kept));
  }

  /** Formats of the definition that nobody checks, without those of the stored one. */
  *newFormats(): Steps<readonly string[]> {
    const known = new Set<string>();
    for (const schema of schemasOf(this.#before)) {
      for (const format of (yield* this.survey(schema)).unknownFormats) known.add(format);
    }
    const found = new Set<string>();
    for (const schema of schemasOf(this.#spec)) {
      for (const format of (yield* this.survey(schema)).unknownFormats) {
        if (!known.has(format)) found.add(format);
      }
    }
    return [...found];
  }

  *#report(
    schema: JsonObject,
    path: string,
    of: { readonly hasStatus: boolean; readonly version: string },
    kept: ReadonlySet<LenientRule>,
  ): Steps<SchemaReport> {
    const prefix = this.naming.schemaExtensionPrefix;
    const report = new SchemaReport(kept);
    const { errors } = report;
    if (of.hasStatus) validateRootWords(schema, path, prefix, report);
    if (flagAt(schema, 'nullable')) {
      errors.forbidden(`${path}.nullable`, 'nullable cannot be true at the root');
    }
    const { unreadable } = yield* this.survey(schema);
    const value = unreadable === undefined ? yield* this.value(schema) : undefined;
    const isWhole = yield* this.#validateForm({ schema, path, value }, report);
    const judge = isWhole ? yield* this.#ruleJudge(schema, of.version, report) : undefined;
    const judgeRules = judge && ((node: Parameters<RuleJudge['judge']>[0]) => judge.judge(node));
    yield* validateNode(schema, path, rootPlace(value), { report, prefix, judgeRules });
    if (unreadable !== undefined && allOf(report).length === 0) {
      report.of('structure').invalid(path, '', unreadableText(unreadable));
    }
    judge?.judgeTotal(path);
    return report;
  }

  /** Whether the schema is structural and its defaults are right, so that rules can be judged. */
  *#validateForm(
    node: {
      readonly schema: JsonObject;
      readonly path: string;
      readonly value: ValueInfo | undefined;
    },
    report: SchemaReport,
  ): Steps<boolean> {
    const { schema, path, value } = node;
    if (value === undefined) return false;
    const wrong = yield* structuralErrors(schema, path, this.naming.schemaExtensionPrefix);
    if (wrong.length > 0) {
      report.of('structure').add(wrong);
      return false;
    }
    const before = report.errors.list.length;
    if ((yield* this.survey(schema)).hasDefaults) {
      yield* validateDefaults(node, this.naming, report);
    }
    return report.errors.list.length === before;
  }

  *#ruleJudge(schema: JsonObject, version: string, report: SchemaReport): Steps<RuleJudge> {
    const rules = new Set<string>();
    const messages = new Set<string>();
    let isStored = false;
    for (const one of recordsAt(this.#before, 'versions')) {
      const known = schemaOf(one);
      if (known === undefined) continue;
      const survey = yield* this.survey(known);
      for (const rule of survey.rules) rules.add(rule);
      for (const message of survey.messages) messages.add(message);
      isStored ||= textAt(one, 'name') === version && sameJson(known, schema);
    }
    return new RuleJudge({
      ...{ naming: this.naming, errors: report.expressions, stored: { rules, messages }, isStored },
      version: this.#celVersion,
    });
  }

  /** Rules that the stored definition breaks, and this one may go on breaking. */
  *#keptRules(before: JsonObject): Steps<ReadonlySet<LenientRule>> {
    if (this.#kept !== undefined) return this.#kept;
    const kept = new Set<LenientRule>();
    const { naming } = this;
    const prefix = naming.schemaExtensionPrefix;
    for (const schema of schemasOf(before)) {
      const report = new SchemaReport(new Set());
      const { unreadable } = yield* this.survey(schema);
      const value = unreadable === undefined ? yield* this.value(schema) : undefined;
      if (value === undefined) report.of('structure');
      yield* this.#validateForm({ schema, path: '', value }, report);
      yield* validateNode(schema, '', rootPlace(undefined), { report, prefix });
      for (const rule of report.broken) kept.add(rule);
    }
    // New words that only structural schemas may have ask for all of the structure.
    if (yield* this.needsStructure()) kept.delete('structure');
    this.#kept = kept;
    return kept;
  }

  /** Whether schemas have to be structural, whatever the stored ones are. */
  *needsStructure(): Steps<boolean> {
    if (!flagAt(this.#spec, 'preserveUnknownFields')) return true;
    return yield* this.some(({ hasDefaults, hasOwnWords }) => hasDefaults || hasOwnWords);
  }
}

const schemasOf = (spec: JsonObject | undefined): readonly JsonObject[] =>
  recordsAt(spec, 'versions')
    .map(schemaOf)
    .filter((schema) => schema !== undefined);

const allOf = ({ errors, expressions }: SchemaReport): readonly FieldError[] => [
  ...errors.list,
  ...expressions.list,
];

/** Beside the status subresource the status is validated by its own schema alone. */
const rootWords = new Set([
  ...['Description', 'Type', 'Format', 'Title', 'Maximum', 'ExclusiveMaximum', 'Minimum'],
  ...['ExclusiveMinimum', 'MaxLength', 'MinLength', 'Pattern', 'MaxItems', 'MinItems'],
  ...['UniqueItems', 'MultipleOf', 'Required', 'Items', 'Properties', 'ExternalDocs', 'Example'],
  ...['XPreserveUnknownFields', 'XValidations'],
]);

/** Tells of the first word that is wrong. */
function validateRootWords(
  schema: JsonObject,
  path: string,
  prefix: string,
  { errors }: SchemaReport,
): void {
  const place = 'at the root of the schema if the status subresource is enabled';
  for (const member of schemaMembers) {
    if (!hasMember(schema, member, prefix)) continue;
    if (!rootWords.has(member.shown)) {
      const detail = `only [${[...rootWords].join(' ')}] fields are allowed ${place}`;
      errors.invalid(path, shownSchema(schema, prefix), detail);
      return;
    }
    const type = textAt(schema, 'type');
    if (member.shown === 'Type' && type !== 'object') {
      const detail = `only "object" is allowed as the type ${place}`;
      errors.invalid(`${path}.type`, type, detail);
      return;
    }
  }
}
