// Reads what a PKCS #10 certificate request asks for: organizations, common name and kinds of
// alternative names. Bounded by the length of its bytes; anything malformed is undefined.
import { childrenOf, elements, idOf, sequence } from './der.ts';
import type { Element } from './der.ts';

export interface RequestedSubject {
  readonly organizations: readonly string[];
  readonly commonName: string;
  readonly hasHosts: boolean;
  /** Alternative names that are neither host names nor addresses. */
  readonly hasOthers: boolean;
}

const set = 0x31;
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
