// What schemas of definitions become types with. Of metadata, expressions and conditions know two
// names only, so that the type of a definition's metadata holds no more.
import type { SchemaSource } from '../../api/load-schema.ts';
import type { FieldInfo, TypeInfo } from '../../api/type-info.ts';
import { plainValue } from '../../api/value-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';

const nameField = (jsonName: string): FieldInfo => ({
  ...plainValue,
  scalar: 'string',
  jsonName,
  protoName: jsonName,
  number: 0,
  pointer: false,
  required: false,
  omit: 'empty',
  zero: undefined,
  enumValues: undefined,
  patchStrategies: [],
  patchMergeKey: undefined,
  gates: [],
  options: {},
});

const fields = [nameField('name'), nameField('generateName')];

const objectMeta: TypeInfo = {
  id: 'meta/v1.ObjectMeta',
  name: 'ObjectMeta',
  hasTypeMeta: false,
  special: undefined,
  isNamedList: false,
  fields,
  fieldByJsonName: new Map(fields.map((field) => [field.jsonName, field])),
  options: {},
};

export const schemaSource = (profile: NamingProfile): SchemaSource => ({
  id: 'Schema',
  objectMeta,
  profile,
});
