// IP addresses and networks as numbers: canonical texts, families, containment. Zones and leading
// zeros are no addresses here.
import { isIP } from 'node:net';

export type IpFamily = 'IPv4' | 'IPv6';

/** undefined: no address. An IPv4 address in IPv6 form is written as IPv4. */
export function canonicalIp(text: string): string | undefined {
  const family = isIP(text);
  if (family === 0 || text.includes('%')) return undefined;
  if (family === 4) return text;
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (mapped === null) return canonical;
  const high = Number.parseInt(mapped[1] ?? '0', 16);
  const low = Number.parseInt(mapped[2] ?? '0', 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Decimal numbers without leading zeros, which some software reads as octal. */
export const withoutZeros = (address: string): string =>
  address.replace(/\d+(\.\d+){3}$/, (numbers) => numbers.replaceAll(/\b0+(?=\d)/g, ''));

export function ipFamily(text: string): IpFamily | undefined {
  const canonical = canonicalIp(text);
  if (canonical === undefined) return undefined;
  return canonical.includes(':') ? 'IPv6' : 'IPv4';
}

/** The number of a canonical address. */
export function ipNumber(canonical: string): bigint {
  if (!canonical.includes(':')) {
    return canonical.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  }
  const [head = '', tail] = canonical.split('::');
  const words = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const left = words(head);
  const right = tail === undefined ? [] : words(tail);
  const middle = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...middle, ...right].reduce(
    (sum, word) => sum * 65_536n + BigInt(`0x${word}`),
    0n,
  );
}

/** The canonical text of a number. */
export function ipText(number: bigint, family: IpFamily): string {
  if (family === 'IPv4') {
    return [24n, 16n, 8n, 0n].map((shift) => String((number >> shift) & 255n)).join('.');
  }
  const words = Array.from({ length: 8 }, (_, at) =>
    ((number >> BigInt(16 * (7 - at))) & 65_535n).toString(16),
  );
  return canonicalIp(words.join(':')) ?? words.join(':');
}

export interface Network {
  readonly family: IpFamily;
  readonly first: bigint;
  readonly prefixLength: number;
  /** The address as written, as a number: `first` when no host bits are set. */
  readonly address: bigint;
}

/** undefined: no network. */
export function parseCidr(text: string): Network | undefined {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const canonical = match === null ? undefined : canonicalIp(match[1] ?? '');
  if (canonical === undefined) return undefined;
  const family: IpFamily = canonical.includes(':') ? 'IPv6' : 'IPv4';
  const bits = family === 'IPv4' ? 32 : 128;
  const prefixLength = Number(match?.[2]);
  if (prefixLength > bits) return undefined;
  const address = ipNumber(canonical);
  const hostBits = BigInt(bits - prefixLength);
  return { family, address, prefixLength, first: (address >> hostBits) << hostBits };
}

/** The network's own address with its length; undefined: no network. */
export function canonicalCidr(text: string): string | undefined {
  const network = parseCidr(text);
  if (network === undefined) return undefined;
  return `${ipText(network.first, network.family)}/${String(network.prefixLength)}`;
}

/** The first address after the network's own; undefined: no network, or one without another. */
export function firstHost(cidr: string): string | undefined {
  const network = parseCidr(cidr);
  if (network === undefined) return undefined;
  const bits = network.family === 'IPv4' ? 32 : 128;
  return network.prefixLength === bits ? undefined : ipText(network.first + 1n, network.family);
}

/** `inner` lies in `outer` and is smaller. */
export function isStrictSubnet(inner: Network, outer: Network): boolean {
  if (inner.family !== outer.family || inner.prefixLength <= outer.prefixLength) return false;
  const bits = inner.family === 'IPv4' ? 32 : 128;
  const shift = BigInt(bits - outer.prefixLength);
  return inner.first >> shift === outer.first >> shift;
}

/** Why an address cannot be an endpoint: loopback, link-local, unspecified, multicast. */
export function specialIpProblems(text: string): readonly string[] {
  const canonical = canonicalIp(withoutZeros(text));
  if (canonical === undefined) return ['must be a valid IP address'];
  const problems: string[] = [];
  const isV6 = canonical.includes(':');
  if (canonical === '0.0.0.0' || canonical === '::') {
    problems.push(`may not be unspecified (${canonical})`);
  }
  if (isV6 ? canonical === '::1' : canonical.startsWith('127.')) {
    problems.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if (isV6 ? /^fe[89ab]/.test(canonical) : canonical.startsWith('169.254.')) {
    problems.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (isV6 ? /^ff.2:/.test(canonical) : canonical.startsWith('224.0.0.')) {
    problems.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return problems;
}
