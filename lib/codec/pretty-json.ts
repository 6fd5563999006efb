// JSON with line breaks, for people. Lists are put together from entries, so that no list is made
// in one turn.
import { indented } from '../api/json-spans.ts';
import { listMetaObject } from './frame.ts';
import type { ListMeta } from './frame.ts';
import { stringify } from './json.ts';

const entryIndent = '    ';

export const prettyJson = (json: Uint8Array): Uint8Array =>
  Buffer.from(`${indented(textOf(json))}\n`);

export const prettyListEntry = (json: Uint8Array): Uint8Array =>
  Buffer.from(entryIndent + indented(textOf(json), entryIndent));

export const prettyListSeparator: Uint8Array = Buffer.from(',\n');

/** What stands before and after the entries of a list. */
export function prettyListEnds(
  of: { readonly kind: string; readonly apiVersion: string },
  metadata: ListMeta,
  count: number,
): { readonly open: Uint8Array; readonly close: Uint8Array } {
  const text = stringify({ ...of, metadata: listMetaObject(metadata), items: [] }, 2);
  if (count === 0) return { open: Buffer.from(`${text}\n`), close: new Uint8Array() };
  const open = `${text.slice(0, text.lastIndexOf(']'))}\n`;
  return { open: Buffer.from(open), close: Buffer.from('\n  ]\n}\n') };
}

const textOf = (json: Uint8Array): string =>
  Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString('utf8').trimEnd();
