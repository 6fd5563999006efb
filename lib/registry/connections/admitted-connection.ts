// Admission of a connection: the options that its query makes are the object, and nothing is
// written. It comes before anything is looked up.
import { apiVersionOf } from '../../api/type-info.ts';
import type { FieldInfo, JsonValue, SubresourceInfo, TypeInfo } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { admissionRequest, mutated, singleForm } from '../incoming.ts';
import { booleanOf, integerOf } from '../options.ts';
import { recordOf } from '../own-kind.ts';
import type { ConnectRequest } from '../requests.ts';
import type { StoreParts } from '../store-parts.ts';

/** @throws StatusError of the plugin that refuses, 400 for a value of the query that is none. */
export async function admitConnection(
  parts: StoreParts,
  info: SubresourceInfo,
  request: ConnectRequest,
): Promise<void> {
  const record = recordOf(parts, info.kind);
  if (record === undefined) return;
  const { path, user, warnings, annotations, signal } = request;
  const { subresource } = path;
  const context = { user, warnings, annotations, subresource, dryRun: false };
  const attributes = admissionRequest(
    parts,
    { operation: 'CONNECT', key: path, old: undefined },
    context,
    singleForm(record),
  );
  const asked = {
    kind: record.kind.kind,
    apiVersion: apiVersionOf(record.kind),
    ...optionsOf(record.type, request),
  };
  const ofOptions = { ...parts, storedAs: record };
  const options = await mutated(ofOptions, attributes, asked, context, signal);
  await parts.admission.validate(attributes, options, signal);
}

/** Members that the query names; the path of a proxy is what follows it in the URL. */
function optionsOf({ fields }: TypeInfo, { query, rest }: ConnectRequest): Partial<ApiObject> {
  const options: Record<string, JsonValue> = {};
  for (const field of fields) {
    const value = optionOf(field, query);
    if (value !== undefined) options[field.jsonName] = value;
  }
  const isProxy = fields.some(({ jsonName }) => jsonName === 'path');
  if (isProxy && rest.length > 0) options['path'] = rest.join('/');
  return options;
}

/** `false`, 0 and the empty text are as if they were not there. */
function optionOf(
  { jsonName, cardinality, scalar }: FieldInfo,
  query: URLSearchParams,
): JsonValue | undefined {
  if (!query.has(jsonName)) return undefined;
  if (cardinality === 'list') {
    const texts = query.getAll(jsonName);
    return scalar === 'string' ? texts : texts.flatMap((text) => text.split(',').map(Number));
  }
  if (scalar === 'bool') return booleanOf(query, jsonName) === true ? true : undefined;
  if (scalar === 'string') return query.get(jsonName) || undefined;
  return integerOf(query, jsonName) || undefined;
}
