// Texts of doubles as Go prints them ('g' with the shortest digits), and the parsing of numbers
// from strings.
import { intMax, intMin, toInt, uintMax } from './value.ts';
import type { Int } from './value.ts';

/**
 * The shortest text that reads back as `value`: plain from 1e-4 to below 10^`plainDigits`, else
 * with an exponent.
 */
export function formatDouble(value: number, plainDigits = 21): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < plainDigits) return plainText(value);
  const sign = exponent < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** Without an exponent, whatever the size. */
function plainText(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const [digits, exponentText] = text.split('e') as [string, string];
  const negative = digits.startsWith('-');
  const bare = digits.replace(/^-/, '').replace('.', '');
  const point = Number(exponentText) + 1;
  const body = point <= 0 ? `0.${'0'.repeat(-point)}${bare}` : bare.padEnd(point, '0');
  return `${negative ? '-' : ''}${body}`;
}

/** A decimal int within 64 bits, with an optional sign; undefined otherwise. */
export function parseInt64(text: string): Int | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return value < intMin || value > intMax ? undefined : toInt(value);
}

/** A decimal uint within 64 bits without a sign; undefined otherwise. */
export function parseUint64(text: string): bigint | undefined {
  if (!/^\d+$/.test(text)) return undefined;
  const value = BigInt(text);
  return value > uintMax ? undefined : value;
}

/**
 * A double in decimal or hexadecimal notation, infinities and NaN; undefined when malformed or out
 * of range.
 */
export function parseDouble(text: string): number | undefined {
  const named = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (named !== null) {
    if (/nan/i.test(text)) return named[1] === '' ? Number.NaN : undefined;
    return named[1] === '-' ? -Infinity : Infinity;
  }
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  const hexadecimal = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/.exec(text);
  if (hexadecimal === null || `${hexadecimal[2] ?? ''}${hexadecimal[3] ?? ''}` === '')
    return undefined;
  const digits = `${hexadecimal[2] ?? ''}${hexadecimal[3] ?? ''}`;
  const power = Number(hexadecimal[4]) - 4 * (hexadecimal[3] ?? '').length;
  const value = Number(BigInt(`0x${digits}`)) * 2 ** power;
  if (!Number.isFinite(value)) return undefined;
  return hexadecimal[1] === '-' ? -value : value;
}
