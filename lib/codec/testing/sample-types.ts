// Small hand-made types for tests of the codecs: every cardinality, scalar, special form and omit
// rule once.
import type {
  FieldInfo,
  ResourceInfo,
  ScalarType,
  SpecialForm,
  TypeInfo,
} from '../../api/type-info.ts';

type FieldOptions = Partial<FieldInfo>;

/** A field named `jsonName` of a scalar or message type; `options` override any member. */
export function field(
  jsonName: string,
  of: ScalarType | TypeInfo | undefined,
  options: FieldOptions = {},
): FieldInfo {
  return {
    jsonName,
    protoName: jsonName,
    number: 1,
    cardinality: 'single',
    scalar: typeof of === 'string' ? of : undefined,
    message: typeof of === 'string' ? undefined : of,
    pointer: false,
    required: false,
    omit: 'empty',
    zero: undefined,
    enumValues: undefined,
    listType: undefined,
    listMapKeys: [],
    mapType: undefined,
    patchStrategies: [],
    patchMergeKey: undefined,
    gates: [],
    options: {},
    ...options,
  };
}

export function message(
  name: string,
  fields: FieldInfo[],
  options: Partial<TypeInfo> = {},
): TypeInfo {
  const byName = new Map<string, FieldInfo>();
  for (const one of fields) {
    if (one.jsonName === '' && one.message !== undefined) {
      for (const inner of one.message.fields) byName.set(inner.jsonName, inner);
    } else byName.set(one.jsonName, one);
  }
  return {
    id: `test/v1.${name}`,
    name,
    hasTypeMeta: false,
    special: undefined,
    isNamedList: false,
    fields,
    fieldByJsonName: byName,
    options: {},
    ...options,
  };
}

export const special = (form: SpecialForm, fields: FieldInfo[] = []): TypeInfo =>
  message(form, fields, { special: form });

const list = { cardinality: 'list' } as const;
const map = { cardinality: 'map' } as const;
const pointer = { pointer: true } as const;

export const timeType = special('time');
export const fieldsType = special('fieldsV1');

export const metaType = message('ObjectMeta', [
  field('name', 'string'),
  field('generateName', 'string'),
  field('namespace', 'string'),
  field('uid', 'string'),
  field('resourceVersion', 'string'),
  field('generation', 'int64'),
  field('creationTimestamp', timeType, { omit: 'emptyOrZero' }),
  field('deletionTimestamp', timeType, pointer),
  field('deletionGracePeriodSeconds', 'int64', pointer),
  field('labels', 'string', map),
  field('annotations', 'string', map),
  field('finalizers', 'string', list),
  field(
    'managedFields',
    message('ManagedFieldsEntry', [
      field('manager', 'string'),
      field('time', timeType, pointer),
      field('fieldsV1', fieldsType, pointer),
    ]),
    list,
  ),
]);

const portType = message('Port', [
  field('name', 'string'),
  field('port', 'int32', { omit: 'never', zero: 0 }),
  field('targetPort', special('intOrString'), { zero: 0 }),
]);

/** Recursive, as JSON schemas are. */
export const schemaType: TypeInfo = message('Schema', []);
const schemaFields = [
  field('type', 'string'),
  field('default', special('json'), pointer),
  field('items', special('schemaOrList', [field('schema', schemaType)]), pointer),
  field('additionalProperties', special('schemaOrBool', [field('schema', schemaType)]), pointer),
  field('properties', schemaType, map),
  field('dependencies', special('schemaOrStrings', [field('schema', schemaType)]), map),
];
(schemaType.fields as FieldInfo[]).push(...schemaFields);
for (const one of schemaFields) {
  (schemaType.fieldByJsonName as Map<string, FieldInfo>).set(one.jsonName, one);
}

const extraType = message('ExtraValue', [field('items', 'string', list)], { isNamedList: true });

export const specType = message('WidgetSpec', [
  field('nodeName', 'string'),
  field('', message('Common', [field('size', 'int32'), field('weight', 'double', pointer)])),
  field('replicas', 'int32', pointer),
  field('count', 'int64', { omit: 'never', zero: 0 }),
  field('enabled', 'bool'),
  field('paused', 'bool', pointer),
  field('token', 'bytes'),
  field('secrets', 'bytes', map),
  field('ports', portType, { ...list, omit: 'never', zero: null }),
  field('cells', undefined, { ...list, number: 0, pointer: true }),
  field('limits', special('quantity'), map),
  field('request', special('quantity'), { omit: 'never', zero: '0' }),
  field('started', timeType, { zero: null }),
  field('renewed', special('microTime'), pointer),
  field('timeout', special('duration'), pointer),
  field('numbers', 'int64', list),
  field('raw', special('rawExtension'), { zero: null }),
  field('schema', schemaType, pointer),
  field('extra', extraType, map),
  field('selector', 'string', { ...map, omit: 'never', zero: null }),
]);

export const widgetType = message(
  'Widget',
  [
    field('metadata', metaType, { zero: {} }),
    field('spec', specType, {
      zero: { count: 0, ports: null, request: '0', started: null, raw: null, selector: null },
    }),
    field('status', message('WidgetStatus', [field('phase', 'string')]), { zero: {} }),
  ],
  { hasTypeMeta: true },
);

/** The record of widgets: namespaced, stored as example.com/v1. */
export const widgetResource: ResourceInfo = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  singular: 'widget',
  kind: { group: 'example.com', version: 'v1', kind: 'Widget' },
  listKind: 'WidgetList',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
  subresources: [],
  virtual: false,
  type: widgetType,
  storageVersion: 'example.com/v1',
  storageVersionHash: '',
  storagePrefix: 'widgets',
  fieldSelectors: ['metadata.name', 'metadata.namespace', 'spec.nodeName'],
  nameRule: 'dns1123Subdomain',
  createOnUpdate: false,
  unconditionalUpdate: true,
  hasGeneration: false,
  resetMain: [],
  resetBySubresource: {},
};
