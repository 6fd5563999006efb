// Types as schemas of OpenAPI 2.0 and 3.0. The two differ in how references carry words, in
// defaults (3.0 alone) and in values of more than one type; everything else is said once here.
import { defaultValueOf } from '../api/default-value.ts';
import { newRecord } from '../api/record.ts';
import type { Scheme } from '../api/scheme.ts';
import type {
  FieldInfo,
  GroupVersionKind,
  JsonObject,
  JsonValue,
  ScalarType,
  SpecialForm,
  TypeInfo,
} from '../api/type-info.ts';
import { definitionName } from './openapi-names.ts';

export type OpenApiVersion = 'v2' | 'v3';

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export interface DefinitionsOptions {
  readonly scheme: Scheme;
  /** All that are served. */
  readonly groupVersions: readonly GroupVersion[];
  /** Gate OpenAPIEnums: fields list the values that they can have. */
  readonly listsValues: boolean;
}

/** What is referred to: a type of the release, or a model that is written where its kind is. */
export type Referred = TypeInfo | { readonly model: string };

/** Hands out references and keeps what they point at. */
export class Definitions {
  readonly version: OpenApiVersion;
  readonly #scheme: Scheme;
  readonly #groupVersions: readonly GroupVersion[];
  readonly #listsValues: boolean;
  readonly #types = new Map<string, TypeInfo>();
  readonly #names = new Map<TypeInfo, string>();

  constructor(version: OpenApiVersion, options: DefinitionsOptions) {
    this.version = version;
    this.#scheme = options.scheme;
    this.#groupVersions = options.groupVersions;
    this.#listsValues = options.listsValues;
  }

  refTo(of: Referred): JsonObject {
    if ('model' in of) return referenceTo(this.version, of.model);
    let name = this.#names.get(of);
    if (name === undefined) {
      name = definitionName(this.#scheme, of);
      this.#names.set(of, name);
      this.#types.set(name, of);
    }
    return referenceTo(this.version, name);
  }

  /** Every schema that was referred to, those that these refer to included, by name. */
  *schemas(): Generator<readonly [name: string, schema: JsonObject]> {
    const reached = new Set<TypeInfo>();
    for (const type of this.#types.values()) this.#reach(type, reached);
    const byName = [...this.#types].sort(([one], [other]) => (one < other ? -1 : 1));
    for (const [name, type] of byName) yield [name, this.schemaOf(type)];
  }

  #reach(type: TypeInfo, reached: Set<TypeInfo>): void {
    if (reached.has(type)) return;
    reached.add(type);
    if (type.special !== undefined) return;
    for (const { message, jsonName } of type.fields) {
      if (message === undefined || jsonName === '-') continue;
      if (jsonName !== '' && !message.isNamedList) this.refTo(message);
      this.#reach(message, reached);
    }
  }

  schemaOf(type: TypeInfo): JsonObject {
    const words = type.description === undefined ? {} : { description: type.description };
    if (type.special !== undefined)
      return { ...words, ...specialSchema(type.special, this.version) };
    const properties: JsonObject = newRecord();
    const required: string[] = [];
    if (type.hasTypeMeta) Object.assign(properties, typeMetaProperties);
    this.#addProperties(type, properties, required);
    const prefix = this.#scheme.profile.schemaExtensionPrefix;
    const kinds = type.hasTypeMeta || isWatchEvent(type) ? this.#kindsOf(type) : [];
    return {
      ...words,
      type: 'object',
      ...(Object.keys(properties).length === 0 ? {} : { properties }),
      ...(required.length === 0 ? {} : { required }),
      ...(kinds.length === 0 ? {} : { [`${prefix}group-version-kind`]: kinds }),
      ...(type.options['structure'] === 'atomic' ? { [`${prefix}map-type`]: 'atomic' } : {}),
      ...this.#unions(type),
    };
  }

  #addProperties(type: TypeInfo, properties: JsonObject, required: string[]): void {
    for (const field of type.fields) {
      if (field.jsonName === '-') continue;
      if (field.jsonName === '') {
        if (field.message !== undefined) this.#addProperties(field.message, properties, required);
        continue;
      }
      properties[field.jsonName] = this.#propertyOf(field, type);
      if (field.required) required.push(field.jsonName);
    }
  }

  #propertyOf(field: FieldInfo, type: TypeInfo): JsonObject {
    const values = this.#closedValues(field, type);
    const words = field.description === undefined ? {} : { description: field.description };
    const extras = { ...words, ...this.#fieldExtensions(field) };
    if (field.cardinality === 'single') {
      const zero = field.pointer ? undefined : this.#zeroOf(field);
      const written = this.#writtenDefault(field) ?? zero;
      const value = this.#valueOf(field);
      return this.#joined(value, extras, written, values);
    }
    // Elements of lists have none: generated clients would take them for required.
    const zero = field.cardinality === 'list' ? undefined : this.#zeroOf(field, true);
    const element = this.#joined(this.#valueOf(field), {}, zero, values);
    const written = this.#writtenDefault(field);
    const rest = { ...extras, ...(written === undefined ? {} : { default: written }) };
    return field.cardinality === 'list'
      ? { ...rest, type: 'array', items: element }
      : { ...rest, type: 'object', additionalProperties: element };
  }

  /** A reference beside other keywords: 3.0 ignores these, so it is wrapped there. */
  #joined(
    value: JsonObject,
    extras: JsonObject,
    written: JsonValue | undefined,
    values: JsonObject | undefined,
  ): JsonObject {
    const rest = { ...extras, ...(written === undefined ? {} : { default: written }), ...values };
    const isPlain = value['$ref'] === undefined || Object.keys(rest).length === 0;
    if (isPlain || this.version === 'v2') return { ...rest, ...value };
    return { ...rest, allOf: [value] };
  }

  #valueOf({ scalar, message }: FieldInfo): JsonObject {
    if (scalar !== undefined) return scalarSchemas[scalar];
    if (message === undefined) return {};
    if (!message.isNamedList) return this.refTo(message);
    const [items] = message.fields;
    return { type: 'array', items: items === undefined ? {} : this.#valueOf(items) };
  }

  /** Values that fields have when nothing is given; 2.0 has never said them. */
  #zeroOf({ scalar, message, omit }: FieldInfo, isElement = false): JsonValue | undefined {
    if (this.version === 'v2') return undefined;
    if (message !== undefined)
      return message.special === undefined && !message.isNamedList ? {} : undefined;
    if (scalar === undefined || scalar === 'bytes' || (!isElement && omit !== 'never'))
      return undefined;
    return scalar === 'string' ? '' : scalar === 'bool' ? false : 0;
  }

  /** Most defaults are left to the server: a generated client that sends them would own them. */
  #writtenDefault(field: FieldInfo): JsonValue | undefined {
    const isWritten = this.version === 'v3' && field.options['publishesDefault'] === true;
    return isWritten ? defaultValueOf(field) : undefined;
  }

  /** Only sets that no release will add to are listed: clients may refuse everything else. */
  #closedValues({ enumValues, options }: FieldInfo, type: TypeInfo): JsonObject | undefined {
    const name = options['values'];
    if (!this.#listsValues || enumValues === undefined || typeof name !== 'string') {
      return undefined;
    }
    const owner = type.id.slice(0, type.id.lastIndexOf('.'));
    const set = this.#scheme.enumSet(name.includes('.') ? name : `${owner}.${name}`);
    return set?.closed === true ? { enum: [...enumValues].sort() } : undefined;
  }

  #fieldExtensions(field: FieldInfo): JsonObject {
    const prefix = this.#scheme.profile.schemaExtensionPrefix;
    const { listType, listMapKeys, patchMergeKey, patchStrategies, options } = field;
    const mapType = field.mapType ?? options['fieldStructure'];
    return {
      ...(listMapKeys.length === 0 ? {} : { [`${prefix}list-map-keys`]: [...listMapKeys] }),
      ...(listType === undefined ? {} : { [`${prefix}list-type`]: listType }),
      ...(typeof mapType === 'string' ? { [`${prefix}map-type`]: mapType } : {}),
      ...(patchMergeKey === undefined ? {} : { [`${prefix}patch-merge-key`]: patchMergeKey }),
      ...(patchStrategies.length === 0
        ? {}
        : { [`${prefix}patch-strategy`]: patchStrategies.join(',') }),
    };
  }

  /** A type whose fields exclude each other; often one of them tells which is set. */
  #unions(type: TypeInfo): JsonObject {
    if (type.options['union'] !== true) return {};
    const discriminator = type.fields.find(({ options }) => isDiscriminator(options));
    const members = type.fields.filter((field) => field !== discriminator);
    const fields = members.map(({ jsonName, protoName }) => [
      jsonName,
      protoName.charAt(0).toUpperCase() + protoName.slice(1),
    ]);
    const union = {
      ...(discriminator === undefined ? {} : { discriminator: discriminator.jsonName }),
      'fields-to-discriminateBy': Object.fromEntries(fields) as JsonObject,
    };
    return { [`${this.#scheme.profile.schemaExtensionPrefix}unions`]: [union] };
  }

  #kindsOf(type: TypeInfo): JsonObject[] {
    if (!type.id.startsWith('meta/')) {
      const kind = this.#scheme.kindOf(type);
      return kind === undefined ? [] : [kindEntry(kind)];
    }
    // Kinds of the meta group belong to every group version, or to the first of all.
    if (!everywhere.has(type.name)) return [{ group: '', kind: type.name, version: 'v1' }];
    const placeOf = ({ group, version }: GroupVersion): string => `${group}/${version}`;
    return [...this.#groupVersions]
      .sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
      .map((of) => kindEntry({ ...of, kind: type.name }));
  }
}

export const referenceTo = (version: OpenApiVersion, name: string): JsonObject => ({
  $ref: `${version === 'v2' ? '#/definitions/' : '#/components/schemas/'}${name}`,
});

export const kindEntry = ({ group, version, kind }: GroupVersionKind): JsonObject => ({
  group,
  kind,
  version,
});

const everywhere: ReadonlySet<string> = new Set(['DeleteOptions', 'WatchEvent']);
const isWatchEvent = (type: TypeInfo): boolean => type.id === 'meta/v1.WatchEvent';
const isDiscriminator = ({ member }: FieldInfo['options']): boolean =>
  Array.isArray(member) && member.includes('unionDiscriminator');

export const typeMetaProperties: JsonObject = {
  apiVersion: {
    description:
      'Group and version of the schema that this object is written in, for example `apps/v1`. ' +
      'Servers convert between the versions they know and refuse the others.',
    type: 'string',
  },
  kind: {
    description:
      'Name of the type that this object is of, in upper camel case. Often known from the ' +
      'address that the object is sent to; cannot be changed.',
    type: 'string',
  },
};

const scalarSchemas: Readonly<Record<ScalarType, JsonObject>> = {
  string: { type: 'string' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  bool: { type: 'boolean' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

function specialSchema(form: SpecialForm, version: OpenApiVersion): JsonObject {
  switch (form) {
    case 'time':
    case 'microTime':
    case 'timestamp':
      return { type: 'string', format: 'date-time' };
    case 'duration':
      return { type: 'string' };
    case 'quantity':
      return version === 'v2'
        ? { type: 'string' }
        : { oneOf: [{ type: 'string' }, { type: 'number' }] };
    case 'intOrString':
      return version === 'v2'
        ? { type: 'string', format: 'int-or-string' }
        : { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
    case 'rawExtension':
    case 'fieldsV1':
      return { type: 'object' };
    case 'json':
    case 'schemaOrList':
    case 'schemaOrBool':
    case 'schemaOrStrings':
      return {}; // any JSON value, or one of several
  }
}
