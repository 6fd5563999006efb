import { describe, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { loadProto } from './load-proto.ts';
import type { FieldInfo, TypeInfo } from './type-info.ts';
import { namingProfile } from './vendor.ts';

const profile = namingProfile('kubernetes');
const loaded = loadProto(profile);
const protoFolder = join(import.meta.dirname, 'proto');
const factsFolder = join(import.meta.dirname, '../../../shared/api-facts');
const facts = existsSync(factsFolder) ? describe : describe.skip;

interface FactField {
  json: string;
  n?: number;
  pb?: string;
  type: string;
  card?: 'list' | 'map';
  ptr?: boolean;
  req?: boolean;
  omit?: string;
  zero?: unknown;
  default?: string | number | boolean;
  enum?: string;
  keyEnum?: string;
  alias?: string;
  listType?: string;
  listMapKeys?: string[];
  mapType?: string;
  structType?: string;
  patchStrategy?: string;
  patchMergeKey?: string;
  gates?: string[];
  union?: string[];
  dv?: string[];
  deprecated?: boolean;
  inline?: boolean;
}
interface FactType {
  fields: FactField[];
  typeMeta?: boolean;
  special?: string;
  goNamed?: string;
  proto?: boolean;
  aliasOf?: string;
  union?: boolean;
  structType?: string;
  life?: object;
  dv?: string[];
}
interface FactTables {
  types: Record<string, FactType>;
  enums: Record<string, { base: string; closed: boolean; values: unknown[] }>;
  aliases: Record<string, string>;
}

const omitRules: Record<string, string> = {
  never: 'never',
  empty: 'empty',
  'empty+zero': 'emptyOrZero',
};
const dashless = (text: string): string => text.toLowerCase().replaceAll(/[-_]/g, '');
const packageOf = (id: string): string => id.slice(0, id.lastIndexOf('.'));
const qualified = (name: unknown, packageId: string): unknown =>
  typeof name === 'string' && !name.includes('.') ? `${packageId}.${name}` : name;
/** Leaves out undefined members, so that both sides have the same shape. */
const known = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));

/** The tables give null for the one message without fields, which is written as `{}`. */
function zeroOfFact(field: FactField): unknown {
  if (field.omit === undefined) return 'not given';
  if (field.type === 'apiserverinternal/v1alpha1.StorageVersionSpec') return {};
  return field.zero;
}

function fromFact(field: FactField, type: FactType): Record<string, unknown> {
  return known({
    json: field.json,
    proto: field.pb ?? field.json,
    number: type.proto === false ? 0 : field.n,
    type: field.type === 'interface{}' ? 'meta/v1.Json' : field.type,
    card: field.card ?? 'single',
    pointer: field.ptr ?? false,
    required: field.req ?? false,
    omit: omitRules[field.omit ?? 'empty'],
    zero: zeroOfFact(field),
    default: field.default === undefined ? undefined : String(field.default),
    enum: field.enum,
    keyEnum: field.keyEnum,
    alias: field.alias,
    listType: field.listType,
    keys: field.listMapKeys ?? [],
    mapType: field.mapType,
    structType: field.structType,
    patch: field.patchStrategy?.split(',') ?? [],
    mergeKey: field.patchMergeKey,
    gates: field.gates ?? [],
    union: field.union,
    rules: field.dv,
    deprecated: field.deprecated,
  });
}

/** Defaults that are no markers of the type stand in another table: defaults.test.ts. */
function fromLoaded(
  field: FieldInfo,
  type: TypeInfo,
  fact: FactField | undefined,
): Record<string, unknown> {
  const hasOmit = fact?.omit !== undefined;
  const packageId = packageOf(type.id);
  return known({
    json: field.jsonName,
    proto: field.protoName,
    number: field.number,
    type: field.scalar ?? field.message?.id,
    card: field.cardinality,
    pointer: field.pointer,
    required: field.required,
    omit: field.omit,
    zero: hasOmit ? field.zero : 'not given',
    default: fact?.default === undefined ? undefined : field.options['defaultValue'],
    enum: qualified(field.options['values'], packageId),
    keyEnum: qualified(field.options['keyValues'], packageId),
    alias: qualified(field.options['alias'], packageId),
    listType: field.listType,
    keys: field.listMapKeys,
    mapType: field.mapType,
    structType: field.options['fieldStructure'],
    patch: field.patchStrategies,
    mergeKey: field.patchMergeKey,
    gates: field.gates,
    union: field.options['member'],
    rules: field.options['rule'],
    deprecated: field.options['deprecated'],
  });
}

facts('every type equals the tables of facts', () => {
  // core/v1.List is meta/v1.List by another name: its fields carry that one's options.
  const tables = (['types.json', 'legacy-types.json'] as const).map((file): FactTables => {
    // A skipped describe still collects its tests: without the tables, of none.
    if (!existsSync(factsFolder)) return { types: {}, enums: {}, aliases: {} };
    const text = readFileSync(join(factsFolder, file), 'utf8');
    return JSON.parse(profile.resolve(text)) as FactTables;
  });
  test.each(tables)('table %#', ({ types, enums, aliases }) => {
    expect(Object.keys(types).filter((id) => !loaded.types.has(id))).toEqual([]);
    for (const [id, fact] of Object.entries(types).filter(([id]) => id !== 'core/v1.List')) {
      const type = loaded.types.get(id);
      if (type === undefined) throw new Error(id);
      expect({
        id,
        fields: type.fields.map((f, i) => fromLoaded(f, type, fact.fields[i])),
      }).toEqual({ id, fields: fact.fields.map((field) => fromFact(field, fact)) });
      expect(
        known({
          id,
          typeMeta: type.hasTypeMeta,
          special: type.special?.toLowerCase(),
          named: type.isNamedList,
          jsonOnly: type.options['jsonOnly'] ?? false,
          aliasOf: type.options['aliasOf'],
          union: type.options['union'],
          structure: type.options['structure'],
          life: type.options['life'],
          rules: type.options['typeRule'],
        }),
      ).toEqual(
        known({
          id,
          typeMeta: fact.typeMeta ?? false,
          special: fact.special === undefined ? undefined : dashless(fact.special),
          named: fact.goNamed !== undefined,
          jsonOnly: fact.proto === false,
          aliasOf: fact.aliasOf,
          union: fact.union,
          structure: fact.structType,
          life: fact.life,
          rules: fact.dv,
        }),
      );
    }
    for (const [id, fact] of Object.entries(enums)) {
      const { base, closed, values } = loaded.enums.get(id) ?? {
        base: '',
        closed: false,
        values: [],
      };
      expect({ id, base, closed, values }).toEqual({
        id,
        base: fact.base,
        closed: fact.closed,
        values: fact.values.map(String),
      });
    }
    for (const [id, of] of Object.entries(aliases)) expect(loaded.aliases.get(id)).toBe(of);
  });
});

test('the files are valid Protobuf: every import and name resolves', () => {
  const root = new protobuf.Root();
  const library = join(import.meta.dirname, '../../node_modules/protobufjs');
  root.resolvePath = (_, target) =>
    join(target.startsWith('google/') ? library : protoFolder, target);
  const files = [...loaded.packages.keys()].map((id) => `${id}.proto`);
  root.loadSync(files, { keepCase: true }).resolveAll();
  expect(root.lookupType('core.v1.Pod').fields['spec']?.resolvedType?.fullName).toBe(
    '.core.v1.PodSpec',
  );
});

test('placeholders take the spelling of the profile', () => {
  const other = loadProto(namingProfile('svc'));
  expect(other.packages.get('rbac/v1')?.group).toBe('rbac.authorization.svc.io');
  expect(loaded.packages.get('rbac/v1')?.group).toBe('rbac.authorization.k8s.io');
  const schema = other.types.get('apiextensions/v1.JSONSchemaProps');
  expect(schema?.fieldByJsonName.has('x-svc-int-or-string')).toBe(true);
});

test('fields of inlined messages are found by their JSON name', () => {
  const volume = loaded.types.get('core/v1.Volume');
  expect(volume?.fieldByJsonName.get('emptyDir')?.message?.id).toBe('core/v1.EmptyDirVolumeSource');
  expect(volume?.fieldByJsonName.get('name')?.number).toBe(1);
});

describe('a file that says something unknown refuses to load and is named', () => {
  test.each([
    [
      'an unknown option',
      'string a = 1 [(requird) = true];',
      /x\/v1\.proto: A\.a: \(requird\) is not an option/,
    ],
    [
      'a mistyped option',
      'string a = 1 [(required) = "yes"];',
      /A\.a: \(required\): must be a bool/,
    ],
    [
      'an unknown choice',
      'repeated string a = 1 [(list) = BAG];',
      /A\.a: \(list\): must be one of ATOMIC, SET, MAP/,
    ],
    [
      'an option given twice',
      'string a = 1 [(required) = true, (required) = true];',
      /is given twice/,
    ],
    ['an unknown member', 'option (life) = { since: "1" };', /A: \(life\): since is not an option/],
    ['an unknown type', 'Missing a = 1;', /A\.a: unknown type Missing/],
    ['an unknown value set', 'string a = 1 [(values) = "Missing"];', /unknown value set Missing/],
  ])('%s', (_, line, message) => {
    const folder = mkdtempSync(join(tmpdir(), 'proto-'));
    try {
      writeFileSync(
        join(folder, 'options.proto'),
        readFileSync(join(protoFolder, 'options.proto')),
      );
      writeFileSync(
        join(folder, 'x.proto'),
        `syntax = "proto3";\npackage x;\nmessage A { ${line} }\n`,
      );
      expect(() => loadProto(profile, folder)).toThrow(
        new RegExp(message.source.replace('x\\/v1\\.proto', 'x\\.proto')),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
