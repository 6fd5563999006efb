// Reads what a PKCS #10 certificate request asks for: organizations, common name and kinds of
// alternative names. Bounded by the length of its bytes; anything malformed is undefined.

export interface RequestedSubject {
  readonly organizations: readonly string[];
  readonly commonName: string;
  readonly hasHosts: boolean;
  /** Alternative names that are neither host names nor addresses. */
  readonly hasOthers: boolean;
}

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

const sequence = 0x30;
const set = 0x31;
const objectId = 0x06;
const octets = 0x04;
const attributesTag = 0xa0;
const pemLabel = '(?:NEW )?CERTIFICATE REQUEST';
const pemPattern = new RegExp(
  `-----BEGIN ${pemLabel}-----([A-Za-z0-9+/=\\s]+)-----END ${pemLabel}-----`,
);

// Object identifiers in hexadecimal of their encoding.
const commonNameId = '550403';
const organizationId = '55040a';
const extensionRequestId = '2a864886f70d01090e';
const alternativeNamesId = '551d11';
const hostTags = [0x82, 0x87];

/** `request` is PEM in base64, as the API carries it. */
export function readCertificateRequest(request: string): RequestedSubject | undefined {
  const pem = pemPattern.exec(Buffer.from(request, 'base64').toString('latin1'));
  if (pem?.[1] === undefined) return undefined;
  const [whole] = elements(Buffer.from(pem[1], 'base64')) ?? [];
  const [info] = childrenOf(whole, sequence) ?? [];
  const [, subject, , attributes] = childrenOf(info, sequence) ?? [];
  const names = childrenOf(subject, sequence);
  if (names === undefined) return undefined;
  const parts = names.flatMap((relative) => childrenOf(relative, set) ?? []);
  const tags = attributes === undefined ? [] : alternativeNameTags(attributes);
  return {
    organizations: valuesOf(parts, organizationId),
    commonName: valuesOf(parts, commonNameId).at(-1) ?? '',
    hasHosts: tags.some((tag) => hostTags.includes(tag)),
    hasOthers: tags.some((tag) => !hostTags.includes(tag)),
  };
}

/**
 * The same of what is one block of PEM; undefined for several: a signer might take another one than
 * the one that is looked at here.
 */
export const readOneRequest = (request: string): RequestedSubject | undefined =>
  Buffer.from(request, 'base64').toString('latin1').split('-----BEGIN ').length === 2
    ? readCertificateRequest(request)
    : undefined;

function valuesOf(parts: readonly Element[], id: string): string[] {
  return parts.flatMap((part) => {
    const [type, value] = childrenOf(part, sequence) ?? [];
    return idOf(type) === id && value !== undefined ? [textOf(value)] : [];
  });
}

/** Each pair of bytes is a letter, in the one form of text that is no superset of ASCII. */
const bmpText = 0x1e;

function textOf({ tag, content }: Element): string {
  const bytes = Buffer.from(content);
  if (tag !== bmpText) return bytes.toString('utf8');
  return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : '';
}

function alternativeNameTags(attributes: Element): number[] {
  return (childrenOf(attributes, attributesTag) ?? []).flatMap((attribute) => {
    const [type, values] = childrenOf(attribute, sequence) ?? [];
    if (idOf(type) !== extensionRequestId) return [];
    const extensions = (childrenOf(values, set) ?? []).flatMap(
      (list) => childrenOf(list, sequence) ?? [],
    );
    return extensions.flatMap((extension) => {
      const members = childrenOf(extension, sequence) ?? [];
      const value = members.at(-1);
      if (idOf(members[0]) !== alternativeNamesId || value?.tag !== octets) return [];
      const [names] = elements(value.content) ?? [];
      return (childrenOf(names, sequence) ?? []).map(({ tag }) => tag);
    });
  });
}

const idOf = (element: Element | undefined): string =>
  element?.tag === objectId ? Buffer.from(element.content).toString('hex') : '';

const childrenOf = (element: Element | undefined, tag: number): Element[] | undefined =>
  element?.tag === tag ? elements(element.content) : undefined;

/** The elements that `bytes` are made of; undefined when they do not fit. */
function elements(bytes: Uint8Array): Element[] | undefined {
  const found: Element[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0;
    const header = lengthAt(bytes, at + 1);
    if (header === undefined) return undefined;
    const end = header.next + header.length;
    if (end > bytes.length) return undefined;
    found.push({ tag, content: bytes.subarray(header.next, end) });
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
