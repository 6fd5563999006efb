// Which values expressions see in JSON of a described type: one answer for declared types and for
// the wrapping of JSON, of built-in kinds as of those from schemas.
import type { ScalarType, SpecialForm, TypeInfo, ValueInfo } from '../../api/type-info.ts';

export type ScalarForm =
  | 'boolean'
  | 'bytes'
  | 'date'
  | 'dateTime'
  | 'double'
  | 'duration'
  | 'integer'
  | 'string'
  /** Of built-in kinds: whatever JSON it is. */
  | 'any'
  | 'intOrString';

export type ValueForm =
  /** `of`: the list or map itself. */
  | { readonly kind: 'list' | 'map'; readonly of: ValueInfo }
  | { readonly kind: 'opaque' }
  | { readonly kind: 'object'; readonly type: TypeInfo }
  | { readonly kind: 'scalar'; readonly form: ScalarForm };

const scalar = (form: ScalarForm): ValueForm => ({ kind: 'scalar', form });

const scalars: Readonly<Record<ScalarType, ScalarForm>> = {
  string: 'string',
  int32: 'integer',
  int64: 'integer',
  bool: 'boolean',
  double: 'double',
  bytes: 'bytes',
};

/** Texts of built-in kinds are what their kind says; formats of schemas are in `formats`. */
const specials: Readonly<Record<SpecialForm, ScalarForm>> = {
  time: 'dateTime',
  microTime: 'dateTime',
  timestamp: 'dateTime',
  duration: 'string',
  quantity: 'string',
  intOrString: 'intOrString',
  rawExtension: 'any',
  fieldsV1: 'any',
  json: 'any',
  schemaOrList: 'any',
  schemaOrBool: 'any',
  schemaOrStrings: 'any',
};

const formats: ReadonlyMap<string, ScalarForm> = new Map([
  ['byte', 'bytes'],
  ['date', 'date'],
  ['date-time', 'dateTime'],
  ['duration', 'duration'],
]);

/** `opaque`: expressions cannot look into it, for its schema names no type. */
export function formOf(value: ValueInfo): ValueForm {
  const { cardinality, scalar: type, message, schema } = value;
  if (cardinality === 'single' && message?.special !== undefined) {
    return scalar(specials[message.special]);
  }
  if (schema?.type === '') return { kind: 'opaque' };
  if (cardinality !== 'single') return { kind: cardinality, of: value };
  if (type !== undefined) {
    return scalar((type === 'string' && formats.get(schema?.format ?? '')) || scalars[type]);
  }
  if (message === undefined) return schema === undefined ? scalar('any') : { kind: 'opaque' };
  const [only] = message.fields;
  if (message.isNamedList && only !== undefined) return formOf(only);
  return { kind: 'object', type: message };
}
