// Why an etcd member cannot be used, in words for the operator: one connection by hand, outside of
// the client, which only knows that it has none.
import { readFileSync } from 'node:fs';
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { limits } from '../base/limits.ts';
import { parseEndpoint } from './endpoint.ts';
import type { EtcdTlsFiles } from './endpoint.ts';

export interface Diagnosis {
  /** A clause without its subject: `refuses connections`. */
  readonly problem: string;
  /** Waiting will not help: the configuration has to change. */
  readonly isFinal: boolean;
}

const passing = (problem: string): Diagnosis => ({ problem, isFinal: false });
const final = (problem: string): Diagnosis => ({ problem, isFinal: true });

/** undefined: it takes connections and speaks HTTP/2, whatever it says then. */
export async function diagnose(url: string, tls: EtcdTlsFiles): Promise<Diagnosis | undefined> {
  const { target, isSecure } = parseEndpoint(url);
  const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(target) ?? [];
  const to = { host, port: Number(port) };
  try {
    const answer = await firstBytes(isSecure ? openTls(to, tls) : connectTcp(to));
    if (answer === undefined) return passing('takes connections and is silent');
    if (isSettingsFrame(answer)) return undefined;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const known = ofNetwork(code) ?? ofAlert(code, tls) ?? ofCertificate(code, message, tls);
    if (known !== undefined) return known;
  }
  if (!isSecure && (await speaksTls(to))) return final('speaks TLS: write https:// for it');
  if (isSecure && (await speaksPlainly(to)))
    return final('speaks without TLS: write http:// for it');
  return passing('is no etcd: it does not speak HTTP/2');
}

interface Address {
  readonly host: string;
  readonly port: number;
}

function openTls(to: Address, tls: EtcdTlsFiles): Socket {
  const read = (file: string | undefined): Buffer | undefined =>
    file === undefined ? undefined : readFileSync(file);
  return connectTls({
    ...to,
    ...(isIP(to.host) === 0 ? { servername: to.host } : {}),
    ca: read(tls.caFile),
    cert: read(tls.certFile),
    key: read(tls.keyFile),
    ALPNProtocols: ['h2'],
  });
}

/** What a client of HTTP/2 says first: the preface and an empty SETTINGS frame. */
const greeting = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

/** A server's first frame is SETTINGS (type 4) of the connection (stream 0). */
const isSettingsFrame = (bytes: Buffer): boolean =>
  bytes.length >= 9 && bytes[3] === 4 && bytes.readUInt32BE(5) === 0;

/**
 * The first bytes of the other side, which come only after it has taken the client's certificate;
 * undefined: none in time. @throws the socket's error, or one that says that it closed.
 */
async function firstBytes(socket: Socket): Promise<Buffer | undefined> {
  socket.write(greeting);
  return (await firstOf(socket, 'data')) as Buffer | undefined;
}

async function speaksTls(to: Address): Promise<boolean> {
  const socket = connectTls({ ...to, rejectUnauthorized: false });
  const isConnected = await firstOf(socket, 'secureConnect').catch(() => undefined);
  return isConnected === true;
}

/** What the event tells, or true; undefined when it is late. The socket is used up. */
async function firstOf(socket: Socket, event: 'data' | 'secureConnect'): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers();
  const timer = setTimeout(() => resolve(undefined), limits.memberProbeTimeoutMs);
  socket.once(event, (told: unknown = true) => resolve(told));
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('closed')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

async function speaksPlainly(to: Address): Promise<boolean> {
  const answer = await firstBytes(connectTcp(to)).catch(() => undefined);
  return answer !== undefined && isSettingsFrame(answer);
}

function ofNetwork(code: string): Diagnosis | undefined {
  switch (code) {
    case 'ECONNREFUSED':
      return passing('refuses connections: nothing listens there');
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return passing('has a name that cannot be resolved');
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return passing('cannot be reached over the network');
    default:
      return undefined;
  }
}

/** The other side ended the handshake, with its reason in the code. */
function ofAlert(code: string, tls: EtcdTlsFiles): Diagnosis | undefined {
  const reason = /^ERR_SSL_(?:SSLV3|TLSV\d+)_ALERT_(.+)$/.exec(code)?.[1];
  if (reason === undefined) return undefined;
  if (tls.certFile === undefined) {
    return final('wants a client certificate: give --etcd-certfile and --etcd-keyfile');
  }
  const words = reason.toLowerCase().replaceAll('_', ' ');
  return final(`does not take the certificate of --etcd-certfile (${words})`);
}

/** This side ended the handshake: its checks of the other's certificate have these codes. */
function ofCertificate(code: string, message: string, tls: EtcdTlsFiles): Diagnosis | undefined {
  if (code === 'CERT_HAS_EXPIRED') return final('has a certificate that has expired');
  if (code === 'CERT_NOT_YET_VALID') return final('has a certificate that is not valid yet');
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return final(`has a certificate for other names (${message.replace(/^.*?altnames: /, '')})`);
  }
  if (!/^(UNABLE_TO|CERT_|DEPTH_ZERO|SELF_SIGNED|INVALID_)/.test(code)) return undefined;
  return final(
    tls.caFile === undefined
      ? 'has a certificate of an unknown CA: name it with --etcd-cafile'
      : 'has a certificate that --etcd-cafile did not sign',
  );
}
