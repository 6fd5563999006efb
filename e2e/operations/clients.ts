// Clients that keep their connections and retry nothing, of HTTP/1.1 and of HTTP/2. What goes wrong
// on the wire is an error of the request.
import { Agent, request as httpsRequest } from 'node:https';
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';

/** As whom a client connects and asks, and whom it believes. */
export interface Identity {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

export interface Answer {
  readonly status: number;
  readonly body: Readable;
}

export interface Client {
  readonly protocol: 'HTTP/1.1' | 'HTTP/2';
  /** The body is whole when it ends, and fails when it is cut. */
  ask(request: Ask): Promise<Answer>;
  close(): void;
}

export interface ClientOptions {
  readonly url: string;
  /** Asked at each request: what it says may change. */
  readonly identity: () => Identity;
}

const bodyType = (method: string): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';

const authorization = ({ token }: Identity): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

const tlsOf = ({ ca, cert, key }: Identity): { ca: string; cert?: string; key?: string } => ({
  ca,
  ...(cert === undefined || key === undefined ? {} : { cert, key }),
});

/** One connection at a time, but for streams, which have one each. */
export class Http1Client implements Client {
  readonly protocol = 'HTTP/1.1';
  readonly #options: ClientOptions;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  ask({ method, path, body }: Ask): Promise<Answer> {
    const identity = this.#options.identity();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      ...authorization(identity),
      ...(text === undefined
        ? {}
        : { 'content-type': bodyType(method), 'content-length': Buffer.byteLength(text) }),
    };
    return new Promise((resolve, reject) => {
      const options = { method, headers, agent: this.#agent, ...tlsOf(identity) };
      const sent = httpsRequest(`${this.#options.url}${path}`, options, (incoming) => {
        resolve({ status: incoming.statusCode ?? 0, body: incoming });
      });
      sent.on('error', reject).end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** All requests on one connection, until the server asks for another one (GOAWAY). */
export class Http2Client implements Client {
  readonly protocol = 'HTTP/2';
  /**
   * Requests that never left: GOAWAY was read between the call and the frame. They are sent over
   * the next connection (RFC 9113, section 8.7).
   */
  keptBackCount = 0;
  goawayCount = 0;
  readonly #options: ClientOptions;
  readonly #sessions = new Set<ClientHttp2Session>();
  #session: Promise<ClientHttp2Session> | undefined;
  #connectedBy = '';

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  async ask(request: Ask): Promise<Answer> {
    for (;;) {
      const identity = this.#options.identity();
      const session = await this.#live(identity);
      if (session.closed || session.destroyed) continue;
      try {
        return await askOn(session, request, identity);
      } catch (error) {
        if (!wasKeptBack(session, error)) throw error;
        this.keptBackCount++;
      }
    }
  }

  close(): void {
    for (const session of this.#sessions) session.destroy();
  }

  async #live(identity: Identity): Promise<ClientHttp2Session> {
    const tls = tlsOf(identity);
    const text = JSON.stringify(tls);
    const last = await this.#session?.catch(() => undefined);
    const isUsable = last !== undefined && !last.closed && !last.destroyed;
    if (isUsable && text === this.#connectedBy) return last;
    if (isUsable) last.close(); // with its last stream
    if (last === undefined || text !== this.#connectedBy || !isUsable) {
      // Of several that wait here the first one connects.
      const current = await this.#session?.catch(() => undefined);
      if (current === last) {
        this.#connectedBy = text;
        this.#session = this.#connect(tls);
      }
    }
    if (this.#session === undefined) throw new Error('there is no session');
    return this.#session;
  }

  #connect(tls: { readonly ca: string }): Promise<ClientHttp2Session> {
    return new Promise((resolve, reject) => {
      const session = connect(this.#options.url, { ...tls });
      this.#sessions.add(session);
      session.once('connect', () => resolve(session));
      session.on('error', reject).on('close', () => this.#sessions.delete(session));
      session.on('goaway', () => {
        this.goawayCount++;
        session.close();
      });
    });
  }
}

function askOn(session: ClientHttp2Session, ask: Ask, identity: Identity): Promise<Answer> {
  const { method, path, body } = ask;
  return new Promise((resolve, reject) => {
    const headers = {
      ':method': method,
      ':path': path,
      ...authorization(identity),
      ...(body === undefined ? {} : { 'content-type': bodyType(method) }),
    };
    const stream = session.request(headers, { endStream: body === undefined });
    stream.once('error', reject);
    stream.once('close', () => reject(new Error(`closed without an answer: ${codeOf(stream)}`)));
    stream.once('response', (got) => {
      resolve({ status: got[':status'] ?? 0, body: bodyOf(stream) });
    });
    if (body !== undefined) stream.end(JSON.stringify(body));
  });
}

/**
 * Read from the first moment: an answer that came whole at once may be closed before an iterator
 * asks for it, which Node takes for a cut (`Premature close`).
 */
function bodyOf(stream: ClientHttp2Stream): Readable {
  const body = stream.pipe(new PassThrough());
  stream.on('error', (error: Error) => body.destroy(error));
  stream.on('close', () => {
    if (!body.writableEnded) body.destroy(new Error(`cut: ${codeOf(stream)}`));
  });
  return body;
}

const codeOf = (stream: ClientHttp2Stream): string => String(stream.rstCode);

const wasKeptBack = (session: ClientHttp2Session, reason: unknown): boolean =>
  session.closed &&
  (String(reason).includes('NGHTTP2_REFUSED_STREAM') ||
    String(reason).endsWith(`: ${String(constants.NGHTTP2_REFUSED_STREAM)}`));
