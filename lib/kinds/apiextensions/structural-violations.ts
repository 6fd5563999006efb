// What keeps the schemas of a definition from being structural, each at its own version: what the
// condition of the definition tells. A pure function of the definition.
import { flagAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { FieldError } from '../../base/status.ts';
import type { Steps } from '../../base/steps.ts';
import type { Holder } from '../validator.ts';
import { schemaOf } from './definition-parts.ts';
import { surveySchema } from './schema-survey.ts';
import { structuralErrors } from './structural-rules.ts';

export interface StructuralViolations {
  /** At `spec.versions[i].schema.openAPIV3Schema…`, whatever versions have in common. */
  readonly errors: readonly FieldError[];
  /** The first version whose schema cannot be read as structure at all, and why not. */
  readonly unreadable?: { readonly version: string; readonly problem: string };
}

/** `definition` in the stable version. No errors, nothing unreadable: all is structural. */
export function* structuralViolationSteps(
  definition: Holder,
  naming: NamingProfile,
): Steps<StructuralViolations> {
  const prefix = naming.schemaExtensionPrefix;
  const spec = recordAt(definition, 'spec');
  const errors = new FieldErrors();
  if (flagAt(spec, 'preserveUnknownFields')) {
    errors.invalid('spec.preserveUnknownFields', true, 'must be false');
  }
  for (const [at, version] of recordsAt(spec, 'versions').entries()) {
    const schema = schemaOf(version);
    if (schema === undefined) continue;
    const { unreadable: word } = yield* surveySchema(schema, prefix);
    if (word !== undefined) {
      const problem = unreadableText(word);
      return { errors: errors.list, unreadable: { version: textAt(version, 'name'), problem } };
    }
    const path = `spec.versions[${String(at)}].schema.openAPIV3Schema`;
    errors.add(yield* structuralErrors(schema, path, prefix));
  }
  return { errors: errors.list };
}

/** Whether a schema by itself is structural. `prefix`: of the product's own words. */
export function* isStructural(schema: JsonObject, prefix: string): Steps<boolean> {
  const { unreadable } = yield* surveySchema(schema, prefix);
  return unreadable === undefined && (yield* structuralErrors(schema, '', prefix)).length === 0;
}

/** Why a schema with this word is not read. */
export const unreadableText = (word: string): string =>
  `OpenAPIV3Schema '${word}' is not supported`;
