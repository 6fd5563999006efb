// Definitions as failures show them: JSON of the form that clients know from the texts of
// Kubernetes, all members by their capitalised names, in declared order, absent ones as null or
// zero. It is much longer than what was written, so that large values are not shown.
import { isObject } from '../../api/json-value.ts';
import { isAbsent, isZero } from '../../api/presence.ts';
import { flagAt, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import { isShared } from './version-parts.ts';

type Value = JsonValue | undefined;

interface Showing {
  /** Of the product's own words: `x-…-`. */
  readonly prefix: string;
  /** Nodes of schemas that may still be shown. */
  nodeCount: number;
}

type Show = (value: Value, showing: Showing) => JsonValue;

const orNull: Show = (value) => value ?? null;
const text: Show = (value) => value ?? '';
const flag: Show = (value) => value ?? false;

const schema: Show = (value, showing) => {
  if (!isObject(value)) return null;
  showing.nodeCount -= 1;
  if (showing.nodeCount < 0) return '…';
  return Object.fromEntries(
    schemaMembers.map(({ shown, word, show, isOwn }) => {
      const name = isOwn ? showing.prefix + word : word;
      return [shown, show(valueAt(value, name), showing)];
    }),
  );
};

const schemas: Show = (value, showing) =>
  Array.isArray(value)
    ? value.slice(0, showing.nodeCount + 1).map((one) => schema(one, showing))
    : null;
const schemaMap: Show = (value, showing) => {
  if (!isObject(value)) return null;
  const shown = Object.keys(value)
    .sort()
    .slice(0, showing.nodeCount + 1);
  return Object.fromEntries(shown.map((key) => [key, schema(value[key], showing)]));
};
const schemaOrList: Show = (value, showing) =>
  isAbsent(value)
    ? null
    : {
        Schema: isObject(value) ? schema(value, showing) : null,
        JSONSchemas: schemas(value, showing),
      };
const schemaOrFlag: Show = (value, showing) =>
  isAbsent(value) ? null : { Allows: value !== false, Schema: schema(value, showing) };
const documentation: Show = (value) =>
  isObject(value) ? { Description: textAt(value, 'description'), URL: textAt(value, 'url') } : null;
const dependencies: Show = (value, showing) =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, one]) => [
          key,
          { Schema: schema(one, showing), Property: Array.isArray(one) ? one : null },
        ]),
      )
    : null;

const rules: Show = (value) => (Array.isArray(value) ? value.map(shownRule) : null);

/** A rule of a schema. */
export function shownRule(rule: Value): JsonValue {
  const given = isObject(rule) ? rule : {};
  return {
    Rule: textAt(given, 'rule'),
    Message: textAt(given, 'message'),
    MessageExpression: textAt(given, 'messageExpression'),
    Reason: valueAt(given, 'reason') ?? null,
    FieldPath: textAt(given, 'fieldPath'),
    OptionalOldSelf: valueAt(given, 'optionalOldSelf') ?? null,
  };
}

/** A member of a schema. */
export interface SchemaMember {
  readonly shown: string;
  /** Its name; that of a word of the product's own follows the prefix. */
  readonly word: string;
  readonly isOwn: boolean;
  readonly show: Show;
}

const member = (shown: string, word: string, show: Show = orNull): SchemaMember => ({
  ...{ shown, word, show, isOwn: false },
});
const own = (shown: string, word: string, show: Show = orNull): SchemaMember => ({
  ...{ shown, word, show, isOwn: true },
});

/** In declared order. */
export const schemaMembers: readonly SchemaMember[] = [
  member('ID', 'id', text),
  member('Schema', '$schema', text),
  member('Ref', '$ref'),
  member('Description', 'description', text),
  member('Type', 'type', text),
  member('Nullable', 'nullable', flag),
  member('Format', 'format', text),
  member('Title', 'title', text),
  member('Default', 'default'),
  member('Maximum', 'maximum'),
  member('ExclusiveMaximum', 'exclusiveMaximum', flag),
  member('Minimum', 'minimum'),
  member('ExclusiveMinimum', 'exclusiveMinimum', flag),
  member('MaxLength', 'maxLength'),
  member('MinLength', 'minLength'),
  member('Pattern', 'pattern', text),
  member('MaxItems', 'maxItems'),
  member('MinItems', 'minItems'),
  member('UniqueItems', 'uniqueItems', flag),
  member('MultipleOf', 'multipleOf'),
  member('Enum', 'enum'),
  member('MaxProperties', 'maxProperties'),
  member('MinProperties', 'minProperties'),
  member('Required', 'required'),
  member('Items', 'items', schemaOrList),
  member('AllOf', 'allOf', schemas),
  member('OneOf', 'oneOf', schemas),
  member('AnyOf', 'anyOf', schemas),
  member('Not', 'not', schema),
  member('Properties', 'properties', schemaMap),
  member('AdditionalProperties', 'additionalProperties', schemaOrFlag),
  member('PatternProperties', 'patternProperties', schemaMap),
  member('Dependencies', 'dependencies', dependencies),
  member('AdditionalItems', 'additionalItems', schemaOrFlag),
  member('Definitions', 'definitions', schemaMap),
  member('ExternalDocs', 'externalDocs', documentation),
  member('Example', 'example'),
  own('XPreserveUnknownFields', 'preserve-unknown-fields'),
  own('XEmbeddedResource', 'embedded-resource', flag),
  own('XIntOrString', 'int-or-string', flag),
  own('XListMapKeys', 'list-map-keys'),
  own('XListType', 'list-type'),
  own('XMapType', 'map-type'),
  own('XValidations', 'validations', rules),
];

/** Whether a schema has the member: texts and flags are there unless they are empty. */
export function hasMember(
  given: JsonObject,
  { word, isOwn, show }: SchemaMember,
  prefix: string,
): boolean {
  const value = valueAt(given, isOwn ? prefix + word : word);
  return show === text || show === flag ? !isZero(value) : value !== undefined;
}

const showingOf = (prefix: string): Showing => ({ prefix, nodeCount: limits.shownSchemaNodesMax });

/** A schema; of a large one, the beginning. */
export const shownSchema = (given: JsonObject, prefix: string): JsonValue =>
  schema(given, showingOf(prefix));

/** `items` of a schema. */
export const shownItems = (given: Value, prefix: string): JsonValue =>
  schemaOrList(given, showingOf(prefix));

/** `spec.versions`: what all have in common is shown nowhere. */
export function shownVersions(spec: JsonObject, prefix: string): JsonValue {
  const showing = showingOf(prefix);
  const part = (version: JsonObject, name: Parameters<typeof isShared>[1], show: Show) =>
    isShared(spec, name) ? null : show(valueAt(version, name), showing);
  return recordsAt(spec, 'versions').map((version) => ({
    Name: textAt(version, 'name'),
    Served: flagAt(version, 'served'),
    Storage: flagAt(version, 'storage'),
    Deprecated: flagAt(version, 'deprecated'),
    DeprecationWarning: valueAt(version, 'deprecationWarning') ?? null,
    Schema: part(version, 'schema', validation),
    Subresources: part(version, 'subresources', subresources),
    AdditionalPrinterColumns: part(version, 'additionalPrinterColumns', columns),
    SelectableFields: part(version, 'selectableFields', selectableFields),
  }));
}

const validation: Show = (value, showing) =>
  isObject(value) ? { OpenAPIV3Schema: schema(valueAt(value, 'openAPIV3Schema'), showing) } : null;

const subresources: Show = (value) => {
  if (!isObject(value)) return null;
  const scale = recordAt(value, 'scale');
  return {
    Status: recordAt(value, 'status') === undefined ? null : {},
    Scale:
      scale === undefined
        ? null
        : {
            SpecReplicasPath: textAt(scale, 'specReplicasPath'),
            StatusReplicasPath: textAt(scale, 'statusReplicasPath'),
            LabelSelectorPath: valueAt(scale, 'labelSelectorPath') ?? null,
          },
  };
};

const columns: Show = (value) =>
  Array.isArray(value)
    ? value.map((column) => {
        const given = isObject(column) ? column : {};
        return {
          Name: textAt(given, 'name'),
          Type: textAt(given, 'type'),
          Format: textAt(given, 'format'),
          Description: textAt(given, 'description'),
          Priority: valueAt(given, 'priority') ?? 0,
          JSONPath: textAt(given, 'jsonPath'),
        };
      })
    : null;

const selectableFields: Show = (value) =>
  Array.isArray(value)
    ? value.map((field) => ({ JSONPath: textAt(isObject(field) ? field : {}, 'jsonPath') }))
    : null;
