// All that one built-in kind adds to its description in the .proto files, as one record. A member
// that is absent means that the description says it all.
import type { TableColumns } from '../api/type-info.ts';
import type { Conversions } from '../api/convert-fields.ts';
import type { DefaultRules } from '../api/default-rule.ts';
import type { FieldReader, GroupVersionKind, JsonObject } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { HeldRulesOf, RulesOfRole } from './rbac/held-rules.ts';
import type { ResourceStrategy } from './strategy.ts';
import type { Validator, ValidatorInSteps, Warnings } from './validator.ts';

export interface KindOptions {
  readonly naming: NamingProfile;
  /** `--event-ttl`. */
  readonly eventTtlSeconds: number;
  /** As the store itself has them; absent: no namespace is known. */
  readonly labelsOfNamespace?: LabelsOfNamespace | undefined;
  /** By roles and bindings of this replica's memory; absent: nobody holds anything. */
  readonly heldRulesOf?: HeldRulesOf | undefined;
  /** Absent: there are no roles. */
  readonly rulesOfRole?: RulesOfRole | undefined;
  /** Absent: none is known. */
  readonly paramKinds?: ParamKinds | undefined;
}

/** What is known of the parameters of admission policies. */
export interface ParamKinds {
  /** Plural name of what is served as the kind; undefined: nothing is. */
  resourceOf(kind: GroupVersionKind): string | undefined;
  /** `spec.paramKind` of a policy as the store itself has it, by plural name of its kind. */
  paramKindOf(
    policies: string,
    name: string,
    signal: AbortSignal,
  ): Promise<Readonly<JsonObject> | undefined>;
}

export type LabelsOfNamespace = (
  name: string,
  signal: AbortSignal,
) => Promise<Readonly<JsonObject> | undefined>;

export interface Kind {
  /** Folder of its .proto files and name, which all of its versions share: `core/Pod`. */
  readonly name: string;
  /** What Tables show; absent: name and time of creation. */
  readonly columns?: TableColumns | ((naming: NamingProfile) => TableColumns);
  /** Defaults that depend on other fields, by type: of the kind itself and of its parts. */
  readonly defaults?: DefaultRules;
  /** Conversions of versions whose fields differ. */
  readonly conversions?: Conversions;
  /** Annotations that stand for fields of other versions: metadata by itself is without them. */
  readonly fieldAnnotations?: (naming: NamingProfile) => readonly string[];
  /** Selectable fields whose value is not simply what stands at their path, by path. */
  readonly fieldReaders?: Readonly<Record<string, FieldReader>>;
  /** How writes and deletions of the kind differ from those of others. */
  readonly strategy?: ResourceStrategy | ((options: KindOptions) => ResourceStrategy);
  /** Rules that are no option of a field. */
  readonly validate?: Validator;
  /** In place of `validate` and `warnings`, for objects that take longer than a turn. */
  readonly validateInSteps?: ValidatorInSteps;
  /** `validate` has all rules: those in options of fields only describe. */
  readonly rulesByHand?: boolean;
  /** Rules that are options of fields, too (gate DeclarativeValidation). */
  readonly validateMigrated?: Validator;
  /** What is valid and yet unwise: not asked for writes of the status. */
  readonly warnings?: Warnings;
  /** The same for writes of the status. */
  readonly statusWarnings?: Warnings;
}
