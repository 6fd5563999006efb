// Where values lie in JSON text, so that parts of it are kept as they are written. The text is
// valid JSON; of any other text the positions mean nothing, but every function ends.
import { endOfString } from './json-scan.ts';

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Index of the first character from `at` on that is no white space. */
export function skipSpace(text: string, at: number): number {
  let index = at;
  while (isSpace(text.charCodeAt(index))) index += 1;
  return index;
}

/** Index after the value whose first character is at `from`. */
export function endOfValue(text: string, from: number): number {
  switch (text.charCodeAt(from)) {
    case quote:
      return endOfString(text, from) + 1;
    case openBrace:
    case openBracket:
      return endOfNested(text, from);
    default: {
      let at = from;
      while (at < text.length && !endsScalar(text.charCodeAt(at))) at += 1;
      return at;
    }
  }
}

const endsScalar = (code: number): boolean =>
  code === comma || code === closeBrace || code === closeBracket || isSpace(code);

function endOfNested(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case openBrace:
      case openBracket:
        depth += 1;
        break;
      case closeBrace:
      case closeBracket:
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      default:
        break;
    }
  }
  return text.length;
}

/** Is told of each value where it begins and returns where it ends. */
export type VisitMember = (key: string, from: number) => number;
export type VisitElement = (from: number) => number;

/** Visits the members of the object that begins at `from`; returns its end. */
export function visitMembers(text: string, from: number, visit: VisitMember): number {
  let at = skipSpace(text, from + 1);
  while (text.charCodeAt(at) === quote) {
    const keyEnd = endOfString(text, at) + 1;
    const key = text.slice(at + 1, keyEnd - 1);
    const colon = skipSpace(text, keyEnd);
    const valueFrom = skipSpace(text, colon + 1);
    const isEscaped = key.includes('\\');
    at = visit(isEscaped ? (JSON.parse(`"${key}"`) as string) : key, valueFrom);
    at = skipSpace(text, at);
    if (text.charCodeAt(at) !== comma) break;
    at = skipSpace(text, at + 1);
  }
  return at + 1;
}

/** Visits the elements of the list that begins at `from`; returns its end. */
export function visitElements(text: string, from: number, visit: VisitElement): number {
  let at = skipSpace(text, from + 1);
  while (at < text.length && text.charCodeAt(at) !== closeBracket) {
    at = skipSpace(text, visit(at));
    if (text.charCodeAt(at) !== comma) break;
    at = skipSpace(text, at + 1);
  }
  return at + 1;
}

export const isObjectAt = (text: string, at: number): boolean => text.charCodeAt(at) === openBrace;
export const isListAt = (text: string, at: number): boolean => text.charCodeAt(at) === openBracket;

const escapedInAnswers = /[<>&\u2028\u2029]/g;
const mayChange = /[\s<>&\u2028\u2029]/;

/** What Go's encoder escapes wherever it stands, so that browsers take JSON for nothing else. */
export const escapeMarkup = (json: string): string =>
  json.replace(
    escapedInAnswers,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The text without white space between its parts, and with markup escaped. */
export function compacted(json: string): string {
  if (!mayChange.test(json)) return json;
  let result = '';
  let from = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfString(json, at);
    else if (isSpace(code)) {
      result += json.slice(from, at);
      from = at + 1;
    }
  }
  return escapeMarkup(result + json.slice(from));
}

/** Compact JSON with line breaks, for people: lines are indented by two and after `margin`. */
export function indented(json: string, margin = ''): string {
  let result = '';
  let from = 0;
  let lineStart = `\n${margin}`;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfString(json, at);
    else if (code === 0x3a) {
      result += `${json.slice(from, at)}: `;
      from = at + 1;
    } else if (code === comma) {
      result += json.slice(from, at + 1) + lineStart;
      from = at + 1;
    } else if (code === openBrace || code === openBracket) {
      const next = json.charCodeAt(at + 1);
      if (next === closeBrace || next === closeBracket) at += 1;
      else {
        lineStart += '  ';
        result += json.slice(from, at + 1) + lineStart;
        from = at + 1;
      }
    } else if (code === closeBrace || code === closeBracket) {
      lineStart = lineStart.slice(0, -2);
      result += json.slice(from, at) + lineStart;
      from = at;
    }
  }
  return result + json.slice(from);
}
