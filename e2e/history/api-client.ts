// A plain HTTP/1.1 client for one API server: JSON requests with a deadline, and watch streams.
// It knows paths and bodies, no history; whatever goes wrong on the wire is a TransportError.

import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';

/** How to reach and convince servers; all members are optional for a server without TLS. */
export interface Access {
  readonly token?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Accept any serving certificate (test installations only). */
  readonly isInsecure?: boolean;
}

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** No complete answer came. `isUnsent`: the server cannot have seen the request. */
export class TransportError extends Error {
  readonly isUnsent: boolean;

  constructor(message: string, isUnsent: boolean, cause?: unknown) {
    super(message, { cause });
    this.isUnsent = isUnsent;
  }
}

const WATCH_LINE_BYTES_MAX = 4 * 1024 * 1024;

export class ApiClient {
  readonly url: string;
  readonly #agent: HttpAgent;
  readonly #headers: Record<string, string>;
  readonly #send: typeof httpsRequest;

  constructor(url: string, { token, ca, cert, key, isInsecure = false }: Access) {
    this.url = url.replace(/\/$/, '');
    const isTls = this.url.startsWith('https:');
    const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
    this.#agent = isTls
      ? new HttpsAgent({ keepAlive: true, ...tls, rejectUnauthorized: !isInsecure })
      : new HttpAgent({ keepAlive: true });
    this.#send = isTls ? httpsRequest : httpRequest;
    this.#headers = { accept: 'application/json' };
    if (token !== undefined) this.#headers['authorization'] = `Bearer ${token}`;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Throws TransportError when no whole answer came before the signal fired. */
  async request(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
    const response = await this.#open(request, signal);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of response) chunks.push(chunk as Buffer);
    } catch (cause) {
      throw new TransportError('the answer broke off', false, cause);
    }
    const text = Buffer.concat(chunks).toString();
    return { status: response.statusCode ?? 0, body: parseJson(text) };
  }

  /**
   * The documents of a watch. Ends when the server ends it; throws TransportError when it breaks
   * off or the signal fires. A first answer other than 200 is yielded as one ERROR event.
   */
  async *watch(path: string, signal: AbortSignal): AsyncGenerator<unknown, void> {
    const response = await this.#open({ method: 'GET', path }, signal);
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of response) {
        const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > WATCH_LINE_BYTES_MAX) throw new Error('a watch event without end');
        if (response.statusCode !== 200) rest = `${lines.join('\n')}${rest}`;
        else for (const line of lines) if (line !== '') yield parseJson(line);
      }
    } catch (cause) {
      throw new TransportError('the watch broke off', false, cause);
    }
    if (response.statusCode === 200) return;
    yield { type: 'ERROR', object: { code: response.statusCode, body: parseJson(rest) } };
  }

  #open(request: ApiRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, path, body, contentType = 'application/json' } = request;
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers: Record<string, string | number> = { ...this.#headers };
    if (payload !== undefined) {
      headers['content-type'] = contentType;
      headers['content-length'] = payload.length;
    }
    const options: RequestOptions = { method, headers, agent: this.#agent, signal };
    return new Promise((resolve, reject) => {
      const sent = this.#send(`${this.url}${path}`, options, resolve);
      sent.on('error', (error: NodeJS.ErrnoException) => {
        reject(new TransportError(error.message, error.code === 'ECONNREFUSED', error));
      });
      sent.end(payload);
    });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new TransportError('the answer is no JSON', false, cause);
  }
}
