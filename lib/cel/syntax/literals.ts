// Values of literal tokens: numbers with range checks, strings and bytes with their escapes.
import { Double, Uint, intMax, intMin, toInt, uintMax } from '../model/value.ts';
import type { Value } from '../model/value.ts';
import type { Token } from './lexer.ts';

/** The value of a literal token, or the text of the error. */
export type LiteralResult = { readonly value: Value } | { readonly error: string };

export function parseNumberLiteral(
  token: Token,
  { isNegative }: { readonly isNegative: boolean },
): LiteralResult {
  if (token.kind === 'double') {
    const value = Number(token.text);
    if (!Number.isFinite(value)) return { error: 'invalid double literal' };
    return { value: new Double(isNegative ? -value : value) };
  }
  if (token.kind === 'uint') {
    const value = BigInt(token.text.slice(0, -1));
    return value > uintMax ? { error: 'invalid uint literal' } : { value: new Uint(value) };
  }
  const magnitude = BigInt(token.text);
  const value = isNegative ? -magnitude : magnitude;
  if (value < intMin || value > intMax) return { error: 'invalid int literal' };
  return { value: toInt(value) };
}

/** The value of a string or bytes literal. */
export function parseQuotedLiteral(token: Token): LiteralResult {
  const isBytes = token.kind === 'bytes';
  let body = isBytes ? token.text.slice(1) : token.text;
  const isRaw = /^[rR]/.test(body);
  if (isRaw) body = body.slice(1);
  const quotes = /^("""|''')/.test(body) ? 3 : 1;
  const content = body.slice(quotes, -quotes).replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  if (isBytes) return unescapeBytes(content, isRaw);
  return isRaw ? { value: content } : unescapeString(content);
}

const escapes = /\\([abfnrtv"'\\?`]|[xX][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-7]{3})/g;

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

// The code point that an escape stands for.
function codeOf(sequence: string): number {
  const letter = sequence[0] as string;
  if (/[xXuU]/.test(letter)) return Number.parseInt(sequence.slice(1), 16);
  if (/[0-7]/.test(letter)) return Number.parseInt(sequence, 8);
  return (simpleEscapes[letter] ?? letter).charCodeAt(0);
}

function unescapeString(content: string): LiteralResult {
  let isValid = true;
  const value = content.replace(escapes, (_, sequence: string) => {
    const code = codeOf(sequence);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      isValid = false;
      return '';
    }
    return String.fromCodePoint(code);
  });
  return isValid ? { value } : { error: 'invalid unicode code point' };
}

function unescapeBytes(content: string, isRaw: boolean): LiteralResult {
  if (isRaw) return { value: new TextEncoder().encode(content) };
  const bytes: number[] = [];
  let last = 0;
  for (const match of content.matchAll(escapes)) {
    bytes.push(...new TextEncoder().encode(content.slice(last, match.index)));
    const sequence = match[1] as string;
    if (/[uU]/.test(sequence[0] as string))
      return { error: 'invalid bytes literal: unicode escape' };
    bytes.push(codeOf(sequence));
    last = match.index + match[0].length;
  }
  bytes.push(...new TextEncoder().encode(content.slice(last)));
  return { value: new Uint8Array(bytes) };
}
