// A proxy between clients and one API server that lies on demand: on watch streams, reads, pages
// and writes. It ends TLS on both sides, is honest until a fault is planted, and counts each time a
// fault was done.

import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { request as httpRequest, type RequestOptions, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What the proxy does wrong. Watch faults count the events of all streams, the others the requests
 * they could spoil; `every` = 1 spoils each one.
 */
export type Fault =
  | { readonly kind: 'drop-event'; readonly every: number }
  | { readonly kind: 'repeat-event'; readonly every: number }
  | { readonly kind: 'swap-events'; readonly every: number }
  /** Holds the stream up: the event and all after it come late, in order. */
  | { readonly kind: 'delay-event'; readonly every: number; readonly delayMs: number }
  | { readonly kind: 'cut-watch'; readonly every: number }
  /** Stops a stream without closing it. */
  | { readonly kind: 'freeze-watch'; readonly every: number }
  /** Answers a consistent get or list with what an earlier one said. */
  | { readonly kind: 'stale-read'; readonly every: number }
  /** Answers a later page of a list from the present, under the first page's resourceVersion. */
  | { readonly kind: 'torn-page'; readonly every: number }
  /** Leaves the last object out of a list. */
  | { readonly kind: 'short-list'; readonly every: number }
  /** Says `status` although the write was applied. */
  | { readonly kind: 'write-error'; readonly every: number; readonly status: number }
  /** Says that a write was applied that the server never saw. */
  | { readonly kind: 'lost-write'; readonly every: number }
  /** Sends a merge patch or delete without the version it is to be compared with. */
  | { readonly kind: 'no-compare'; readonly every: number }
  /** Closes the connection after the request was sent on, before its answer. */
  | { readonly kind: 'cut-answer'; readonly every: number };

export interface FaultProxyOptions {
  /** Base URL of the API server. */
  readonly target: string;
  /** Certificate authority of the API server. */
  readonly ca?: string;
  /** The proxy's own certificate; without it the proxy serves plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface FaultProxy {
  readonly url: string;
  /** Replaces the fault in force; undefined: honest again. */
  plant(fault: Fault | undefined): void;
  /** How often the fault in force was done. */
  readonly doneCount: number;
  /** Closes all connections through the proxy at once; new ones are served. */
  cutAll(): void;
  close(): Promise<void>;
}

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new Proxy(options);
  await proxy.listen();
  return proxy;
}

interface Whole {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

interface ListBody {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

class Proxy implements FaultProxy {
  readonly #options: FaultProxyOptions;
  readonly #server: Server;
  #fault: Fault | undefined;
  #seenCount = 0;
  #doneCount = 0;
  /** The first answer to each consistent read, kept while stale reads are planted. */
  readonly #firstAnswers = new Map<string, Whole>();

  constructor(options: FaultProxyOptions) {
    this.#options = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      this.#serve(request, response).catch(() => response.destroy());
    };
    this.#server = options.tls
      ? createHttpsServer(options.tls, listener)
      : createHttpServer(listener);
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  }

  get doneCount(): number {
    return this.#doneCount;
  }

  plant(fault: Fault | undefined): void {
    this.#fault = fault;
    this.#seenCount = 0;
    this.#doneCount = 0;
    this.#firstAnswers.clear();
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  cutAll(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cutAll();
    await closed;
  }

  /** Whether the fault of this kind is in force and due at this occasion. */
  #due<K extends Fault['kind']>(kind: K): Extract<Fault, { kind: K }> | undefined {
    const fault = this.#fault;
    if (fault?.kind !== kind) return undefined;
    this.#seenCount += 1;
    return this.#seenCount % fault.every === 0 ? (fault as Extract<Fault, { kind: K }>) : undefined;
  }

  #done(): void {
    this.#doneCount += 1;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const asked = { method, path, headers, body: await readAll(request) };
    const query = new URL(path, 'http://proxy').searchParams;
    if (query.has('watch')) return this.#serveWatch(asked, response);
    const answer = method === 'GET' ? await this.#read(asked, query) : await this.#write(asked);
    if (answer === undefined) {
      response.destroy();
      return;
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  }

  async #read(asked: Asked, query: URLSearchParams): Promise<Whole | undefined> {
    const answer = await this.#ask(asked);
    if (this.#due('cut-answer')) {
      this.#done();
      return undefined;
    }
    if (answer.status !== 200) return answer;
    const isConsistent = !query.has('resourceVersion') && !query.has('continue');
    if (this.#fault?.kind === 'stale-read' && isConsistent) {
      const first = this.#firstAnswers.get(asked.path) ?? answer;
      this.#firstAnswers.set(asked.path, first);
      if (first.body === answer.body || this.#due('stale-read') === undefined) return answer;
      this.#done();
      return first;
    }
    const isLater = query.has('continue');
    if (isLater && this.#due('torn-page')) return this.#tearPage(asked, answer);
    return isList(answer) && this.#due('short-list') ? this.#shorten(answer) : answer;
  }

  /** The same names, read again one resourceVersion later than the page claims. */
  async #tearPage(asked: Asked, answer: Whole): Promise<Whole> {
    const page = JSON.parse(answer.body) as ListBody;
    const now = await this.#ask({ ...asked, path: asked.path.replace(/\?.*/, '') });
    const names = new Set(page.items.map(({ metadata }) => metadata.name));
    const fresh = (JSON.parse(now.body) as ListBody).items;
    const items = fresh.filter(({ metadata }) => names.has(metadata.name));
    if (JSON.stringify(items) !== JSON.stringify(page.items)) this.#done();
    return { ...answer, body: JSON.stringify({ ...page, items }) };
  }

  #shorten(answer: Whole): Whole {
    const list = JSON.parse(answer.body) as ListBody;
    if (list.items.length === 0) return answer;
    this.#done();
    return { ...answer, body: JSON.stringify({ ...list, items: list.items.slice(0, -1) }) };
  }

  async #write(asked: Asked): Promise<Whole | undefined> {
    if (asked.method === 'PUT' && this.#due('lost-write')) return this.#pretend(asked);
    const isCompared = asked.method === 'PATCH' || asked.method === 'DELETE';
    const answer = await this.#ask(
      isCompared && this.#due('no-compare') ? this.#withoutCompare(asked) : asked,
    );
    if (this.#due('cut-answer')) {
      this.#done();
      return undefined;
    }
    const error = answer.status < 300 ? this.#due('write-error') : undefined;
    if (error === undefined) return answer;
    this.#done();
    const body = { kind: 'Status', code: error.status, reason: 'Conflict' };
    return { ...answer, status: error.status, body: JSON.stringify(body) };
  }

  /** The object as it is, with the data asked for, under the resourceVersion of the moment. */
  async #pretend(asked: Asked): Promise<Whole> {
    const path = asked.path.replace(/\?.*/, '');
    const read = { ...asked, method: 'GET', path, body: Buffer.alloc(0) };
    const current = await this.#ask(read);
    if (current.status !== 200) return this.#ask(asked);
    const list = await this.#ask({ ...read, path: path.replace(/\/[^/]*$/, '') });
    const { resourceVersion } = (JSON.parse(list.body) as ListBody).metadata;
    const object = JSON.parse(current.body) as { metadata: object };
    const { data } = JSON.parse(asked.body.toString()) as { data: unknown };
    this.#done();
    const metadata = { ...object.metadata, resourceVersion };
    return { ...current, body: JSON.stringify({ ...object, metadata, data }) };
  }

  #withoutCompare(asked: Asked): Asked {
    const { metadata, preconditions, ...rest } = JSON.parse(asked.body.toString()) as {
      metadata?: { resourceVersion?: string };
      preconditions?: { resourceVersion?: string };
    };
    if ((metadata ?? preconditions)?.resourceVersion === undefined) return asked;
    this.#done();
    return { ...asked, body: Buffer.from(JSON.stringify(rest)) };
  }

  async #serveWatch(asked: Asked, response: ServerResponse): Promise<void> {
    const stop = new AbortController();
    response.on('close', () => {
      stop.abort();
    });
    const source = await this.#open(asked, stop.signal);
    response.writeHead(source.statusCode ?? 0, { 'content-type': 'application/json' });
    response.flushHeaders();
    let rest = '';
    let held = '';
    const decoder = new TextDecoder();
    for await (const chunk of source) {
      const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (response.destroyed) return;
        if (line === '') continue;
        if (held !== '') {
          response.write(`${line}\n${held}\n`);
          held = '';
          this.#done();
        } else if (this.#due('swap-events')) {
          held = line;
        } else if (!(await this.#pass(line, response, stop.signal))) {
          return;
        }
      }
    }
    response.end(rest);
  }

  /** Writes an event as the fault wants it; false: the stream is over for the client. */
  async #pass(line: string, response: ServerResponse, signal: AbortSignal): Promise<boolean> {
    if (this.#due('drop-event')) {
      this.#done();
      return true;
    }
    if (this.#due('cut-watch')) {
      this.#done();
      response.destroy();
      return false;
    }
    if (this.#due('freeze-watch')) {
      this.#done();
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      return false;
    }
    const delay = this.#due('delay-event');
    if (delay !== undefined) {
      this.#done();
      await sleep(delay.delayMs, undefined, { signal });
    }
    if (this.#due('repeat-event')) {
      this.#done();
      response.write(`${line}\n`);
    }
    return response.write(`${line}\n`) || drained(response, signal);
  }

  async #ask(asked: Asked): Promise<Whole> {
    const answer = await this.#open(asked, AbortSignal.timeout(30_000));
    const body = (await readAll(answer)).toString();
    return { status: answer.statusCode ?? 0, headers: answer.headers, body };
  }

  #open(asked: Asked, signal: AbortSignal): Promise<IncomingMessage> {
    const { target, ca } = this.#options;
    const { method, path, body } = asked;
    const { host: _host, 'content-length': _length, ...headers } = asked.headers;
    const identity = { ...headers, connection: 'close', 'accept-encoding': 'identity' };
    const length = body.length > 0 ? { 'content-length': body.length } : {};
    const options: RequestOptions = { method, signal, headers: { ...identity, ...length } };
    const isTls = target.startsWith('https:');
    return new Promise((resolve, reject) => {
      const sent = isTls
        ? httpsRequest(`${target}${path}`, { ...options, ...(ca && { ca }) }, resolve)
        : httpRequest(`${target}${path}`, options, resolve);
      sent.on('error', reject);
      sent.end(body);
    });
  }
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function isList({ body }: Whole): boolean {
  return body.includes('"items":');
}

/** True once the client has taken what was written; false when it went away. */
function drained(response: ServerResponse, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    response.once('drain', () => {
      resolve(true);
    });
    signal.addEventListener('abort', () => {
      resolve(false);
    });
  });
}
