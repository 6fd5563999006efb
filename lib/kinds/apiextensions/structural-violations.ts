// What keeps the schemas of a definition from being structural, each at its own version: what the
// condition of the definition tells. A pure function of the definition.
import { flagAt, recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { FieldError } from '../../base/status.ts';
import type { Holder } from '../validator.ts';
import { structuralErrors, unreadableWord } from './structural-rules.ts';

export interface StructuralViolations {
  /** At `spec.versions[i].schema.openAPIV3Schema…`, whatever versions have in common. */
  readonly errors: readonly FieldError[];
  /** The first version whose schema cannot be read as structure at all, and why not. */
  readonly unreadable?: { readonly version: string; readonly problem: string };
}

/** `definition` in the stable version. No errors, nothing unreadable: all schemas are structural. */
export function structuralViolations(
  definition: Holder,
  naming: NamingProfile,
): StructuralViolations {
  const spec = recordAt(definition, 'spec');
  const errors = new FieldErrors();
  if (flagAt(spec, 'preserveUnknownFields')) {
    errors.invalid('spec.preserveUnknownFields', true, 'must be false');
  }
  for (const [at, version] of recordsAt(spec, 'versions').entries()) {
    const schema = recordIn(version, 'schema', 'openAPIV3Schema');
    if (schema === undefined) continue;
    const word = unreadableWord(schema);
    if (word !== undefined) {
      const problem = unreadableText(word);
      return { errors: errors.list, unreadable: { version: textAt(version, 'name'), problem } };
    }
    const path = `spec.versions[${String(at)}].schema.openAPIV3Schema`;
    errors.add(structuralErrors(schema, path, naming.schemaExtensionPrefix));
  }
  return { errors: errors.list };
}

/** Why a schema with this word is not read. */
export const unreadableText = (word: string): string =>
  `OpenAPIV3Schema '${word}' is not supported`;
