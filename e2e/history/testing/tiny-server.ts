// An honest API server of ConfigMaps in memory, over plain HTTP: the fixture on which the checker
// itself is tested. It answers "any" reads from the past on purpose, as caches may; everything else
// is current.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Revision } from '../history.ts';
import { TinyStore, type Expected, type TinyResult } from './tiny-store.ts';

export interface TinyServers {
  readonly urls: readonly string[];
  close(): Promise<void>;
}

/** Several servers on one store, as replicas are. */
export async function startTinyServers(count: number): Promise<TinyServers> {
  const store = new TinyStore();
  const servers = await Promise.all(Array.from({ length: count }, () => listen(store)));
  const urls = servers.map(({ server }) => {
    const { port } = server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  });
  const close = async (): Promise<void> => {
    await Promise.all(
      servers.map(async ({ server, stop }) => {
        stop.abort();
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }),
    );
  };
  return { urls, close };
}

async function listen(store: TinyStore): Promise<{ server: Server; stop: AbortController }> {
  const stop = new AbortController();
  const server = createServer((request, response) => {
    answer(store, request, response, stop.signal).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, stop };
}

interface Body {
  readonly metadata?: Expected & { readonly name?: string };
  readonly preconditions?: Expected;
  readonly data?: Readonly<Record<string, string>>;
}

async function answer(
  store: TinyStore,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://tiny');
  const [, , , resource, namespace = '', , name = ''] = url.pathname.split('/');
  const body = await readBody(request);
  if (resource !== 'namespaces' || namespace === '') {
    send(response, 201, body);
    return;
  }
  const query = url.searchParams;
  const key = `${namespace}/${name}`;
  if (request.method !== 'GET') {
    write(store, request.method ?? '', namespace, name, body, response);
  } else if (query.has('watch')) {
    await watch(store, namespace, query, response, signal);
  } else if (name !== '') {
    const past = query.get('resourceVersion') === '0' ? pastOf(store) : store.revision;
    const found = store.list(key, past).find(([each]) => each === key);
    if (found === undefined) sendStatus(response, 404, 'NotFound');
    else send(response, 200, found[1]);
  } else {
    list(store, namespace, query, response);
  }
}

async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Body);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendStatus(response: ServerResponse, code: number, reason: string): void {
  send(response, code, { kind: 'Status', code, reason });
}

/** A cache that lags behind by up to ten changes. */
function pastOf({ revision }: TinyStore): Revision {
  return Math.max(1, revision - (revision % 11));
}

function write(
  store: TinyStore,
  method: string,
  namespace: string,
  name: string,
  body: Body,
  response: ServerResponse,
): void {
  const { metadata = {}, preconditions = {}, data = {} } = body;
  const key = `${namespace}/${name}`;
  const results: Record<string, () => TinyResult> = {
    POST: () => store.create(namespace, metadata.name ?? '', data),
    PUT: () => store.change(key, metadata, () => data),
    PATCH: () => store.change(key, metadata, (old) => ({ ...old, ...data })),
    DELETE: () => store.delete(key, preconditions),
  };
  const result = results[method]?.() ?? 'NotFound';
  if (typeof result === 'string') {
    sendStatus(response, result === 'NotFound' ? 404 : 409, result);
  } else if (method === 'DELETE') {
    send(response, 200, { kind: 'Status', details: { uid: result.metadata.uid } });
  } else {
    send(response, method === 'POST' ? 201 : 200, result);
  }
}

function list(
  store: TinyStore,
  namespace: string,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  const [tokenRevision, afterKey = ''] = (query.get('continue') ?? '').split(' ');
  const asked = query.get('resourceVersion');
  const isExact = query.get('resourceVersionMatch') === 'Exact';
  let revision = store.revision;
  if (tokenRevision) revision = Number(tokenRevision);
  else if (asked === '0') revision = pastOf(store);
  else if (isExact && asked !== null) revision = Number(asked);
  const all = store.list(`${namespace}/`, revision).filter(([key]) => key > afterKey);
  const page = all.slice(0, Number(query.get('limit') ?? Infinity));
  const last = page.at(-1)?.[0];
  const isMore = page.length < all.length && last !== undefined;
  const token = isMore ? { continue: `${revision} ${last}` } : {};
  send(response, 200, {
    kind: 'ConfigMapList',
    metadata: { resourceVersion: String(revision), ...token },
    items: page.map(([, object]) => object),
  });
}

async function watch(
  store: TinyStore,
  namespace: string,
  query: URLSearchParams,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const prefix = `${namespace}/`;
  const isStreamed = query.get('sendInitialEvents') === 'true';
  const asked = query.get('resourceVersion') ?? '';
  let position = asked === '0' ? pastOf(store) : store.revision;
  response.writeHead(200, { 'content-type': 'application/json' });
  const emit = (type: string, object: unknown): boolean =>
    response.write(`${JSON.stringify({ type, object })}\n`);
  const bookmark = (annotations: Record<string, string>): boolean =>
    emit('BOOKMARK', { metadata: { resourceVersion: String(position), annotations } });
  if (isStreamed || asked === '' || asked === '0') {
    for (const [, object] of store.list(prefix, position)) emit('ADDED', object);
    if (isStreamed) bookmark({ 'example.org/initial-events-end': 'true' });
  } else {
    position = Number(asked);
  }
  const seconds = Number(query.get('timeoutSeconds') ?? 30);
  const ended = new Promise<undefined>((resolve) => {
    const timer = setTimeout(() => {
      resolve(undefined);
    }, seconds * 1000);
    response.on('close', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
  let isOpen = true;
  void ended.then(() => (isOpen = false));
  while (isOpen && !signal.aborted) {
    for (const { type, key, object, revision } of store.changesAfter(position)) {
      position = revision;
      if (key.startsWith(prefix)) emit(type, object);
      if (revision % 13 === 0) bookmark({});
    }
    await Promise.race([store.changed, ended]);
  }
  response.end();
}
