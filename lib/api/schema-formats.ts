// Formats that schemas name, as other servers understand them: most are looser or stricter than the
// standards of their names.
import { isIP } from 'node:net';
import { parseRequestUri } from '../base/request-uri.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from './name-rules.ts';

type Format = (text: string) => boolean;

const matches =
  (pattern: RegExp): Format =>
  (text) =>
    pattern.test(text);

const uuidOf = (third: string, fourth: string): Format =>
  matches(
    new RegExp(
      `^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}[0-9a-f]{3}-?${fourth}[0-9a-f]{3}-?[0-9a-f]{12}$`,
      'i',
    ),
  );

export const isUuid = uuidOf('[0-9a-f]', '[0-9a-f]');

/** Standard alphabet with padding, not empty. */
export const isBase64 = matches(
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/,
);

const atomLetters = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u{80}-\\u{10ffff}-";
const dotted = `[${atomLetters}]+(?:\\.[${atomLetters}]+)*`;
const quoted = '"(?:[^"\\\\\\r\\n]|\\\\[^\\r\\n])*"';
const address = `(?:${dotted}|${quoted})@(?:${dotted}|\\[[^\\[\\]\\\\]*\\])`;
const isEmail = matches(
  new RegExp(`^(?: *${address}|(?:[${atomLetters}. ]|${quoted})*<${address}>) *$`, 'u'),
);

const letter = 'a-zA-Z0-9\\p{S}\\p{L}';
const oneLabel = new RegExp(`^[${letter}](?:-?[${letter}]{0,62})?$`, 'u');
const innerLabel = new RegExp(`^[${letter}](?:[-${letter}]{0,61}[${letter}])?$`, 'u');
const lastLabel = /^[a-zA-Z\p{L}]{2,63}$/u;

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  const labels = text.split('.');
  if (labels.some((label) => Buffer.byteLength(label) > 63)) return false;
  const last = labels.pop() ?? '';
  if (labels.length === 0) return oneLabel.test(last);
  return lastLabel.test(last) && labels.every((label) => innerLabel.test(label));
}

const isDotted: Format = (text) =>
  /^\d{1,9}(?:\.\d{1,9}){3}$/.test(text) && text.split('.').every((part) => Number(part) <= 255);
const isColoned: Format = (text) => isIP(text) === 6 && !text.includes('%');

function isCidr(text: string): boolean {
  const slash = text.lastIndexOf('/');
  const host = text.slice(0, Math.max(slash, 0));
  const length = text.slice(slash + 1);
  if (!/^\d{1,6}$/.test(length)) return false;
  return (isDotted(host) && Number(length) <= 32) || (isColoned(host) && Number(length) <= 128);
}

/** Addresses of 6, 8 or 20 bytes, by pairs with one separator throughout or by fours. */
function isMac(text: string): boolean {
  const isPaired = /^[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4,18}$/i.test(text);
  if (isPaired) return [6, 8, 20].includes((text.length + 1) / 3);
  return /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){2,9}$/i.test(text) && [14, 19, 49].includes(text.length);
}

/** Without blanks and dashes; '' where that is longer than any number. */
function isbnText(text: string): string {
  let bare = '';
  for (let at = 0; at < text.length && bare.length <= 13; at += 1) {
    const letter = text.charAt(at);
    if (letter !== '-' && !/\s/.test(letter)) bare += letter;
  }
  return bare.length > 13 ? '' : bare;
}

const digitsOf = (text: string): number[] =>
  [...text].map((digit) => (digit === 'X' ? 10 : Number(digit)));

function isIsbn10(text: string): boolean {
  const bare = isbnText(text);
  if (!/^\d{9}[\dX]$/.test(bare)) return false;
  const sum = digitsOf(bare).reduce((total, digit, at) => total + (at + 1) * digit, 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const bare = isbnText(text);
  if (!/^\d{13}$/.test(bare)) return false;
  const sum = digitsOf(bare).reduce(
    (total, digit, at) => total + (at % 2 === 0 ? 1 : 3) * digit,
    0,
  );
  return sum % 10 === 0;
}

const cardNumbers: readonly RegExp[] = [
  /^4\d{12}(?:\d{3})?$/,
  /^(?:5[1-5]\d\d|6011|65\d\d|35\d\d)\d{12}$/,
  /^(?:3[47]\d\d|2131|1800)\d{11}$/,
  /^3(?:0[0-5]|[68]\d)\d{11}$/,
];

function isCreditCard(text: string): boolean {
  const bare = text.replace(/\D+/g, '');
  if (!cardNumbers.some((pattern) => pattern.test(bare))) return false;
  const sum = digitsOf(bare)
    .reverse()
    .reduce((total, digit, at) => {
      const doubled = at % 2 === 0 ? digit : digit * 2;
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
  return sum % 10 === 0;
}

const channel = '\\s*(?:0|[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-5])\\s*';

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const isDateTime: Format = (text) =>
  /^.{10}t(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:z|[+-]\d{2}:\d{2})$/i.test(text) &&
  isDate(text.slice(0, 10));

const goDuration = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const durationUnit =
  /^(?:[nuµm]?s|[mhdw]|hr|wk|(?:nano|micro|milli|sec|min|hour|day|week)[a-zµ]*)$/i;

/** Go's, or a number with a unit in words anywhere in the text. */
function isDuration(text: string): boolean {
  if (goDuration.test(text)) return true;
  for (const [, unit] of text.matchAll(/(?<!\d)\d+\s*([a-zµ]+)/gi)) {
    if (durationUnit.test(unit ?? '')) return true;
  }
  return false;
}

// Longer ones are none, whatever they are made of.
const isLabel: Format = (text) => text.length <= 63 && dns1123LabelProblems(text).length === 0;
const isSubdomain: Format = (text) =>
  text.length <= 253 && dns1123SubdomainProblems(text).length === 0;

/** By name without dashes: whether a text is of the format. */
export const schemaFormats: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['uri', (text) => typeof parseRequestUri(text) !== 'string'],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', (text) => isDotted(text) || (text.includes('.') && isColoned(text))],
  ['ipv6', isColoned],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', isUuid],
  ['uuid3', uuidOf('3', '[0-9a-f]')],
  ['uuid4', uuidOf('4', '[89ab]')],
  ['uuid5', uuidOf('5', '[89ab]')],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['creditcard', isCreditCard],
  ['ssn', matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/)],
  ['hexcolor', matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['rgbcolor', matches(new RegExp(`^rgb\\(${channel},${channel},${channel}\\)$`))],
  ['byte', isBase64],
  ['password', () => true],
  ['date', isDate],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['k8sshortname', isLabel],
  ['k8slongname', isSubdomain],
]);
