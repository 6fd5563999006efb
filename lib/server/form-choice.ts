// The form of an answer: what was asked for (object, metadata only, Table) in the encoding that was
// agreed on. Encodings are rows (lib/codec/encodings.ts): nothing here knows one of them.
import { indented } from '../api/json-spans.ts';
import { kindColumns } from '../kinds/built-in-kinds.ts';
import type { Scheme } from '../api/scheme.ts';
import type { TypeInfo } from '../api/type-info.ts';
import { jsonEncoding } from '../codec/encodings.ts';
import type { Encoding, Rewrite } from '../codec/encodings.ts';
import { listMetaObject } from '../codec/frame.ts';
import { stringify } from '../codec/json.ts';
import type { Negotiated } from '../codec/negotiate.ts';
import { parseIncludeObject } from '../codec/table.ts';
import type { VerbTarget } from '../registry/verb-target.ts';
import { elementForms } from './element-forms.ts';
import { jsonForms, rewrittenForms } from './forms.ts';
import type { Form, Forms } from './forms.ts';

export interface FormChoice {
  readonly encodingOf: (mediaType: string) => Encoding;
  /** The encodings that objects of a type have, in the order of their rows. */
  readonly encodingsOf: (type: TypeInfo) => readonly Encoding[];
  /** @throws StatusError 400 for a query that asks for no form. */
  readonly formOf: (
    query: URLSearchParams,
    target: Pick<VerbTarget, 'resource'>,
    as: Negotiated,
  ) => Form;
}

export function createFormChoice(options: {
  readonly scheme: Scheme;
  readonly encodings: readonly Encoding[];
  readonly nowMs: () => number;
}): FormChoice {
  const { scheme, encodings, nowMs } = options;
  const columnsOf = kindColumns(scheme.profile);
  const json = jsonForms(scheme.profile);
  const pretty = rewrittenForms('pretty', json, prettyJson);
  const byMediaType = new Map(encodings.map((encoding) => [encoding.mediaType, encoding]));
  const forms = new Map(encodings.map((encoding) => [encoding, formsOf(encoding, json, scheme)]));
  const encodingOf = (mediaType: string): Encoding => byMediaType.get(mediaType) ?? jsonEncoding;
  return {
    encodingOf,
    encodingsOf: encodingsByType(encodings),
    formOf(query, target, as) {
      const encoding = encodingOf(as.mediaType);
      const choice = isPretty(as, encoding) ? pretty : (forms.get(encoding) ?? json);
      if (as.transform === undefined) return choice.object(target.resource);
      if (as.transform.as !== 'Table') return choice.partial();
      const include = parseIncludeObject(query.get('includeObject'));
      const headers = query.get('noHeaders') !== 'true';
      return choice.table({ columns: columnsOf(target.resource.type), include, headers, nowMs });
    },
  };
}

/** Only JSON has a form for people. */
export const isPretty = (as: Negotiated, encoding: Encoding): boolean =>
  as.pretty && encoding === jsonEncoding;

export const prettyPrint = (json: Uint8Array): Uint8Array =>
  Buffer.from(`${indented(textOf(json))}\n`);

const textOf = (json: Uint8Array): string =>
  Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString('utf8').trimEnd();

const entryIndent = '    ';

/**
 * JSON with line breaks; lists are put together from entries, so that no list is made in one turn.
 */
const prettyJson: Rewrite = {
  whole: prettyPrint,
  lists: {
    entry(json) {
      return Buffer.from(entryIndent + indented(textOf(json), entryIndent));
    },
    between: Buffer.from(',\n'),
    ends(of, metadata, count) {
      const text = stringify({ ...of, metadata: listMetaObject(metadata), items: [] }, 2);
      if (count === 0) return { open: Buffer.from(`${text}\n`), close: new Uint8Array() };
      const open = `${text.slice(0, text.lastIndexOf(']'))}\n`;
      return { open: Buffer.from(open), close: Buffer.from('\n  ]\n}\n') };
    },
  },
};

function formsOf(encoding: Encoding, json: Forms, scheme: Scheme): Forms {
  const { elements, rewrite, mediaType } = encoding;
  if (elements !== undefined) return elementForms(encoding, elements, scheme);
  return rewrite === undefined ? json : rewrittenForms(mediaType, json, rewrite);
}

/** The encodings that a type has; found once per type. */
function encodingsByType(encodings: readonly Encoding[]): (type: TypeInfo) => readonly Encoding[] {
  const found = new WeakMap<TypeInfo, readonly Encoding[]>();
  return (type) => {
    const known = found.get(type);
    if (known !== undefined) return known;
    const holding = encodings.filter((encoding) => encoding.holds(type));
    found.set(type, holding);
    return holding;
  };
}
