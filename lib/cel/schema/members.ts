// The members of objects as expressions see them.
import type { FieldInfo, TypeInfo, ValueInfo } from '../../api/type-info.ts';
import { plainValue } from '../../api/value-info.ts';

export interface Member {
  readonly name: string;
  readonly value: ValueInfo;
  /** It is there in every valid object. */
  readonly isRequired: boolean;
}

export function* membersOf(type: TypeInfo): Generator<Member> {
  const { open, hasTypeMeta } = type;
  const required = new Set(open?.schema?.required);
  for (const [name, value] of hasTypeMeta ? typeMetaOf(type) : []) {
    yield { name, value, isRequired: required.has(name) };
  }
  for (const [name, field] of type.fieldByJsonName) {
    const isTypeMeta = name === 'metadata' && hasTypeMeta && open !== undefined;
    if (name !== '-' && !isTypeMeta) yield { name, value: field, isRequired: field.required };
  }
}

const text: ValueInfo = { ...plainValue, scalar: 'string' };
const namesOfKind: ReadonlyMap<string, ValueInfo> = new Map([
  ['apiVersion', text],
  ['kind', text],
]);

/** Of types from schemas, metadata is among them: two names, for the rest is the server's. */
function typeMetaOf({ open, fieldByJsonName }: TypeInfo): ReadonlyMap<string, ValueInfo> {
  if (open === undefined) return namesOfKind;
  if (open.typeMeta !== undefined && isComplete(open.typeMeta)) return open.typeMeta;
  const metadata = fieldByJsonName.get('metadata');
  if (metadata?.message === undefined) return namesOfKind;
  return new Map([...namesOfKind, ['metadata', { ...metadata, message: named(metadata.message) }]]);
}

/** What a schema says of them counts only where it says it of all. */
function isComplete(declared: ReadonlyMap<string, FieldInfo>): boolean {
  const isText = (value: ValueInfo | undefined): boolean => value?.schema?.type === 'string';
  const metadata = declared.get('metadata')?.message?.fieldByJsonName;
  return (
    isText(declared.get('kind')) &&
    isText(declared.get('apiVersion')) &&
    isText(metadata?.get('name')) &&
    isText(metadata?.get('generateName'))
  );
}

function named(objectMeta: TypeInfo): TypeInfo {
  const fields = objectMeta.fields.filter(
    ({ jsonName }) => jsonName === 'name' || jsonName === 'generateName',
  );
  const fieldByJsonName = new Map(fields.map((field) => [field.jsonName, field]));
  return { ...objectMeta, fields, fieldByJsonName };
}
