// Names of properties as identifiers of the language: `a.b` is written `a__dot__b`, a reserved word
// `__in__`.
import { reservedWords } from '../syntax/reserved-words.ts';

const reserved: ReadonlySet<string> = new Set([...reservedWords, 'true', 'false', 'null', 'in']);

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};
const unescapes: ReadonlyMap<string, string> = new Map(
  Object.entries(escapes).map(([plain, escaped]) => [escaped, plain]),
);

/** Words that the language keeps for itself: as identifiers they are written `__word__`. */
export const isReservedWord = (name: string): boolean => reserved.has(name);

/** The identifier of a property; undefined: it cannot be written. */
export function escapeName(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[./-]/g, (part) => escapes[part] ?? part);
}

/** The property of an identifier; undefined: no property has this identifier. */
export function unescapeName(identifier: string): string | undefined {
  const word = /^__([a-z]+)__$/.exec(identifier)?.[1];
  if (word !== undefined && reserved.has(word)) return word;
  if (!identifier.includes('__')) return identifier;
  let isValid = true;
  const name = identifier.replace(/__(?:([a-z]+)__)?/g, (part) => {
    const plain = unescapes.get(part);
    isValid &&= plain !== undefined;
    return plain ?? part;
  });
  return isValid ? name : undefined;
}
