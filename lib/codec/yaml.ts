// The YAML codec: reads YAML 1.1 into the same walk as JSON, and writes keys in ascending order.
// It cannot stream: a watch in YAML is not acceptable.
import { stringify } from 'yaml';
import type { ScalarTag } from 'yaml';
import type { JsonValue } from '../api/type-info.ts';
import type { ApiObject, Codec } from './codec.ts';
import { decodeIfJson, decodeText } from './json.ts';
import { canonicalObject, normalise } from './normalise.ts';
import { readYaml, scalarTags } from './yaml-reader.ts';

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

const mergeTag = 'tag:yaml.org,2002:merge';
/** Text that would read back as something else is quoted, `<<` among it. */
const plainForms: ScalarTag[] = [
  ...scalarTags,
  { tag: mergeTag, default: true, test: /^<<$/, resolve: (text) => text },
];

/** Any value as YAML that 1.1 and 1.2 readers take alike: a Status, a list, a Table. */
export function encodeYaml(value: JsonValue | Readonly<ApiObject>): Uint8Array {
  const text = stringify(value, {
    version: '1.1',
    compat: plainForms,
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.tag !== mergeTag),
    sortMapEntries: true,
    indentSeq: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
  return Buffer.from(text);
}
