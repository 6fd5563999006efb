// The YAML codec: reads YAML 1.1 into the same walk as JSON, and writes keys in ascending order.
// It cannot stream: a watch in YAML is not acceptable.
import { DUMP_SCHEMA, NOT_RESOLVED, defineScalarTag, dump, intYaml11Tag, mapTag } from 'js-yaml';
import { isObject } from '../api/json-value.ts';
import type { JsonValue } from '../api/type-info.ts';
import type { ApiObject, Codec } from './codec.ts';
import { listMetaObject } from './frame.ts';
import type { ListMeta } from './frame.ts';
import { decodeIfJson, decodeText, jsonCodec, parseData } from './json.ts';
import { normalise } from './normalise.ts';
import { readYaml } from './yaml-reader.ts';
import { plainValue } from './yaml-scalar.ts';

export const yamlCodec: Codec = {
  mediaType: 'application/yaml',
  decode(body, type) {
    const text = decodeText(body);
    const json = decodeIfJson(text, type);
    if (json !== undefined) return json;
    const { value, duplicates } = readYaml(text);
    const { object, problems } = normalise(value, type, { owned: true, reporting: true });
    return { object, problems: [...duplicates, ...problems] };
  },
  encode: (object, type) => encodeYaml(parseData(jsonCodec.encode(object, type))),
};

/** Numbers of any size; and text that would read back as anything but text is quoted. */
const numberTag = defineScalarTag(intYaml11Tag.tagName, {
  implicit: true,
  resolve: (text, isExplicit, tagName) => {
    if (typeof plainValue(text) !== 'string' || text === '=') return 0;
    const result = DUMP_SCHEMA.tags.find((tag) => tag.tagName === tagName);
    return result?.nodeKind === 'scalar'
      ? (result.resolve(text, isExplicit, tagName) as number | typeof NOT_RESOLVED)
      : NOT_RESOLVED;
  },
  identify: (value) => typeof value === 'number' || typeof value === 'bigint',
  represent: (value) => (Number.isFinite(Number(value)) ? String(value) : infinity(value)),
});
/** What a number of JSON beyond doubles is read as. */
const infinity = (value: unknown): string => (Number(value) > 0 ? '.inf' : '-.inf');
/** Records (lib/api/record.ts) are mappings as plain objects are. */
const recordTag = { ...mapTag, identify: isObject };
const schema = DUMP_SCHEMA.withTags(numberTag, recordTag);

/** Any value as YAML that 1.1 and 1.2 readers take alike: a Status, a list, a Table. */
export const encodeYaml = (value: JsonValue | Readonly<ApiObject>): Uint8Array =>
  Buffer.from(yamlText(value));

function yamlText(value: JsonValue | Readonly<ApiObject>): string {
  return dump(value, {
    schema,
    noRefs: true,
    skipInvalid: true, // Members that are undefined.
    sortKeys: true,
    seqNoIndent: true,
    lineWidth: -1,
    quoteStyle: 'double',
  });
}

/** An object as an entry of a list: a dash, and its lines further in. */
export function yamlListEntry(value: JsonValue | Readonly<ApiObject>): Uint8Array {
  const lines = yamlText(value).replaceAll(/\n(?=[^\n])/g, '\n  ');
  return Buffer.from(`- ${lines}`);
}

/** What stands before and after the entries of a list: its members are in ascending order. */
export function yamlListEnds(
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
  metadata: ListMeta,
  count: number,
): { readonly open: Uint8Array; readonly close: Uint8Array } {
  const items = count === 0 ? 'items: []\n' : 'items:\n';
  return {
    open: Buffer.from(`${yamlText({ apiVersion })}${items}`),
    close: encodeYaml({ kind, metadata: listMetaObject(metadata) }),
  };
}
