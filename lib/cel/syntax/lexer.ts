// Splits the text of an expression into tokens. Characters that start no token are reported and
// skipped.
import type { Issue } from './source.ts';

export type TokenKind =
  'identifier' | 'quotedField' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** As written. */
  readonly text: string;
  readonly offset: number;
}

const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const quotedField = /`[A-Za-z0-9_.\-/ ]+`/y;
const double = String.raw`\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?`;
const integer = String.raw`(?:0x[0-9A-Fa-f]+|\d+)[uU]?`;
const number = new RegExp(`${double}|${integer}`, 'y');
const symbol = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y;
const blank = /(?:[ \t\r\n\f]|\/\/[^\n]*)+/y;
const octalOrHex = String.raw`[xX][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-3][0-7]{2}`;
const escape = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|${octalOrHex})`;
const quoted = new RegExp(
  String.raw`[bB]?(?:[rR](?:"""(?:[^"]|"(?!""))*"""` +
    String.raw`|'''(?:[^']|'(?!''))*'''|"[^"\n\r]*"|'[^'\n\r]*')` +
    String.raw`|"""(?:${escape}|[^"\\]|"(?!""))*"""|'''(?:${escape}|[^'\\]|'(?!''))*'''` +
    String.raw`|"(?:${escape}|[^"\\\n\r])*"|'(?:${escape}|[^'\\\n\r])*')`,
  'y',
);
const words = new Set(['in', 'true', 'false', 'null']);

/** All tokens, ended by one of kind `end`. */
export function tokenize(text: string, issues: Issue[]): Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = offset;
    return pattern.exec(text)?.[0];
  };
  const push = (kind: TokenKind, lexeme: string): void => {
    tokens.push({ kind, text: lexeme, offset });
    offset += lexeme.length;
  };
  while (offset < text.length) {
    const space = match(blank);
    if (space !== undefined) {
      offset += space.length;
      continue;
    }
    const literal = startsQuoted(text, offset) ? match(quoted) : undefined;
    if (literal !== undefined) {
      push(/^[bB]/.test(literal) ? 'bytes' : 'string', literal);
      continue;
    }
    const name = match(identifier);
    if (name !== undefined) {
      push(words.has(name) ? 'symbol' : 'identifier', name);
      continue;
    }
    const digits = match(number);
    if (digits !== undefined) {
      push(numberKind(digits), digits);
      continue;
    }
    const field = match(quotedField);
    if (field !== undefined) {
      push('quotedField', field);
      continue;
    }
    const sign = match(symbol);
    if (sign !== undefined) {
      push('symbol', sign);
      continue;
    }
    offset += skipUnknown(text, offset, issues);
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: text.length });
  return tokens;
}

function startsQuoted(text: string, offset: number): boolean {
  return /^(?:[bB]?[rR]?)["']/.test(text.slice(offset, offset + 3));
}

function numberKind(digits: string): TokenKind {
  if (/[uU]$/.test(digits)) return 'uint';
  return digits.startsWith('0x') || /^\d+$/.test(digits) ? 'int' : 'double';
}

function skipUnknown(text: string, offset: number, issues: Issue[]): number {
  const character = String.fromCodePoint(text.codePointAt(offset) ?? 0);
  const isQuote = character === '"' || character === "'";
  const message = isQuote
    ? 'Syntax error: a string literal that does not end, or has an unknown escape'
    : `Syntax error: unexpected character '${character}'`;
  issues.push({ offset, message });
  if (!isQuote) return character.length;
  // What follows an unfinished literal is its content: go on behind the line.
  const end = text.indexOf('\n', offset);
  return (end < 0 ? text.length : end) - offset;
}
