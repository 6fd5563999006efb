// Headers as they were sent: names and values by turns, of which Node makes a record, too.
import { newNameless } from './nameless.ts';

type HeaderRecord = NodeJS.Dict<string | string[]>;

export interface SentHeaders {
  headers: HeaderRecord;
  readonly rawHeaders: string[];
}

/** Takes headers out of both forms: what follows, a backend too, must not see them again. */
export function dropHeaders(
  sent: SentHeaders,
  /** Of the name in lower case. */
  isDropped: (name: string) => boolean,
  /** How all names begin that are dropped: most headers are told apart by that. */
  begins?: ReadonlySet<number>,
): void {
  const { rawHeaders } = sent;
  const drops = (name: string): boolean =>
    (begins === undefined || begins.has(beginOf(name))) && isDropped(name.toLowerCase());
  let hasDropped = false;
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    if (!drops(rawHeaders[at] ?? '')) continue;
    rawHeaders.splice(at, 2);
    hasDropped = true;
  }
  if (hasDropped) sent.headers = without(sent.headers, drops);
}

/** A copy: V8 makes a hash table of an object of which a member is deleted. */
function without(headers: HeaderRecord, drops: (name: string) => boolean): HeaderRecord {
  const kept = newNameless() as HeaderRecord;
  for (const name in headers) if (!drops(name)) kept[name] = headers[name];
  return kept;
}

/** Of a name in any case. */
export const beginOf = (name: string): number => name.charCodeAt(0) | 0x20;

/** Percent-decoded once; what is not encoded properly is taken as it stands. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
