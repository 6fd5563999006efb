// The headers that name users on behalf of a front proxy (specification 3, Authenticating proxy):
// which they are, what they say, and that nobody behind authentication sees them.
import { beginOf, dropHeaders, percentDecoded } from '../base/raw-headers.ts';
import type { SentHeaders } from '../base/raw-headers.ts';
import type { Flags } from '../config/flags.ts';

/** Lower-case names, in the order in which they count. */
export interface IdentityHeaders {
  readonly username: readonly string[];
  readonly uid: readonly string[];
  readonly groups: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/** Those that servers and proxies agree on where nothing else is said. */
const usualHeaders: IdentityHeaders = {
  username: ['x-remote-user'],
  uid: ['x-remote-uid'],
  groups: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
};

export const identityHeaders = (flags: Flags): IdentityHeaders => ({
  username: lowerCase(flags['requestheader-username-headers']),
  uid: lowerCase(flags['requestheader-uid-headers']),
  groups: lowerCase(flags['requestheader-group-headers']),
  extraPrefixes: lowerCase(flags['requestheader-extra-headers-prefix']),
});

const lowerCase = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());

/** What the headers say of a user; `name` is '' where they name none. */
export interface NamedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** `rawHeaders`: names and values by turns, as they were sent: values are never joined. */
export function readIdentity(
  { username, uid, groups, extraPrefixes }: IdentityHeaders,
  rawHeaders: readonly string[],
): NamedUser {
  const values = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    const value = utf8Of(rawHeaders[at + 1] ?? '');
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  const firstOf = (names: readonly string[]): string =>
    names.map((name) => values.get(name)?.[0] ?? '').find((value) => value !== '') ?? '';
  return {
    name: firstOf(username),
    uid: firstOf(uid),
    groups: groups.flatMap((name) => (values.get(name) ?? []).filter((group) => group !== '')),
    extra: extraOf(extraPrefixes, values),
  };
}

function extraOf(
  prefixes: readonly string[],
  values: ReadonlyMap<string, readonly string[]>,
): Record<string, readonly string[]> {
  const extra = new Map<string, string[]>();
  for (const [name, given] of values) {
    for (const prefix of prefixes) {
      if (!name.startsWith(prefix)) continue;
      const key = percentDecoded(name.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), ...given]);
    }
  }
  // Keys are users' own: `__proto__` is one like any other.
  return Object.assign(Object.create(null) as object, Object.fromEntries(extra));
}

const ascii = /^[\0-\x7f]*$/;

/** Node gives the bytes of a header as characters of Latin-1. */
const utf8Of = (value: string): string =>
  ascii.test(value) ? value : Buffer.from(value, 'latin1').toString('utf8');

/**
 * Takes what tells who asks out of the headers, in both forms that Node has of them:
 * `Authorization`, and the headers of front proxies, whether they were believed or not.
 */
export function identityStripper(
  own: IdentityHeaders = usualHeaders,
): (request: SentHeaders) => void {
  const sets = [own, usualHeaders];
  const names = new Set(
    sets.flatMap(({ username, uid, groups }) => [...username, ...uid, ...groups]),
  );
  names.add('authorization');
  const prefixes = [...new Set(sets.flatMap(({ extraPrefixes }) => extraPrefixes))];
  const begins = new Set([...names, ...prefixes].map(beginOf));
  const isDropped = (name: string): boolean =>
    names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  return (request) => dropHeaders(request, isDropped, begins);
}
