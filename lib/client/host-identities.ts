// Who the server is for which host, by a client configuration file whose users have patterns of
// hosts as names. Followed as other such files are: what cannot be used changes nothing.
import { dirname } from 'node:path';
import { KubeconfigFollower, dataOf, digestOf, identityOf } from './kubeconfig-files.ts';
import type { ReadFiles } from './kubeconfig-files.ts';
import { parseKubeconfigUsers } from './kubeconfig.ts';
import type { ClientParts } from './open-target.ts';
import { makeSettings } from './target-settings.ts';
import type { Identity } from './target-settings.ts';

/** Of `HOST:PORT`; nobody: an empty one. */
export type HostIdentities = (hostAndPort: string) => Identity;

export interface FollowedIdentities {
  readonly current: HostIdentities;
  close(): void;
}

/**
 * @param use called with those that took the place of others
 * @throws SettingsError that names what is wrong with the file
 */
export async function followIdentities(
  path: string,
  { parse, clock, log }: Pick<ClientParts, 'parse' | 'clock' | 'log'>,
  use: (identities: HostIdentities) => void,
): Promise<FollowedIdentities> {
  const read = (): Promise<ReadFiles<HostIdentities>> => readIdentities(path, parse);
  const files = await read();
  const current = files.make();
  const follower = new KubeconfigFollower(path, files.digest, { read, clock, log, use });
  return { current, close: () => follower.close() };
}

/** @throws SettingsError; `make` does for a certificate or token that is of no use */
export async function readIdentities(
  path: string,
  parse: ClientParts['parse'],
): Promise<ReadFiles<HostIdentities>> {
  const { byName, current } = parseKubeconfigUsers(await dataOf(path, parse), dirname(path));
  const identities = new Map<string, Identity>();
  for (const [name, user] of byName) identities.set(name, await identityOf(user));
  const other = current === undefined ? {} : await identityOf(current);
  const digest = digestOf([[...identities], other]);
  return {
    digest,
    make() {
      for (const identity of identities.values()) makeSettings({ url: anyUrl, ...identity });
      return (hostAndPort) => identityFor(identities, hostAndPort) ?? other;
    },
  };
}

/** Settings check what they are made of. */
const anyUrl = 'https://localhost/';

/**
 * The host with its port, then with `*` for its first labels, one more each time; both again
 * without port 443; then `*` alone (upstream's order).
 */
function identityFor(
  identities: ReadonlyMap<string, Identity>,
  hostAndPort: string,
): Identity | undefined {
  const host = /^(.*):443$/.exec(hostAndPort)?.[1];
  for (const target of host === undefined ? [hostAndPort] : [hostAndPort, host]) {
    const labels = target.split('.');
    for (let dropped = 0; dropped < labels.length; dropped++) {
      const rest = labels.slice(dropped).join('.');
      const identity = identities.get(dropped === 0 ? rest : `*.${rest}`);
      if (identity !== undefined) return identity;
    }
  }
  return identities.get('*');
}
