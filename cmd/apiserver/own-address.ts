// Where this replica listens and where clients reach it. Every URL of this server that is written
// or shown is made here.
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { canonicalIp } from '../../lib/api/ip-address.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';

type Interfaces = ReturnType<typeof networkInterfaces>;
type AddressFlags = Pick<Flags, 'bind-address' | 'advertise-address'>;

/** Every address of this host. */
export const isUnspecified = (address: string): boolean =>
  ['0.0.0.0', '::'].includes(canonicalIp(address) ?? '');

const isLoopback = (address: string): boolean =>
  /^(127\.|::1$)/.test(canonicalIp(address) ?? address);

/**
 * The address that clients use: `--advertise-address`, else the one that is listened on, else (all
 * of them are) one of this host that others can reach, else loopback.
 */
export function advertisedAddress(
  flags: AddressFlags,
  interfaces: Interfaces = networkInterfaces(),
): string {
  const given = flags['advertise-address'];
  if (given !== undefined) return given;
  const bound = flags['bind-address'];
  return isUnspecified(bound) ? hostAddress(canonicalIp(bound) === '0.0.0.0', interfaces) : bound;
}

/**
 * The address that endpoints of this server name: as above, but a server that listens on loopback
 * has one of its host there, as kube-apiserver does. Loopback where the host has no other, or where
 * it is asked for.
 */
export function publishedAddress(
  flags: AddressFlags,
  interfaces: Interfaces = networkInterfaces(),
): string {
  const address = advertisedAddress(flags, interfaces);
  if (flags['advertise-address'] !== undefined || !isLoopback(address)) return address;
  const other = hostAddress(!address.includes(':'), interfaces);
  return isLoopback(other) ? address : other;
}

/** One that others can reach, if there is any. */
function hostAddress(isIpv4Only: boolean, interfaces: Interfaces): string {
  const addresses = Object.values(interfaces)
    .flatMap((entries) => entries ?? [])
    .filter(({ family }) => family === 'IPv4' || !isIpv4Only)
    .filter(({ address }) => !/^(169\.254\.|fe[89ab])/i.test(address)); // of one link only
  const rank = ({ family, internal }: { family: string; internal: boolean }): number =>
    (internal ? 2 : 0) + (family === 'IPv4' ? 0 : 1);
  return addresses.sort((a, b) => rank(a) - rank(b))[0]?.address ?? '127.0.0.1';
}

/** `10.0.0.9:6443`, `[::1]:6443`. */
export const hostAndPort = (address: string, port: number): string =>
  `${address.includes(':') ? `[${address}]` : address}:${String(port)}`;

export const urlAt = (address: string, port: number): string =>
  `https://${hostAndPort(address, port)}`;

/** What to tell the user when the advertised address cannot be the one that is listened on. */
export function addressWarning(flags: AddressFlags): string | undefined {
  const { 'bind-address': bound, 'advertise-address': advertised } = flags;
  if (advertised === undefined || !isLoopback(bound) || isLoopback(advertised)) return undefined;
  return (
    `--advertise-address=${advertised}: this server listens on ${bound} alone, so nobody reaches ` +
    `it there by itself; --bind-address=${advertised} or --bind-address=0.0.0.0 changes that`
  );
}

/**
 * Listens for a moment where the server will, so that a start fails before it begins anything.
 * @throws FlagError.
 */
export async function checkListening(
  flags: Pick<Flags, 'bind-address' | 'secure-port'>,
): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: flags['bind-address'], port: flags['secure-port'] }, resolve);
    });
    await new Promise((resolve) => server.close(resolve));
  } catch (error) {
    throw listenError(flags, error);
  }
}

/** A FlagError for what the address or port makes impossible; anything else as it is. */
export function listenError(
  flags: Pick<Flags, 'bind-address' | 'secure-port'>,
  error: unknown,
): unknown {
  const { code, syscall } = error as Partial<NodeJS.ErrnoException>;
  if (syscall !== 'listen' && syscall !== 'bind') return error;
  const { 'bind-address': address, 'secure-port': port } = flags;
  const place = hostAndPort(address, port);
  const refuse = (flag: keyof typeof flags, problem: string): FlagError =>
    new FlagError(`--${flag}=${String(flags[flag])}: ${problem}`, { cause: error });
  if (code === 'EADDRINUSE') {
    return refuse(
      'secure-port',
      `${place} is taken by another process: end that one, or give this server another port`,
    );
  }
  if (code === 'EACCES') {
    return refuse('secure-port', `this user may not listen on ${place}: take a port from 1024 on`);
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || code === 'EINVAL') {
    const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
    const names = own.map((entry) => entry.address).join(', ');
    return refuse('bind-address', `is no address of this host, which has ${names}`);
  }
  return refuse('bind-address', `cannot listen on ${place}: ${String(code)}`);
}
