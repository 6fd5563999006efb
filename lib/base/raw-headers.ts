// Headers as they were sent: names and values by turns, of which Node makes a record, too.

export interface SentHeaders {
  readonly headers: object;
  readonly rawHeaders: string[];
}

/** Takes headers out of both forms: what follows, a backend too, must not see them again. */
export function dropHeaders(
  { headers, rawHeaders }: SentHeaders,
  /** Of the name in lower case. */
  isDropped: (name: string) => boolean,
  /** How all names begin that are dropped: most headers are told apart by that. */
  begins?: ReadonlySet<number>,
): void {
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    const sent = rawHeaders[at] ?? '';
    if (begins !== undefined && !begins.has(beginOf(sent))) continue;
    const name = sent.toLowerCase();
    if (!isDropped(name)) continue;
    rawHeaders.splice(at, 2);
    // Node's record of headers has no prototype and is not shared.
    Reflect.deleteProperty(headers, name);
  }
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
