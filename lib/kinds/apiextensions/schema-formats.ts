// Formats that schemas name and nobody checks: whoever writes the definition is told.
import {
  entriesAt,
  flagAt,
  listAt,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { isObject } from '../../api/json-value.ts';
import { schemaFormats } from '../../api/schema-formats.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder, Warnings } from '../validator.ts';

/** A schema and all within it. */
export function* nodesOf(schema: JsonObject): Generator<JsonObject> {
  yield schema;
  const children = [
    ...['items', 'additionalProperties', 'not'].map((word) => valueAt(schema, word)),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((word) => listAt(schema, word)),
    ...entriesAt(schema, 'properties').map(([, property]) => property),
  ];
  for (const child of children) if (isObject(child)) yield* nodesOf(child);
}

const numberFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

function isKnownFormat(node: JsonObject, prefix: string): boolean {
  const format = textAt(node, 'format');
  const type = textAt(node, 'type');
  if (format === '') return true;
  if (Object.hasOwn(numberFormats, type)) return numberFormats[type]?.includes(format) === true;
  const isText = type === 'string' || type === '' || flagAt(node, `${prefix}int-or-string`);
  return isText && schemaFormats.has(format.replaceAll('-', ''));
}

function unknownFormats(spec: Holder, prefix: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const version of recordsAt(spec, 'versions')) {
    const schema = recordIn(version, 'schema', 'openAPIV3Schema');
    for (const node of schema === undefined ? [] : nodesOf(schema)) {
      if (!isKnownFormat(node, prefix)) found.add(textAt(node, 'format'));
    }
  }
  return found;
}

/** Formats that are new with this write. */
export const definitionWarnings: Warnings = ({ object, old, naming }) => {
  const prefix = naming.schemaExtensionPrefix;
  const known = unknownFormats(recordAt(old, 'spec'), prefix);
  return [...unknownFormats(recordAt(object, 'spec'), prefix)]
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`);
};
