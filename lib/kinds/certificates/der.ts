// Reads DER, the encoding of certificates and of requests for them: elements of a tag, a length and
// what is in them. Bounded by the length of the bytes; anything malformed is undefined.

export interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
  /** With its tag and its length. */
  readonly whole: Uint8Array;
}

export const sequence = 0x30;
const objectId = 0x06;

/** Of an object identifier in hexadecimal, as it is encoded; '': it is none. */
export const idOf = (element: Element | undefined): string =>
  element?.tag === objectId ? Buffer.from(element.content).toString('hex') : '';

export const childrenOf = (element: Element | undefined, tag: number): Element[] | undefined =>
  element?.tag === tag ? elements(element.content) : undefined;

/** The elements that `bytes` are made of; undefined when they do not fit. */
export function elements(bytes: Uint8Array): Element[] | undefined {
  const found: Element[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0;
    const header = lengthAt(bytes, at + 1);
    if (header === undefined) return undefined;
    const end = header.next + header.length;
    if (end > bytes.length) return undefined;
    found.push({
      tag,
      content: bytes.subarray(header.next, end),
      whole: bytes.subarray(at, end),
    });
    at = end;
  }
  return found;
}

function lengthAt(bytes: Uint8Array, at: number): { length: number; next: number } | undefined {
  const first = bytes[at];
  if (first === undefined) return undefined;
  if (first < 0x80) return { length: first, next: at + 1 };
  const count = first & 0x7f;
  if (count === 0 || count > 4) return undefined;
  let length = 0;
  for (let index = 1; index <= count; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    length = length * 256 + byte;
  }
  return { length, next: at + 1 + count };
}
