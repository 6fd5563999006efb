// One pass over JSON text before it is parsed: how many members it has, how deep it nests, whether
// it needs a slow path. The second function finds duplicate members of valid text; it runs only
// when the counts say that there are some.

export interface JsonScan {
  /** Members (`"key":`) of all objects. */
  members: number;
  /** Deepest nesting of objects and lists. */
  depth: number;
  /** Holds a run of 16 or more digits outside strings: integers that a double may not hold. */
  bigDigits: boolean;
  /** Holds an escape of the surrogate range (`\ud800`), perhaps without its partner. */
  surrogates: boolean;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBrace = 0x7d;
const closeBracket = 0x5d;

/**
 * Stops early once `depthMax` is passed. The text need not be valid JSON: the parser decides that.
 */
export function scanJson(text: string, depthMax: number): JsonScan {
  const hasSurrogates = text.includes('\\ud') || text.includes('\\uD');
  const found: JsonScan = { members: 0, depth: 0, bigDigits: false, surrogates: hasSurrogates };
  let depth = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) {
      digits += 1;
      if (digits === 16) found.bigDigits = true;
      continue;
    }
    digits = 0;
    if (code === quote) at = endOfString(text, at);
    else if (code === colon) found.members += 1;
    else if (code === openBrace || code === openBracket) {
      depth += 1;
      if (depth <= found.depth) continue;
      found.depth = depth;
      if (depth > depthMax) return found;
    } else if (code === closeBrace || code === closeBracket) depth -= 1;
  }
  return found;
}

const escapes =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\[^]/g;

/**
 * Replaces every escaped surrogate that has no partner by U+FFFD: text in memory is always
 * well-formed.
 */
export function replaceLoneSurrogates(text: string): string {
  return text.replace(escapes, (escape) => (escape.length === 6 ? '\\ufffd' : escape));
}

/**
 * Calls `report` with the path of every member whose key came before in the same object. `text` is
 * valid JSON.
 */
export function findDuplicates(
  text: string,
  report: (path: readonly (string | number)[]) => void,
): void {
  const path: (string | number)[] = [];
  const scopes: (Set<string> | undefined)[] = [];
  let expectKey = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case openBrace:
        scopes.push(new Set());
        path.push('');
        expectKey = true;
        break;
      case openBracket:
        scopes.push(undefined);
        path.push(0);
        expectKey = false;
        break;
      case closeBrace:
      case closeBracket:
        scopes.pop();
        path.pop();
        expectKey = false;
        break;
      case 0x2c: {
        const keys = scopes.at(-1);
        expectKey = keys !== undefined;
        if (keys === undefined) path.push(Number(path.pop()) + 1);
        break;
      }
      case quote: {
        const end = endOfString(text, at);
        const keys = scopes.at(-1);
        if (expectKey && keys !== undefined) {
          const key = JSON.parse(text.slice(at, end + 1)) as string;
          path[path.length - 1] = key;
          if (keys.has(key)) report(path);
          keys.add(key);
          expectKey = false;
        }
        at = end;
        break;
      }
      default:
        break;
    }
  }
}

/**
 * Index of the quote that ends the string opened at `from`; the last index when it never ends. A
 * search is faster than a look at each character.
 */
export function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    const isEscaped = (at - before) % 2 === 0;
    if (!isEscaped) return at;
  }
  return text.length - 1;
}
