// The YAML codec: reads YAML 1.1 into the same walk as JSON, and writes keys in ascending order.
// It cannot stream: a watch in YAML is not acceptable.
import { DUMP_SCHEMA, NOT_RESOLVED, defineScalarTag, dump, intYaml11Tag } from 'js-yaml';
import type { JsonValue } from '../api/type-info.ts';
import type { ApiObject, Codec } from './codec.ts';
import { decodeIfJson, decodeText } from './json.ts';
import { canonicalObject, normalise } from './normalise.ts';
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
  encode: (object, type) => encodeYaml(canonicalObject(object, type)),
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
  represent: String,
});
const schema = DUMP_SCHEMA.withTags(numberTag);

/** Any value as YAML that 1.1 and 1.2 readers take alike: a Status, a list, a Table. */
export function encodeYaml(value: JsonValue | Readonly<ApiObject>): Uint8Array {
  const text = dump(value, {
    schema,
    noRefs: true,
    skipInvalid: true, // Members that are undefined.
    sortKeys: true,
    seqNoIndent: true,
    lineWidth: -1,
    quoteStyle: 'double',
  });
  return Buffer.from(text);
}
