// Parts of a custom resource definition in the stable version, as its readers ask for them: its
// names, its storage version, the schema of a version. What is absent reads as empty.
import { flagAt, recordAt, recordIn, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder } from '../validator.ts';

export interface DefinitionNames {
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly kind: string;
  readonly listKind: string;
  readonly categories: readonly string[];
}

/** `names`: `spec.names`, those that are wished for, or what `acceptedNamesOf` gives. */
export const namesOf = (names: Holder): DefinitionNames => ({
  plural: textAt(names, 'plural'),
  singular: textAt(names, 'singular'),
  shortNames: textsAt(names, 'shortNames'),
  kind: textAt(names, 'kind'),
  listKind: textAt(names, 'listKind'),
  categories: textsAt(names, 'categories'),
});

/** undefined: none yet. */
export const acceptedNamesOf = (definition: Holder): JsonObject | undefined =>
  recordIn(definition, 'status', 'acceptedNames');

/** The version that is marked for storage; empty: none is. */
export const storageVersionOf = (spec: Holder): string =>
  textAt(
    recordsAt(spec, 'versions').find((version) => flagAt(version, 'storage')),
    'name',
  );

/** Versions that objects may lie in. */
export const storedVersionsOf = (definition: Holder): readonly string[] =>
  textsAt(recordAt(definition, 'status'), 'storedVersions');

/** The schema of a version, as it is written; undefined: there is none. */
export const schemaOf = (version: Holder): JsonObject | undefined =>
  recordIn(version, 'schema', 'openAPIV3Schema');
