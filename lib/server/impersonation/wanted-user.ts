// Who a request wants to act as, read from its `Impersonate-` headers as they were sent: Node joins
// headers that come several times, in which a group's comma would make two of it.
import { limits } from '../../base/limits.ts';
import { dropHeaders, percentDecoded } from '../../base/raw-headers.ts';
import type { SentHeaders } from '../../base/raw-headers.ts';
import { badRequest } from '../../base/status.ts';
import type { User } from '../../base/user.ts';

const prefix = 'impersonate-';
const extraPrefix = 'extra-';

/** Whether any of the headers, names and values by turns, is about impersonation. */
export function mentionsImpersonation(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    // Most names end the question at their length or the place of the first hyphen.
    if (name.length < prefix.length || name.charCodeAt(prefix.length - 1) !== hyphen) continue;
    if (name.slice(0, prefix.length).toLowerCase() === prefix) return true;
  }
  return false;
}

const hyphen = '-'.charCodeAt(0);

/** As the headers have it: groups that follow from a name are not among its groups. */
export type WantedUser = User;

/**
 * undefined: nobody is wanted, an empty user name alone counts for nothing. Headers of that prefix
 * that nobody knows mean nothing.
 * @param describe the user as the refusal shows it
 * @throws StatusError 400 without a user name, for too many headers, and for text that is no UTF-8.
 */
export function readWantedUser(
  rawHeaders: readonly string[],
  describe: (user: WantedUser) => string,
): WantedUser | undefined {
  let name: string | undefined;
  let uid: string | undefined;
  const groups: string[] = [];
  const extra = new Map<string, string[]>();
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = (rawHeaders[at] ?? '').toLowerCase();
    if (!header.startsWith(prefix)) continue;
    if (++count > limits.impersonationHeadersMax) throw tooMany();
    const about = header.slice(prefix.length);
    const value = textOf(rawHeaders[at + 1] ?? '', header);
    if (about === 'user') name ??= value;
    else if (about === 'uid') uid ??= value;
    else if (about === 'group') groups.push(value);
    else if (about.startsWith(extraPrefix)) {
      const key = percentDecoded(about.slice(extraPrefix.length)).toLowerCase();
      const values = extra.get(key);
      if (values === undefined) extra.set(key, [value]);
      else values.push(value);
    }
  }
  const user = { name: name ?? '', uid: uid ?? '', groups, extra: Object.fromEntries(extra) };
  if (user.name !== '') return user;
  if (user.uid === '' && groups.length === 0 && extra.size === 0) return undefined;
  throw badRequest(describe(user));
}

const tooMany = (): Error =>
  badRequest(`at most ${String(limits.impersonationHeadersMax)} Impersonate- headers are taken`);

/** Node reads the bytes of header values as Latin-1. */
function textOf(value: string, header: string): string {
  if (!/[^\x00-\x7f]/.test(value)) return value;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    throw badRequest(`the header ${JSON.stringify(header)} must be UTF-8`);
  }
}

/** What follows must not act on them again. */
export const dropImpersonationHeaders = (request: SentHeaders): void =>
  dropHeaders(request, (name) => name.startsWith(prefix));
