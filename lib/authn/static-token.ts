// Bearer tokens from `--token-auth-file`: CSV lines `token,user,uid,"group1,group2"`.
import type { User } from '../base/user.ts';
import type { Authenticator } from './authenticator.ts';
import { digestOf, tokenDigest } from './token-digest.ts';

/**
 * Reads the file's text.
 * @throws Error naming the line that has fewer than three columns or repeats a token.
 */
export function parseTokenFile(text: string): Map<string, User> {
  const users = new Map<string, User>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const at = `line ${String(index + 1)}`;
    const columns = splitCsv(line, at);
    const [token = '', name = '', uid = '', groups = ''] = columns;
    if (columns.length < 3 || token === '' || name === '') {
      throw new Error(`${at}: expected token,user,uid[,"group1,group2"]`);
    }
    const key = digestOf(token);
    if (users.has(key)) throw new Error(`${at}: the token stands in an earlier line already`);
    const names = groups.split(',').map((group) => group.trim());
    users.set(key, { name, uid, groups: names.filter((group) => group !== ''), extra: {} });
  }
  return users;
}

/** Tokens are looked up by digest: a wrong one costs its digest alone. */
export function staticTokenAuthenticator(users: ReadonlyMap<string, User>): Authenticator {
  return {
    name: 'static-token',
    authenticate(credentials) {
      const { token } = credentials;
      if (token === undefined) return { outcome: 'absent' };
      const user = users.get(tokenDigest(credentials, token));
      if (user === undefined) return { outcome: 'rejected', reason: 'unknown token' };
      return { outcome: 'accepted', user };
    },
  };
}

function splitCsv(line: string, at: string): string[] {
  const columns: string[] = [];
  const pattern = /\s*(?:"((?:[^"]|"")*)"\s*|([^",]*))(,|$)/gy;
  for (;;) {
    const match = pattern.exec(line);
    if (match === null)
      throw new Error(`${at}: a quote stands inside of a column or is not closed`);
    const [, quoted, plain = '', end] = match;
    columns.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    if (end === '') return columns;
  }
}
