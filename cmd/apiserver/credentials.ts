// The certificates of one replica below --data-dir, for serving, for its administrator and for
// itself as a client: made when missing and kept while they serve.
import { firstHost } from '../../lib/api/ip-address.ts';
import { serverUser } from '../../lib/base/user.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { NamedPair } from '../../lib/server/named-certificates.ts';
import type { DataDirectory } from './data-directory.ts';
import type { GivenFiles } from './given-files.ts';
import { isUnspecified } from './own-address.ts';
import { makeLeaf, stillServes } from './pki.ts';
import type { KeyPair, LeafRequest } from './pki.ts';
import type { SharedState } from './shared-state.ts';

export interface ServingTls extends KeyPair {
  /** PEM: whose client certificates are asked for. */
  readonly clientCa: string;
  /** For clients that ask for their names. */
  readonly named: readonly NamedPair[];
}

const adminRequest: LeafRequest = {
  use: 'client',
  commonName: 'admin',
  organizations: ['system:masters'],
};

/** As whom the server calls itself. */
const ownRequest: LeafRequest = {
  use: 'client',
  commonName: serverUser.name,
  organizations: serverUser.groups,
};

export interface OwnCredentials {
  readonly serving: ServingTls;
  readonly admin: KeyPair;
  /** Of the server as a client of itself. */
  readonly own: KeyPair;
  /** PEM: what a client checks the serving certificate against. */
  readonly serverCa: string;
}

/**
 * Writes the shared CA and service-account key beside them, for people and tools that want files.
 */
export async function ownCredentials(options: {
  readonly directory: DataDirectory;
  readonly shared: SharedState;
  readonly flags: Flags;
  readonly files: GivenFiles;
  /** PEM: whose client certificates are asked for. */
  readonly clientCa: string;
  /** Where clients reach this replica: the serving certificate is good for it. */
  readonly address: string;
}): Promise<OwnCredentials> {
  const { directory, shared, flags, files, clientCa, address } = options;
  const { ca } = shared;
  // A certificate that was given is signed by anyone: clients trust its file, too.
  const serverCa = `${ca.cert}${files.serving?.cert ?? ''}`;
  directory.writePrivate('ca.crt', serverCa);
  directory.writePrivate('ca.key', ca.key);
  directory.writePrivate('sa.key', shared.serviceAccountKey.key);
  directory.writePrivate('sa.pub', shared.serviceAccountKey.publicKey);
  const names = servingNames(flags, address);
  const serverRequest: LeafRequest = { use: 'server', commonName: 'apiserver', names };
  const admin = await keptOrMade(directory, 'admin', ca, adminRequest, []);
  const own = await keptOrMade(directory, 'apiserver', ca, ownRequest, []);
  const serving =
    files.serving ?? (await keptOrMade(directory, 'server', ca, serverRequest, names));
  return { serving: { ...serving, clientCa, named: files.named }, admin, own, serverCa };
}

async function keptOrMade(
  directory: DataDirectory,
  name: string,
  ca: KeyPair,
  request: LeafRequest,
  names: readonly string[],
): Promise<KeyPair> {
  const key = directory.read(`${name}.key`);
  const cert = directory.read(`${name}.crt`);
  if (key !== undefined && cert !== undefined && stillServes({ key, cert }, ca, names)) {
    return { key, cert };
  }
  const made = await makeLeaf(ca, request);
  directory.writePrivate(`${name}.key`, made.key);
  directory.writePrivate(`${name}.crt`, made.cert);
  return made;
}

/** Loopback, the bind and advertised addresses, and the service inside a cluster. */
function servingNames(flags: Flags, address: string): string[] {
  const service = flags.naming;
  const serviceIps = flags['service-cluster-ip-range'].map(firstHost);
  return [
    ...new Set([
      'localhost',
      '127.0.0.1',
      '::1',
      ...(isUnspecified(flags['bind-address']) ? [] : [flags['bind-address']]),
      address,
      ...serviceIps.filter((ip) => ip !== undefined),
      service,
      `${service}.default`,
      `${service}.default.svc`,
      `${service}.default.svc.cluster.local`,
    ]),
  ];
}
