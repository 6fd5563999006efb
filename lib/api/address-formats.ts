// Addresses and networks as texts of fields: what is wrong with one, and what is right yet unusual.
// Fields that are older than the canonical forms take others, too.
import { textAt } from './json-access.ts';
import type { JsonObject } from './type-info.ts';
import { canonicalCidr, canonicalIp, ipFamily, parseCidr, withoutZeros } from './ip-address.ts';

const noIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const noCidr = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

const none: ReadonlySet<string> = new Set();

/** An IPv4 address in the form of an IPv6 one. */
const isMapped = (address: string): boolean =>
  address.includes(':') && ipFamily(address) === 'IPv4';

/** `stored`: what was taken before stays valid. */
export function ipProblems(text: string, stored: ReadonlySet<string> = none): readonly string[] {
  if (stored.has(text)) return [];
  if (ipFamily(text) === undefined) {
    return [ipFamily(withoutZeros(text)) === undefined ? noIp : 'must not have leading 0s'];
  }
  return isMapped(text) ? ['must not be an IPv4-mapped IPv6 address'] : [];
}

/** Of a network: no bits are set beyond the prefix. `stored`: what was taken before stays valid. */
export function cidrProblems(text: string, stored: ReadonlySet<string> = none): readonly string[] {
  if (stored.has(text)) return [];
  const [address = '', length = '', more] = text.split('/');
  const network = parseCidr(text);
  if (network === undefined) {
    const plain = `${withoutZeros(address)}/${length.replace(/^0+(?=\d)/, '')}`;
    const isPlain = more === undefined && parseCidr(plain) !== undefined;
    return [isPlain ? 'must not have leading 0s in IP or prefix length' : noCidr];
  }
  if (isMapped(address)) return ['must not have an IPv4-mapped IPv6 address'];
  if (network.address === network.first) return [];
  return ['must not have bits set beyond the prefix length'];
}

export function canonicalIpProblems(text: string): readonly string[] {
  const problems = ipProblems(text);
  return problems.length > 0 ? problems : formProblems(text, canonicalIp(text));
}

export function canonicalCidrProblems(text: string): readonly string[] {
  const problems = cidrProblems(text);
  return problems.length > 0 ? problems : formProblems(text, canonicalCidr(text));
}

/** An address with the length of its network. */
export function interfaceAddressProblems(text: string): readonly string[] {
  const [address = '', ...length] = text.split('/');
  const plain = withoutZeros(address);
  const network = parseCidr([plain, ...length].join('/'));
  if (network === undefined) {
    return ['must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'];
  }
  return formProblems(text, `${canonicalIp(plain) ?? ''}/${String(network.prefixLength)}`);
}

const formProblems = (text: string, canonical: string | undefined): readonly string[] =>
  canonical === text ? [] : [`must be in canonical form ("${canonical ?? ''}")`];

/** Of an address in a field that takes other forms; nothing of a text that is no address. */
export function ipWarnings(path: string, text: string): readonly string[] {
  if (canonicalIp(text) === text) return []; // Most are, and each status of a Pod has several.
  const plain = withoutZeros(text);
  const canonical = canonicalIp(plain);
  if (canonical === undefined || canonical === text) return [];
  const isRight = plain === text && !isMapped(text);
  if (isRight) return [formWarning(path, { noun: 'address', text, canonical })];
  const future = 'will be considered invalid in a future Kubernetes release';
  return [`${path}: non-standard IP address "${text}" ${future}: use "${canonical}"`];
}

/** Of the member `ip` of each. */
export const listedIpWarnings = (list: readonly JsonObject[], path: string): readonly string[] =>
  list.flatMap((one, at) => ipWarnings(`${path}[${String(at)}].ip`, textAt(one, 'ip')));

/** Of a valid network in a field that takes other forms. */
export function cidrWarnings(path: string, text: string): readonly string[] {
  const canonical = canonicalCidr(text);
  if (canonical === undefined || canonical === text) return [];
  return [formWarning(path, { noun: 'CIDR value', text, canonical })];
}

interface Form {
  readonly noun: string;
  readonly text: string;
  readonly canonical: string;
}

const formWarning = (path: string, { noun, text, canonical }: Form): string =>
  `${path}: IPv6 ${noun} "${text}" should be in RFC 5952 canonical format ("${canonical}")`;
