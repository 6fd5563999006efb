// A schema of a custom resource, read once from its OpenAPI form: what rules and typed values need
// of it.
import { isObject } from '../../api/json-value.ts';
import type { NamingProfile } from '../../api/vendor.ts';

/** A rule on a node of a schema, as written. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string | undefined;
  readonly messageExpression: string | undefined;
  readonly reason: string | undefined;
  readonly fieldPath: string | undefined;
  readonly optionalOldSelf: boolean | undefined;
}

export interface StructuralSchema {
  readonly type: string;
  readonly format: string;
  readonly nullable: boolean;
  /** undefined: none are declared, which differs from an empty set. */
  readonly properties: ReadonlyMap<string, StructuralSchema> | undefined;
  readonly items: StructuralSchema | undefined;
  /** Schema of the values of a map. `additionalProperties: true` does not count. */
  readonly additionalProperties: StructuralSchema | undefined;
  readonly required: readonly string[];
  readonly enumValues: readonly unknown[];
  readonly hasDefault: boolean;
  readonly maxLength: number | undefined;
  readonly maxItems: number | undefined;
  readonly maxProperties: number | undefined;
  readonly isIntOrString: boolean;
  readonly isEmbeddedResource: boolean;
  readonly preservesUnknownFields: boolean;
  readonly listType: string | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: string | undefined;
  readonly rules: readonly ValidationRule[];
  readonly allOf: readonly StructuralSchema[];
}

type JsonObject = Readonly<Record<string, unknown>>;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
const count = (value: unknown): number | undefined => {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' ? value : undefined;
};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown): string[] => list(value).filter((item) => typeof item === 'string');

/**
 * Reads the JSON of a schema. What is not as expected counts as absent; checking schemas is not
 * done here.
 */
export function readSchema(json: unknown, naming: NamingProfile): StructuralSchema {
  const raw = isObject(json) ? json : {};
  const extension = (name: string): unknown => raw[naming.schemaExtensionPrefix + name];
  const child = (value: unknown): StructuralSchema | undefined =>
    isObject(value) ? readSchema(value, naming) : undefined;
  const properties = isObject(raw['properties'])
    ? new Map(
        Object.entries(raw['properties']).map(([name, inner]) => [name, readSchema(inner, naming)]),
      )
    : undefined;
  return {
    type: text(raw['type']) ?? '',
    format: text(raw['format']) ?? '',
    nullable: raw['nullable'] === true,
    properties,
    items: child(raw['items']),
    additionalProperties: child(raw['additionalProperties']),
    required: texts(raw['required']),
    enumValues: list(raw['enum']),
    hasDefault: raw['default'] !== undefined,
    maxLength: count(raw['maxLength']),
    maxItems: count(raw['maxItems']),
    maxProperties: count(raw['maxProperties']),
    isIntOrString: extension('int-or-string') === true,
    isEmbeddedResource: extension('embedded-resource') === true,
    preservesUnknownFields: extension('preserve-unknown-fields') === true,
    listType: text(extension('list-type')),
    listMapKeys: texts(extension('list-map-keys')),
    mapType: text(extension('map-type')),
    rules: list(extension('validations')).filter(isObject).map(readRule),
    allOf: list(raw['allOf']).map((inner) => readSchema(inner, naming)),
  };
}

function readRule(raw: JsonObject): ValidationRule {
  const { optionalOldSelf } = raw;
  return {
    rule: text(raw['rule']) ?? '',
    message: text(raw['message']),
    messageExpression: text(raw['messageExpression']),
    reason: text(raw['reason']),
    fieldPath: text(raw['fieldPath']),
    optionalOldSelf: typeof optionalOldSelf === 'boolean' ? optionalOldSelf : undefined,
  };
}

const emptySchema = readSchema({}, { schemaExtensionPrefix: '' } as NamingProfile);
const stringSchema: StructuralSchema = { ...emptySchema, type: 'string' };

/**
 * The schema of a resource's root: kind, apiVersion, metadata.name and metadata.generateName are
 * always there.
 */
export function withTypeAndObjectMeta(schema: StructuralSchema): StructuralSchema {
  const metadata = schema.properties?.get('metadata');
  const isText = (inner: StructuralSchema | undefined): boolean => inner?.type === 'string';
  const isComplete =
    isText(schema.properties?.get('kind')) &&
    isText(schema.properties?.get('apiVersion')) &&
    metadata?.type === 'object' &&
    isText(metadata.properties?.get('name')) &&
    isText(metadata.properties?.get('generateName'));
  if (isComplete) return schema;
  const objectMeta: StructuralSchema = {
    ...emptySchema,
    type: 'object',
    properties: new Map([
      ['name', stringSchema],
      ['generateName', stringSchema],
    ]),
  };
  const properties = new Map([
    ...(schema.properties ?? []),
    ['kind', stringSchema],
    ['apiVersion', stringSchema],
    ['metadata', objectMeta],
  ] as const);
  return { ...schema, properties };
}
