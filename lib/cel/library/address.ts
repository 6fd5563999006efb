// IPv4 and IPv6 addresses and prefixes: strict parsing with the reference's error texts, canonical
// texts, properties.

export interface Address {
  /** 4 or 16 bytes. */
  readonly bytes: readonly number[];
}

export interface Prefix {
  readonly address: Address;
  readonly bits: number;
}

/** The address, or what is wrong with the text. */
export function parseAddress(text: string): Address | string {
  const problem = (message: string, at?: string): string => {
    const place = at === undefined ? '' : ` (at ${JSON.stringify(at)})`;
    return `ParseAddr(${JSON.stringify(text)}): ${message}${place}`;
  };
  for (const character of text) {
    if (character === '.') return parseV4(text, problem);
    if (character === ':') return parseV6(text, problem);
    if (character === '%') return problem('missing IPv6 address');
  }
  return problem('unable to parse IP');
}

type Problem = (message: string, at?: string) => string;

function parseV4(text: string, problem: Problem): Address | string {
  const bytes: number[] = [];
  let value = 0;
  let digits = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] as string;
    if (/\d/.test(character)) {
      if (digits === 1 && value === 0) return problem('IPv4 field has octet with leading zero');
      value = value * 10 + Number(character);
      digits++;
      if (value > 255) return problem('IPv4 field has value >255');
    } else if (character === '.') {
      if (index === 0 || index === text.length - 1 || text[index - 1] === '.') {
        return problem('IPv4 field must have at least one digit', text.slice(index));
      }
      if (bytes.length === 3) return problem('IPv4 address too long');
      bytes.push(value);
      value = 0;
      digits = 0;
    } else {
      return problem('unexpected character', text.slice(index));
    }
  }
  if (bytes.length < 3) return problem('IPv4 address too short');
  return { bytes: [...bytes, value] };
}

function parseV6(text: string, problem: Problem): Address | string {
  const zone = text.indexOf('%');
  if (zone >= 0) {
    return zone === text.length - 1 ? problem('zone must be a non-empty string') : 'zone';
  }
  const groups: number[] = [];
  let rest = text;
  let ellipsis = -1;
  if (rest.startsWith('::')) {
    ellipsis = 0;
    rest = rest.slice(2);
    if (rest === '') return { bytes: new Array<number>(16).fill(0) };
  }
  while (groups.length < 8) {
    const field = /^[0-9A-Fa-f]*/.exec(rest)?.[0] ?? '';
    if (field.length > 4) return problem('each group must have 4 or less digits', rest);
    if (field === '')
      return problem('each colon-separated field must have at least one digit', rest);
    if (rest[field.length] === '.') {
      return embeddedV4({ rest, groups, ellipsis }, problem);
    }
    groups.push(Number.parseInt(field, 16));
    rest = rest.slice(field.length);
    if (rest === '') break;
    if (!rest.startsWith(':')) return problem('unexpected character, want colon', rest);
    if (rest === ':') return problem('colon must be followed by more characters', rest);
    rest = rest.slice(1);
    if (rest.startsWith(':')) {
      if (ellipsis >= 0) return problem('multiple :: in address', rest);
      ellipsis = groups.length;
      rest = rest.slice(1);
      if (rest === '') break;
    }
  }
  if (rest !== '') return problem('trailing garbage after address', rest);
  return expand(groups, ellipsis, problem);
}

function embeddedV4(
  state: { rest: string; groups: readonly number[]; ellipsis: number },
  problem: Problem,
): Address | string {
  const { rest, groups, ellipsis } = state;
  if (ellipsis < 0 && groups.length !== 6) {
    return problem('embedded IPv4 address must replace the final 2 fields of the address', rest);
  }
  if (groups.length > 6) return problem('too many hex fields to fit an embedded IPv4', rest);
  const tail = parseV4(rest, problem);
  if (typeof tail === 'string') return tail;
  const [a = 0, b = 0, c = 0, d = 0] = tail.bytes;
  return expand([...groups, a * 256 + b, c * 256 + d], ellipsis, problem);
}

function expand(groups: readonly number[], ellipsis: number, problem: Problem): Address | string {
  const missing = 8 - groups.length;
  if (missing > 0 && ellipsis < 0) return problem('address string too short');
  if (missing === 0 && ellipsis >= 0)
    return problem('the :: must expand to at least one field of zeros');
  const zeros = new Array<number>(missing).fill(0);
  const all =
    ellipsis < 0 ? groups : [...groups.slice(0, ellipsis), ...zeros, ...groups.slice(ellipsis)];
  return { bytes: all.flatMap((group) => [group >> 8, group & 255]) };
}

/** An IPv6 address that stands for an IPv4 one. */
export function isMappedV4({ bytes }: Address): boolean {
  return (
    bytes.length === 16 &&
    bytes.slice(0, 12).every((byte, index) => byte === (index < 10 ? 0 : 255))
  );
}

/** The prefix, or what is wrong with the text. */
export function parsePrefix(text: string): Prefix | string {
  const problem = (message: string): string =>
    `netip.ParsePrefix(${JSON.stringify(text)}): ${message}`;
  const slash = text.lastIndexOf('/');
  if (slash < 0) return problem("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if (typeof address === 'string') {
    return address === 'zone'
      ? problem('IPv6 zones cannot be present in a prefix')
      : problem(address);
  }
  const bits = text.slice(slash + 1);
  if (!/^(0|[1-9]\d*)$/.test(bits)) return problem(`bad bits after slash: ${JSON.stringify(bits)}`);
  if (Number(bits) > address.bytes.length * 8) return problem('prefix length out of range');
  return { address, bits: Number(bits) };
}

/** Canonical text: lower case, the longest run of zeros (two or more groups) as `::`. */
export function formatAddress(address: Address): string {
  const { bytes } = address;
  if (bytes.length === 4) return bytes.join('.');
  if (isMappedV4(address)) return `::ffff:${bytes.slice(12).join('.')}`;
  const groups = Array.from(
    { length: 8 },
    (_, i) => (bytes[2 * i] ?? 0) * 256 + (bytes[2 * i + 1] ?? 0),
  );
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const hex = (part: readonly number[]): string =>
    part.map((group) => group.toString(16)).join(':');
  if (best.start < 0) return hex(groups);
  return `${hex(groups.slice(0, best.start))}::${hex(groups.slice(best.start + best.length))}`;
}

export const formatPrefix = (prefix: Prefix): string =>
  `${formatAddress(prefix.address)}/${String(prefix.bits)}`;

/** The address with the bits behind the prefix cleared. */
export function maskAddress({ bytes }: Address, bits: number): Address {
  return {
    bytes: bytes.map(
      (byte, index) => byte & (0xff00 >> Math.min(Math.max(bits - index * 8, 0), 8)) & 0xff,
    ),
  };
}

export function sameAddress(left: Address, right: Address): boolean {
  return (
    left.bytes.length === right.bytes.length &&
    left.bytes.every((byte, i) => byte === right.bytes[i])
  );
}

export function prefixContains(prefix: Prefix, address: Address): boolean {
  if (prefix.address.bytes.length !== address.bytes.length) return false;
  return sameAddress(maskAddress(prefix.address, prefix.bits), maskAddress(address, prefix.bits));
}

/** Ranges that addresses may lie in. */
export const addressTests = {
  isUnspecified: ({ bytes }: Address): boolean => bytes.every((byte) => byte === 0),
  isLoopback: ({ bytes }: Address): boolean =>
    bytes.length === 4
      ? bytes[0] === 127
      : bytes.every((byte, index) => byte === (index === 15 ? 1 : 0)),
  isLinkLocalMulticast: ({ bytes }: Address): boolean =>
    bytes.length === 4
      ? bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0
      : bytes[0] === 0xff && ((bytes[1] ?? 0) & 0x0f) === 2,
  isLinkLocalUnicast: ({ bytes }: Address): boolean =>
    bytes.length === 4
      ? bytes[0] === 169 && bytes[1] === 254
      : bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80,
  isGlobalUnicast: (address: Address): boolean => {
    const { bytes } = address;
    const isV4 = bytes.length === 4;
    const isBroadcast = isV4 && bytes.every((byte) => byte === 255);
    const isMulticast = isV4 ? ((bytes[0] ?? 0) & 0xf0) === 0xe0 : bytes[0] === 0xff;
    return (
      !isBroadcast &&
      !isMulticast &&
      !addressTests.isUnspecified(address) &&
      !addressTests.isLoopback(address) &&
      !addressTests.isLinkLocalUnicast(address)
    );
  },
} as const;
