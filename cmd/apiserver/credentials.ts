// The certificates of one replica: serving and admin pair below --data-dir, made when missing and
// kept while they serve.
import { existsSync, readFileSync } from 'node:fs';
import { firstHost } from '../../lib/api/ip-address.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { DataDirectory } from './data-directory.ts';
import { isUnspecified } from './own-address.ts';
import { makeLeaf, stillServes } from './pki.ts';
import type { KeyPair, LeafRequest } from './pki.ts';
import type { SharedState } from './shared-state.ts';

export interface ServingTls extends KeyPair {
  /** Bundle that client certificates are checked against. */
  readonly clientCa: string;
}

const adminRequest: LeafRequest = {
  use: 'client',
  commonName: 'admin',
  organizations: ['system:masters'],
};

/**
 * Writes the shared CA and service-account key beside them, for people and tools that want files.
 */
export async function ownCredentials(options: {
  readonly directory: DataDirectory;
  readonly shared: SharedState;
  readonly flags: Flags;
  /** Where clients reach this replica: the serving certificate is good for it. */
  readonly address: string;
}): Promise<{ readonly serving: ServingTls; readonly admin: KeyPair }> {
  const { directory, shared, flags, address } = options;
  directory.writePrivate('ca.crt', shared.ca.cert);
  directory.writePrivate('ca.key', shared.ca.key);
  directory.writePrivate('sa.key', shared.serviceAccountKey.key);
  directory.writePrivate('sa.pub', shared.serviceAccountKey.publicKey);
  const names = servingNames(flags, address);
  const serverRequest: LeafRequest = { use: 'server', commonName: 'apiserver', names };
  const admin = await keptOrMade(directory, 'admin', shared.ca, adminRequest, []);
  const given = givenServing(flags);
  const serving = given ?? (await keptOrMade(directory, 'server', shared.ca, serverRequest, names));
  const clientCaFile = flags['client-ca-file'];
  const added = clientCaFile === undefined ? '' : readFlagFile('client-ca-file', clientCaFile);
  return { serving: { ...serving, clientCa: `${shared.ca.cert}${added}` }, admin };
}

function givenServing(flags: Flags): KeyPair | undefined {
  const cert = flags['tls-cert-file'];
  const key = flags['tls-private-key-file'];
  if (cert === undefined || key === undefined) return undefined;
  return {
    cert: readFlagFile('tls-cert-file', cert),
    key: readFlagFile('tls-private-key-file', key),
  };
}

/** @throws FlagError that names the flag. */
export function readFlagFile(flag: string, file: string): string {
  if (!existsSync(file)) throw new FlagError(`--${flag}=${file}: there is no such file`);
  return readFileSync(file, 'utf8');
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
