// A way to a target through a proxy: CONNECT over HTTP or HTTPS, or SOCKS5. What comes of it is the
// socket that TLS with the target begins on; the proxy looks the target up.
import net from 'node:net';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { CallFailure, Step } from './call-error.ts';
import type { ProxySettings } from './proxy.ts';
import { serverProblem, uncheckedYet } from './server-check.ts';
import { dialFailure, placeText } from './socket-failure.ts';
import { indicationFor } from './target-settings.ts';
import type { TargetSettings } from './target-settings.ts';

export interface TunnelParts {
  readonly proxy: ProxySettings;
  /** Of the proxy. */
  readonly ip: string;
  readonly port: number;
  readonly clock: Clock;
  /** Told each step as it begins; `address` is `IP:PORT`. */
  readonly onStep: (step: Step, address: string) => void;
}

type Target = Pick<
  TargetSettings,
  'host' | 'port' | 'secureContext' | 'isServerUnchecked' | 'bundle'
>;

/** What a proxy says in place of letting through. */
class Refusal extends Error {}

export async function openTunnel(
  target: Target,
  { proxy, ip, port, clock, onStep }: TunnelParts,
): Promise<
  { readonly socket: Socket } | { readonly failure: CallFailure; readonly cause: unknown }
> {
  const place = placeText(ip, port);
  const tcp = net.connect({ host: ip, port });
  tcp.on('error', ignore);
  let isLate = false;
  const within = (ms: number): (() => void) =>
    clock.after(ms, () => {
      isLate = true;
      tcp.destroy();
    });
  let step: Step = 'connect';
  let cancel = within(limits.clientConnectTimeoutMs);
  try {
    onStep(step, place);
    await happens(tcp, 'connect');
    cancel();
    step = 'proxy';
    onStep(step, place);
    cancel = within(limits.clientProxyTimeoutMs);
    const socket = proxy.scheme === 'https' ? await secured(tcp, { proxy, target, clock }) : tcp;
    await (proxy.scheme === 'socks5' ? passSocks : passHttp)(socket, proxy, target);
    return { socket };
  } catch (cause) {
    tcp.destroy();
    if (isLate) return { failure: { kind: 'timeout', step }, cause };
    const failure = failureOf(cause, { ip, port, isConnected: step === 'proxy' });
    if (failure === undefined) throw cause;
    return { failure, cause };
  } finally {
    cancel();
  }
}

function failureOf(
  cause: unknown,
  at: { readonly ip: string; readonly port: number; readonly isConnected: boolean },
): CallFailure | undefined {
  if (cause instanceof Refusal) return { kind: 'unreachable', reason: viaProxy(cause.message) };
  const failure = dialFailure(cause, { ...at, doing: 'the opening of a way through the proxy' });
  return failure !== undefined && 'reason' in failure
    ? { ...failure, reason: viaProxy(failure.reason) }
    : failure;
}

/** In upstream's words. */
export const viaProxy = (reason: string): string => `proxyconnect tcp: ${reason}`;

/** Whom the target may be proven by may prove the proxy, too (upstream's). */
async function secured(
  socket: Socket,
  {
    proxy,
    target,
    clock,
  }: { readonly proxy: ProxySettings; readonly target: Target; readonly clock: Clock },
): Promise<tls.TLSSocket> {
  const { secureContext } = target;
  const servername = indicationFor(proxy.host);
  const over = tls.connect({ socket, secureContext, servername, ...uncheckedYet });
  over.on('error', ignore);
  await happens(over, 'secureConnect');
  const problem = serverProblem(over, target, { name: proxy.host, nowMs: clock.nowMs() });
  if (problem !== undefined) throw problem;
  return over;
}

async function passHttp(socket: Socket, proxy: ProxySettings, target: Target): Promise<void> {
  const place = placeText(target.host, target.port);
  const { user } = proxy;
  const secret = Buffer.from(`${user?.name ?? ''}:${user?.password ?? ''}`).toString('base64');
  const authorization = user === undefined ? [] : [`Proxy-Authorization: Basic ${secret}`];
  const lines = [`CONNECT ${place} HTTP/1.1`, `Host: ${place}`, ...authorization];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const answer = await read(socket, (bytes) => {
    const end = bytes.indexOf('\r\n\r\n');
    return end === -1 ? undefined : end + 4;
  });
  const [, status, text = ''] =
    /^HTTP\/1\.[01] (\d{3}) ?([^\r\n]*)/.exec(answer.toString('latin1')) ?? [];
  if (status === '200') return;
  if (status === undefined) throw new Refusal(`the answer of ${proxy.url} to CONNECT is no HTTP`);
  const shown = text.replaceAll(/[^\x20-\x7e]/g, ' ').slice(0, 100);
  throw new Refusal(`${proxy.url} answers CONNECT ${place} with ${status} ${shown}`.trimEnd());
}

const socksProblems: Readonly<Record<number, string>> = {
  2: 'connection not allowed by ruleset',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'TTL expired',
  7: 'command not supported',
  8: 'address type not supported',
};

/** RFC 1928, with the passwords of RFC 1929. */
async function passSocks(socket: Socket, proxy: ProxySettings, target: Target): Promise<void> {
  const { user } = proxy;
  socket.write(Buffer.from(user === undefined ? [5, 1, 0] : [5, 2, 0, 2]));
  const [version, method] = await read(socket, () => 2);
  if (version !== 5) throw new Refusal(`${proxy.url} is no SOCKS5 proxy`);
  if (method === 2 && user !== undefined) {
    socket.write(Buffer.concat([Buffer.from([1]), short(user.name), short(user.password)]));
    const [, verdict] = await read(socket, () => 2);
    if (verdict !== 0) throw new Refusal(`${proxy.url} refuses user and password`);
  } else if (method !== 0) {
    throw new Refusal(`${proxy.url} wants another way to authenticate`);
  }
  const port = Buffer.from([target.port >> 8, target.port & 255]);
  socket.write(Buffer.concat([Buffer.from([5, 1, 0]), addressOf(target.host), port]));
  const answer = await read(socket, ([, , , type, length]) => {
    if (type === 3) return length === undefined ? undefined : 7 + length;
    return type === undefined ? undefined : type === 4 ? 22 : 10;
  });
  const [, code = 1] = answer;
  if (code === 0) return;
  const why = socksProblems[code] ?? 'general SOCKS server failure';
  throw new Refusal(
    `${proxy.url} does not connect to ${placeText(target.host, target.port)}: ${why}`,
  );
}

/** With its length before it. */
function short(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > 255) throw new Refusal('a text is too long for SOCKS5 (255 bytes)');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

function addressOf(host: string): Buffer {
  switch (net.isIP(host)) {
    case 4:
      return Buffer.from([1, ...host.split('.').map(Number)]);
    case 6:
      return Buffer.from([4, ...bytesOfIp6(host)]);
    default:
      return Buffer.concat([Buffer.from([3]), short(host)]);
  }
}

/** As URLs have it: groups in hex, at most one `::`. */
function bytesOfIp6(ip: string): number[] {
  const groups = (text = ''): string[] => text.split(':').filter((group) => group !== '');
  const [before, after] = ip.split('::').map(groups);
  const [head, tail] = [before ?? [], after ?? []];
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}

/** One message, whole: its sender waits for an answer and sends nothing behind it. */
async function read(
  socket: Socket,
  lengthOf: (bytes: Buffer) => number | undefined,
): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const length = lengthOf(bytes);
    if (length !== undefined && bytes.length >= length) {
      if (bytes.length === length) return bytes;
      throw new Refusal('the proxy sends more than its answer');
    }
    if (bytes.length > limits.clientAnswerHeaderBytesMax) {
      throw new Refusal('the answer of the proxy is too large');
    }
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) await happens(socket, 'readable');
    else bytes = Buffer.concat([bytes, chunk]);
  }
}

/** Rejects when the socket ends first. */
function happens(socket: Socket, event: 'connect' | 'secureConnect' | 'readable'): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      socket.off(event, onEvent).off('error', onError).off('end', onEnd).off('close', onEnd);
      end();
    };
    const onEvent = (): void => settle(resolve);
    const onError = (error: Error): void => settle(() => reject(error));
    const onEnd = (): void => settle(() => reject(new Refusal('the proxy closes the connection')));
    if (socket.destroyed || socket.readableEnded) onEnd();
    else socket.on(event, onEvent).on('error', onError).on('end', onEnd).on('close', onEnd);
  });
}

const ignore = (): void => undefined;
