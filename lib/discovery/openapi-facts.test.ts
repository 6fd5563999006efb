// Schemas and operations of the documents against tables of facts about kube-apiserver's own. What
// differs is recorded in testdata/openapi-differences.txt; without the tables there is nothing to
// compare.
import { expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { switches } from '../config/flag-kinds.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { openApiBytes } from './testing/open-api-bytes.ts';
import type { OpenApiBytes } from './testing/open-api-bytes.ts';

interface FieldFacts {
  readonly json: string;
  readonly type: string;
  readonly card?: 'list' | 'map';
  readonly inline?: boolean;
  readonly ptr?: boolean;
  readonly req?: boolean;
  readonly omit?: string;
  readonly default?: JsonValue;
  readonly enum?: string;
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
  readonly mapType?: string;
  readonly structType?: string;
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly union?: readonly string[];
}
interface TypeFacts {
  readonly fields: readonly FieldFacts[];
  readonly typeMeta?: boolean;
  readonly special?: string;
  /** The list that it is. */
  readonly goNamed?: string;
  readonly union?: boolean;
  readonly structType?: string;
}
interface Facts {
  readonly packages: Readonly<Record<string, { readonly protoPackage?: string }>>;
  readonly enums: Readonly<Record<string, { closed?: boolean; values: readonly string[] }>>;
  readonly types: Readonly<Record<string, TypeFacts>>;
}

const factsFolder = join(import.meta.dirname, '../../../shared/api-facts');
const factsFile = join(factsFolder, 'types.json');
const recordFile = join(import.meta.dirname, 'testdata/openapi-differences.txt');
const naming = namingProfile('kubernetes');
const facts: Facts | undefined = existsSync(factsFile)
  ? (JSON.parse(readFileSync(factsFile, 'utf8')) as Facts)
  : undefined;

/** Name in the documents → what the tables say, for every version of both documents. */
function expectedSchemas(of: Facts, version: 'v2' | 'v3'): Map<string, JsonObject> {
  const schemas = new Map<string, JsonObject>();
  for (const [id, type] of Object.entries(of.types)) {
    if (type.goNamed !== undefined) continue;
    schemas.set(nameOf(of, id), type.special === undefined ? schemaOf(of, type, version) : {});
  }
  return schemas;
}

function nameOf({ packages }: Facts, id: string): string {
  const dot = id.lastIndexOf('.');
  const { protoPackage = '{v}.apimachinery.pkg.version' } = packages[id.slice(0, dot)] ?? {};
  const path = naming.resolve(protoPackage);
  const [domain = '', tld = '', ...rest] = path.replaceAll('_', '-').split('.');
  return [tld, domain, ...rest, id.slice(dot + 1)].join('.');
}

const fieldsOf = (of: Facts, { fields }: TypeFacts): readonly FieldFacts[] =>
  fields
    .filter(({ json }) => json !== '-')
    .flatMap((field) => {
      const inner = of.types[field.type];
      return field.inline === true && inner !== undefined ? fieldsOf(of, inner) : [field];
    });

function schemaOf(of: Facts, type: TypeFacts, version: 'v2' | 'v3'): JsonObject {
  const fields = fieldsOf(of, type);
  const properties: JsonObject = {};
  if (type.typeMeta === true) Object.assign(properties, { apiVersion: {}, kind: {} });
  for (const field of fields) properties[field.json] = propertyOf(of, field, version);
  const required = fields.filter(({ req }) => req === true).map(({ json }) => json);
  return present({
    properties,
    required: required.length === 0 ? undefined : required,
    unions: type.union === true ? unionOf(type) : undefined,
    'map-type': type.structType,
  });
}

function propertyOf(of: Facts, field: FieldFacts, version: 'v2' | 'v3'): JsonObject {
  const values = field.enum === undefined ? undefined : of.enums[field.enum];
  const { card, listMapKeys = [] } = field;
  const isV3 = version === 'v3';
  return present({
    default: isV3 ? (field.default ?? zeroOf(of, field)) : undefined,
    elementDefault: isV3 && card === 'map' ? zeroOfType(of, field.type) : undefined,
    enum: values?.closed === true ? [...values.values].sort() : undefined,
    'list-type': field.listType,
    'list-map-keys': listMapKeys.length === 0 ? undefined : [...listMapKeys],
    'map-type': field.mapType ?? field.structType,
    'patch-strategy': field.patchStrategy,
    'patch-merge-key': field.patchMergeKey,
  });
}

/** What an absent member that is no pointer is read as. */
const zeroOf = (of: Facts, { type, card, ptr, omit }: FieldFacts): JsonValue | undefined => {
  if (card !== undefined || ptr === true) return undefined;
  return of.types[type] !== undefined || omit === 'never' ? zeroOfType(of, type) : undefined;
};

function zeroOfType(of: Facts, type: string): JsonValue | undefined {
  const message = of.types[type];
  if (message !== undefined) {
    return message.special === undefined && message.goNamed === undefined ? {} : undefined;
  }
  if (type === 'bytes' || type === 'interface{}') return undefined;
  return type === 'string' ? '' : type === 'bool' ? false : 0;
}

function unionOf({ fields }: TypeFacts): JsonValue {
  const isDiscriminator = ({ union }: FieldFacts): boolean =>
    union?.includes('unionDiscriminator') === true;
  const members = fields.filter((field) => !isDiscriminator(field)).map(({ json }) => json);
  return [{ discriminator: fields.find(isDiscriminator)?.json ?? '', members }];
}

function present(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const shown: JsonObject = {};
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) shown[name] = value;
  }
  return shown;
}

const extension = 'x-kubernetes-';
const shownWords = ['list-type', 'list-map-keys', 'map-type', 'patch-strategy', 'patch-merge-key'];

/** The same of a schema as it is served. */
function servedSummary(schema: JsonObject): JsonObject {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonObject>;
  const summaries = Object.entries(properties).map(([name, property]) => {
    const element = (property['items'] ?? property['additionalProperties']) as
      JsonObject | undefined;
    const words = shownWords.map((word) => [word, property[`${extension}${word}`]] as const);
    const { default: written, enum: values } = property;
    const elementDefault = element?.['default'];
    const listed = values ?? element?.['enum'];
    return [
      name,
      present({ default: written, elementDefault, enum: listed, ...Object.fromEntries(words) }),
    ];
  });
  return present({
    properties: Object.fromEntries(summaries) as JsonObject,
    required: schema['required'],
    unions: servedUnions(schema[`${extension}unions`] as JsonObject[] | undefined),
    'map-type': schema[`${extension}map-type`],
  });
}

const servedUnions = (unions: readonly JsonObject[] | undefined): JsonValue | undefined =>
  unions?.map((union) => ({
    discriminator: union['discriminator'] ?? '',
    members: Object.keys(union['fields-to-discriminateBy'] as JsonObject),
  }));

/** `path: expected ≠ served`, for every leaf that differs. */
function* differences(
  path: string,
  expected: JsonValue | undefined,
  served: JsonValue | undefined,
): Generator<string> {
  if (isObject(expected) && isObject(served) && !path.endsWith('efault')) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(served)])) {
      yield* differences(`${path}.${key}`, expected[key], served[key]);
    }
  } else if (JSON.stringify(expected) !== JSON.stringify(served)) {
    yield `${path}: ${shownValue(expected)} ≠ ${shownValue(served)}`;
  }
}

const shownValue = (value: JsonValue | undefined): string =>
  value === undefined ? 'nothing' : JSON.stringify(value);

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function servedOpenApi(): OpenApiBytes {
  const runtimeConfig = switches.parse('api/all=true');
  const scheme = builtInScheme({ profile: naming, runtimeConfig });
  return openApiBytes({
    scheme,
    groups: () => scheme.groups,
    media: { objects: ['application/json'], streams: [], patches: ['application/json-patch+json'] },
    listsValues: true,
    serverVersion: 'v1.36.0',
    answersDeletedObject: () => false,
  });
}

const wholeDocument = async (): Promise<JsonObject> => {
  const { bytes } = await servedOpenApi().whole('json');
  return JSON.parse(Buffer.from(bytes).toString()) as JsonObject;
};

async function servedSchemas(version: 'v2' | 'v3'): Promise<Map<string, JsonObject>> {
  const openApi = servedOpenApi();
  const read = (bytes: Uint8Array | undefined): JsonObject =>
    JSON.parse(Buffer.from(bytes ?? []).toString()) as JsonObject;
  if (version === 'v2') {
    const whole = await wholeDocument();
    return new Map(Object.entries(whole['definitions'] as Record<string, JsonObject>));
  }
  const index = read((await openApi.index()).bytes);
  const schemas = new Map<string, JsonObject>();
  for (const path of Object.keys(index['paths'] as JsonObject)) {
    const { components } = read((await openApi.part(path, 'json'))?.bytes);
    const own = (components as JsonObject)['schemas'] as Record<string, JsonObject>;
    for (const [name, schema] of Object.entries(own)) schemas.set(name, schema);
  }
  return schemas;
}

const recorded = readFileSync(recordFile, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

(facts === undefined ? test.skip : test).each(['v2', 'v3'] as const)(
  'schemas of %s differ from the facts in what is recorded alone',
  async (version) => {
    if (facts === undefined) return;
    const expected = expectedSchemas(facts, version);
    const found: string[] = [];
    for (const [name, schema] of await servedSchemas(version)) {
      const known = expected.get(name);
      if (known === undefined) found.push(`${version} ${name}: is in no table`);
      else if (Object.keys(known).length > 0) {
        found.push(...differences(`${version} ${name}`, known, servedSummary(schema)));
      }
    }
    expect(found.sort()).toEqual(recorded.filter((line) => line.startsWith(version)).sort());
  },
);

interface ResourceFacts {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources?: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

const itemMethods: Readonly<Record<string, string>> = {
  get: 'get',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
};
const collectionMethods: Readonly<Record<string, string>> = {
  list: 'get',
  create: 'post',
  deletecollection: 'delete',
};

/** `method path`, for all that can be done with a resource. */
function* expectedOperations(of: ResourceFacts): Generator<string> {
  const { plural, verbs, namespaced, version, subresources = [] } = of;
  const group = naming.resolve(of.group);
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const inside = namespaced ? '/namespaces/{namespace}' : '';
  const collection = `${root}${inside}/${plural}`;
  const item = `${collection}/{name}`;
  for (const verb of verbs) {
    const [ofItem, ofCollection] = [itemMethods[verb], collectionMethods[verb]];
    if (ofItem !== undefined) yield `${ofItem} ${item}`;
    if (ofCollection !== undefined) yield `${ofCollection} ${collection}`;
  }
  if (namespaced && verbs.includes('list')) yield `get ${root}/${plural}`;
  if (verbs.includes('watch')) {
    yield `get ${root}/watch${inside}/${plural}`;
    yield `get ${root}/watch${inside}/${plural}/{name}`;
    if (namespaced) yield `get ${root}/watch/${plural}`;
  }
  for (const { name, verbs: own } of subresources) {
    const methods = own.map((verb) => (verb === 'create' ? 'post' : (itemMethods[verb] ?? verb)));
    // A proxy passes every method on.
    const all = name === 'proxy' ? [...methods, 'head', 'options'] : methods;
    for (const method of all) {
      yield `${method} ${item}/${name}`;
      if (name === 'proxy') yield `${method} ${item}/${name}/{path}`;
    }
  }
}

(facts === undefined ? test.skip : test)(
  'operations differ from the facts in what is recorded alone',
  async () => {
    const file = join(factsFolder, 'resources.json');
    const { resources } = JSON.parse(readFileSync(file, 'utf8')) as { resources: ResourceFacts[] };
    const expected = new Set(resources.flatMap((of) => [...expectedOperations(of)]));
    const served = new Set<string>();
    const { paths } = await wholeDocument();
    for (const [path, item] of Object.entries(paths as Record<string, JsonObject>)) {
      if (path.endsWith('/')) continue; // a document of discovery
      const methods = Object.keys(item).filter((key) => key !== 'parameters');
      for (const method of methods) served.add(`${method} ${path}`);
    }
    const found = [
      ...[...expected.difference(served)].map((operation) => `${operation}: is not described`),
      ...[...served.difference(expected)].map((operation) => `${operation}: is in no table`),
    ];
    const lines = recorded.filter((line) => !/^v[23] /.test(line));
    expect(served.size).toBeGreaterThan(800);
    expect(found.sort()).toEqual(lines.sort());
  },
);
