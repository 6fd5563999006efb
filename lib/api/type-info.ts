// The one description of a kind that drives JSON, Protobuf, CBOR, YAML, defaulting, validation,
// expressions, apply, OpenAPI and Table. Built-in kinds come from .proto files (load-proto.ts),
// custom resources from their schemas (load-schema.ts); both look the same here.
import type { MaybePromise } from '../base/maybe-promise.ts';

/**
 * JSON-shaped data of an object. Maps with user keys have a null prototype; integers beyond
 * 2^53 are bigint; fields of the form `rawExtension` hold a RawJson (raw-json.ts), which is an
 * object to those who do not ask.
 */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

export type ScalarType = 'string' | 'int32' | 'int64' | 'bool' | 'double' | 'bytes';

/** Messages whose JSON differs from their Protobuf shape. */
export type SpecialForm =
  | 'time'
  | 'microTime'
  | 'timestamp'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  | 'rawExtension'
  | 'fieldsV1'
  | 'json'
  | 'schemaOrList'
  | 'schemaOrBool'
  | 'schemaOrStrings';

/**
 * When JSON output leaves a field out: `never`, when it is empty, when it is the zero value, or
 * both.
 */
export type OmitRule = 'never' | 'empty' | 'zero' | 'emptyOrZero';

/** What one value is: that of a field, or of an element of a list or map. */
export interface ValueInfo {
  readonly cardinality: 'single' | 'list' | 'map';
  /** Scalar type, or undefined when `message` is set. For lists and maps the element's type. */
  readonly scalar: ScalarType | undefined;
  /** Message type, resolved once all types are loaded; for lists and maps the element's type. */
  readonly message: TypeInfo | undefined;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: 'atomic' | 'granular' | undefined;
  /** Of an open type: null is a value. Otherwise null means absence; in lists it always stays. */
  readonly nullable?: boolean;
  /**
   * Of an open type: what the elements of the list or map are. A single value has it where its
   * schema names no type, for the case that it is a list. `elementOf` knows it for all types.
   */
  readonly element?: ValueInfo;
  /** What else the schema of an open type says of the value. */
  readonly schema?: ValueSchema;
}

/**
 * What an OpenAPI schema says of a value beside its structure, in the schema's words. Numbers are
 * as written; lengths count code points. Empty lists stand for absent ones.
 */
export interface ValueSchema {
  /** JSON type: `array`, `boolean`, `integer`, `number`, `object`, `string`; '': none is named. */
  readonly type: string;
  readonly format: string;
  readonly title?: string;
  readonly description?: string;
  readonly externalDocs?: JsonValue;
  readonly example?: JsonValue;
  /** Never null: that says the same as none. */
  readonly default?: JsonValue;
  readonly enum: readonly JsonValue[];
  /** RE2, found anywhere in the text. */
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number | bigint;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number | bigint;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number | bigint;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required: readonly string[];
  /** Where it is no schema: whether there may be properties beside the declared ones. */
  readonly additionalProperties?: boolean;
  /** Fields that the schema does not know are kept, here and below. */
  readonly preservesUnknownFields?: boolean;
  readonly rules: readonly ValidationRule[];
  /** Conditions on the same value; they have no types of their own. */
  readonly allOf: readonly ValueInfo[];
  readonly anyOf: readonly ValueInfo[];
  readonly oneOf: readonly ValueInfo[];
  readonly not?: ValueInfo;
}

/** A rule of a schema, an expression over the value, as written. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string | undefined;
  readonly messageExpression: string | undefined;
  readonly reason: string | undefined;
  readonly fieldPath: string | undefined;
  readonly optionalOldSelf: boolean | undefined;
}

export interface FieldInfo extends ValueInfo {
  /** What the field is for, as OpenAPI shows it. */
  readonly description?: string;
  /**
   * JSON name; `''` for an inlined message (its fields are spread into this object); `'-'`
   * never in JSON.
   */
  readonly jsonName: string;
  readonly protoName: string;
  /** Protobuf number; 0 for JSON-only fields. */
  readonly number: number;
  /** Presence is tracked: absent differs from zero. */
  readonly pointer: boolean;
  /** Required in OpenAPI. */
  readonly required: boolean;
  readonly omit: OmitRule;
  /** What JSON output holds for an unset field; undefined: the field is left out. */
  readonly zero: JsonValue | undefined;
  readonly enumValues: readonly string[] | undefined;
  readonly patchStrategies: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey: string | undefined;
  readonly gates: readonly string[];
  /**
   * All options as written (defaults, declarative validation, unions …), for those who need
   * more than the above.
   */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface TypeInfo {
  /** Unique id as in the type tables: `core/v1.Pod`. */
  readonly id: string;
  /** Name without package: `Pod`. */
  readonly name: string;
  /** What objects of the type are for, as OpenAPI shows it. */
  readonly description?: string;
  /** Has kind and apiVersion of its own (top-level kinds, lists, options). */
  readonly hasTypeMeta: boolean;
  readonly special: SpecialForm | undefined;
  /** JSON is the one list field itself (Go named slices). */
  readonly isNamedList: boolean;
  /** Fields in JSON output order. */
  readonly fields: readonly FieldInfo[];
  /** By JSON name, inlined messages' fields included. */
  readonly fieldByJsonName: ReadonlyMap<string, FieldInfo>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly open?: OpenType;
}

/**
 * Of types whose schema is checked after reading (custom resources): values are kept as they are
 * given, also where their JSON type is not the declared one; `omit` and `zero` of fields mean
 * nothing. Messages that are not open keep their own rules inside (metadata). Absent: the fields
 * and their types are all there is, other types of values fail, unknown fields are dropped.
 */
export interface OpenType {
  /** `drop`: with a report, as everywhere. `keep`: as plain data, after the known fields. */
  readonly unknownFields: 'drop' | 'keep';
  /** What its schema says of an object of the type, wherever it stands; absent: nothing. */
  readonly schema?: ValueSchema;
  /**
   * Of whole resources: what the schema itself says of `apiVersion`, `kind` and `metadata`, by
   * name. They are read as those of every kind, and these are only conditions on them.
   */
  readonly typeMeta?: ReadonlyMap<string, FieldInfo>;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** `group/version`, or `version` in the core group: the text of `apiVersion`. */
export const apiVersionOf = (of: { readonly group: string; readonly version: string }): string =>
  of.group === '' ? of.version : `${of.group}/${of.version}`;

export type ResourceVerb =
  'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** The kinds of patches, each with a media type (or two) of its own. */
export type PatchName = 'json' | 'merge' | 'strategic' | 'apply';

export interface SubresourceInfo {
  readonly name: string;
  readonly kind: GroupVersionKind;
  readonly verbs: readonly string[];
}

export type NameRule =
  | 'dns1123Subdomain'
  | 'dns1123Label'
  | 'dns1035Label'
  | 'pathSegment'
  | 'any'
  | 'configMapKey'
  | 'csiDriver'
  | 'ipAddress'
  | 'pluralDotGroup'
  | 'versionDotGroup'
  | 'signerPrefix'
  | 'groupDotResource'
  | 'shortSubdomain';

/** Releases of a kind; `replacement` is `group/version/kind`. */
export interface Life {
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  readonly replacement?: string;
}

/**
 * What documents (discovery, OpenAPI) say of a kind that comes, changes and goes at run time,
 * beside its record. They name what is asked for here, never `type` of the record: a type costs
 * many times its schema, and thousands of kinds are listed that nobody asks about.
 */
export interface PublishedKind {
  /** Whether documents name the kind; what is served may not be told yet. */
  readonly isListed: boolean;
  /** What discovery lists in place of the record's verbs: a kind that goes takes nothing more. */
  readonly listedVerbs?: readonly ResourceVerb[];
  /**
   * The same text for the same schema on every replica: documents are known to be the same before
   * they are made. Absent: it is found out by making them.
   */
  readonly schemaHash?: string;
  /** For one use; undefined: the schema is not one that documents show. */
  readonly typeOnce: () => MaybePromise<TypeInfo | undefined>;
}

/** The value of a selectable field as text; '' for none. */
export type FieldReader = (object: Readonly<JsonObject>) => string;

/** One served resource in one version: what api-facts' resources table says of it. Data only. */
export interface ResourceInfo {
  readonly group: string;
  readonly version: string;
  /** Plural, lower case: the path segment. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: GroupVersionKind;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly ResourceVerb[];
  readonly subresources: readonly SubresourceInfo[];
  /** Create-only reviews and bindings: no stored object. */
  readonly virtual: boolean;
  readonly type: TypeInfo;
  /** `group/version` in which the object is stored. */
  readonly storageVersion: string;
  readonly storageVersionHash: string;
  /** Path below the etcd prefix: `pods`, `minions`, `services/specs`. */
  readonly storagePrefix: string;
  /** Selectable fields, `metadata.name` and `metadata.namespace` included where they apply. */
  readonly fieldSelectors: readonly string[];
  readonly nameRule: NameRule;
  /** PUT on an absent object creates it. */
  readonly createOnUpdate: boolean;
  /** PUT without resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean;
  /** Patches of the resource and of its subresources; absent: every kind of them. */
  readonly patches?: readonly PatchName[];
  /**
   * Bodies have to say what they hold, and one of another kind is an invalid object (422); entries
   * of lists say it, too. Absent: what bodies leave out is the path's, another kind cannot be read
   * (400), and lists say what their entries are.
   */
  readonly namesItself?: boolean;
  /**
   * Its schema changes while objects are stored: that another one wrote what is stored is no reason
   * to write it again.
   */
  readonly hasLiveSchema?: boolean;
  /** Kinds whose metadata.generation the server keeps. */
  readonly hasGeneration: boolean;
  /**
   * Fields that writes of the main resource / of a subresource leave as they are, for example
   * `['status']`.
   */
  readonly resetMain: readonly string[];
  readonly resetBySubresource: Readonly<Record<string, readonly string[]>>;
  /**
   * The only fields that writes of a subresource change, where it is for those alone; `[*]` stands
   * for each element of a list: `['spec.containers[*].resources']`.
   */
  readonly writableBySubresource?: Readonly<Record<string, readonly string[]>>;
  /** When the kind came and goes; absent where it is not known (custom resources). */
  readonly life?: Life;
  /** Selectable fields whose value is not simply what stands at their path, by path. */
  readonly fieldReaders?: Readonly<Record<string, FieldReader>>;
  /** Absent: the kind is one of the release. */
  readonly published?: PublishedKind;
  /** What decides the kind's defaults beside its type (`Defaults.versionOf`). */
  readonly defaultsVersion?: string;
  /**
   * What decides the stored bytes of the resource, where that is known without its type, which may
   * then be made at first use.
   */
  readonly fingerprint?: string;
}
