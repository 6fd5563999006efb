// A proxy for tests: CONNECT over HTTP or HTTPS, or SOCKS5, to ports of this machine whatever the
// name is. It keeps what it was asked.
import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import tls from 'node:tls';
import type { TestPair } from '../../base/testing/certificates.ts';

export interface ProxyServer {
  readonly port: number;
  /** Heads of CONNECT, or `HOST:PORT USER:PASSWORD` of SOCKS5. */
  readonly asked: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ProxyServerOptions {
  /** Speaks TLS with clients. */
  readonly pair?: TestPair;
  readonly isSocks?: boolean;
  /** Answers with this in place of letting through. */
  readonly answer?: string;
  /** Never answers. */
  readonly isSilent?: boolean;
}

export async function startProxy(options: ProxyServerOptions = {}): Promise<ProxyServer> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const serve = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
    if (options.isSilent === true) return;
    void (options.isSocks === true ? serveSocks : serveHttp)(socket, asked, options, open);
  };
  const server =
    options.pair === undefined ? net.createServer(serve) : tls.createServer(options.pair, serve);
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

type Serve = (
  socket: Socket,
  asked: string[],
  options: ProxyServerOptions,
  open: Set<Socket>,
) => Promise<void>;

const next = async (socket: Socket): Promise<Buffer> => {
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk;
};

const serveHttp: Serve = async (socket, asked, { answer }, open) => {
  let head = '';
  while (!head.includes('\r\n\r\n')) head += String(await next(socket));
  asked.push(head.trim());
  if (answer !== undefined) {
    socket.end(answer);
    return;
  }
  const port = Number(/^CONNECT \S+:(\d+) /.exec(head)?.[1]);
  pass(socket, { port, open, greeting: 'HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n' });
};

const serveSocks: Serve = async (socket, asked, { answer }, open) => {
  const methods = await next(socket);
  const wantsUser = methods.includes(2, 2);
  socket.write(Buffer.from([5, wantsUser ? 2 : 0]));
  let user = '';
  if (wantsUser) {
    const said = await next(socket);
    const length = said[1] ?? 0;
    user = ` ${String(said.subarray(2, 2 + length))}:${String(said.subarray(3 + length))}`;
    socket.write(Buffer.from([1, 0]));
  }
  const request = await next(socket);
  const port = request.readUInt16BE(request.length - 2);
  const host =
    request[3] === 3 ? String(request.subarray(5, -2)) : [...request.subarray(4, -2)].join('.');
  asked.push(`${host}:${String(port)}${user}`);
  const code = answer === undefined ? 0 : Number(answer);
  const greeting = Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
  if (code === 0) pass(socket, { port, open, greeting });
  else socket.end(greeting);
};

function pass(
  socket: Socket,
  {
    port,
    open,
    greeting,
  }: { readonly port: number; readonly open: Set<Socket>; readonly greeting: string | Buffer },
): void {
  const target = net.connect(port, '127.0.0.1', () => {
    socket.write(greeting);
    socket.pipe(target).pipe(socket);
  });
  open.add(target);
  target.on('error', () => socket.destroy()).once('close', () => socket.destroy());
}
