// Media types of HTTP headers: one type with its parameters (Content-Type), or a preference list
// (Accept). Names and parameter names are case-insensitive; a malformed entry of a list is skipped,
// not an error.
import { limits } from '../base/limits.ts';

export interface MediaType {
  /** `application`, or `*`. */
  readonly type: string;
  /** `json`, or `*`. */
  readonly subtype: string;
  /** Without `q`; names in lower case, values as written. */
  readonly parameters: ReadonlyMap<string, string>;
}

export interface AcceptedType extends MediaType {
  /** From 0 (not acceptable) to 1. */
  readonly quality: number;
}

const { acceptEntriesMax, acceptLengthMax } = limits;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** undefined: not a media type. */
export function parseMediaType(text: string): MediaType | undefined {
  const [name = '', ...parts] = splitOutsideQuotes(text, ';');
  const [type = '', subtype = '', ...rest] = name.trim().toLowerCase().split('/');
  if (rest.length > 0 || !token.test(type) || !token.test(subtype)) return undefined;
  if (type === '*' && subtype !== '*') return undefined;
  const parameters = new Map<string, string>();
  for (const part of parts) {
    if (part.trim() === '') continue;
    const equals = part.indexOf('=');
    const key = part.slice(0, equals).trim().toLowerCase();
    if (equals === -1 || !token.test(key)) return undefined;
    if (!parameters.has(key)) parameters.set(key, unquoted(part.slice(equals + 1).trim()));
  }
  return { type, subtype, parameters };
}

/** Entries of an Accept header, best first; entries of one quality keep their order. */
export function parseAccept(header: string): AcceptedType[] {
  const accepted: AcceptedType[] = [];
  const entries = splitOutsideQuotes(header.slice(0, acceptLengthMax), ',');
  for (const entry of entries.slice(0, acceptEntriesMax)) {
    const media = parseMediaType(entry);
    if (media === undefined) continue;
    const parameters = new Map(media.parameters);
    const quality = parseQuality(parameters.get('q'));
    parameters.delete('q');
    if (quality !== undefined) accepted.push({ ...media, parameters, quality });
  }
  return accepted.sort((one, other) => other.quality - one.quality);
}

function parseQuality(text: string | undefined): number | undefined {
  if (text === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : undefined;
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  if (!text.includes('"')) return text.split(separator);
  const parts: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') quoted = !quoted;
    else if (quoted && text[at] === '\\') at += 1;
    else if (!quoted && text[at] === separator) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

const unquoted = (text: string): string =>
  text.length >= 2 && text.startsWith('"') && text.endsWith('"')
    ? text.slice(1, -1).replace(/\\(.)/g, '$1')
    : text;
