// Reads and watches of one replica over a listening server, and clients that take a whole watch
// over each transport: for suites. A watch can be told where in its events it reaches its timeout.
import { once } from 'node:events';
import WebSocket from 'ws';
import { systemClock } from '../../base/clock.ts';
import { pathNotFound } from '../../base/status.ts';
import { createEncodings } from '../../codec/encodings.ts';
import { RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../../registry/testing/registry-on-etcd.ts';
import { silentRequestMetrics } from '../../telemetry/testing/silent-request-metrics.ts';
import { getHandler, listHandler } from '../handlers/read.ts';
import { watchHandler } from '../handlers/watch.ts';
import { watchTimedOut } from '../open-request.ts';
import type { Filter, HttpRequest } from '../request-context.ts';
import { createSerializers } from '../serializers.ts';
import type { StreamSerializer } from '../serializers.ts';
import { connect2, request1, request2, startTestServer } from './test-server.ts';
import type { TestServer } from './test-server.ts';
import { createWebsockets } from '../websocket.ts';

export const transports = ['HTTP/1.1', 'HTTP/2', 'WebSocket'] as const;
export type Transport = (typeof transports)[number];

/** Where a watch reaches its timeout: as its event of this number or name is framed. */
export interface WatchEnd {
  readonly at: number | string;
  /** One turn of the loop later: while the event is on its way. Default: in the same turn. */
  readonly isLater?: boolean;
}

export class WatchServer {
  readonly replica: Replica;
  readonly registry: RegistryOnEtcd;
  readonly server: TestServer;

  private constructor(registry: RegistryOnEtcd, replica: Replica, server: TestServer) {
    this.registry = registry;
    this.replica = replica;
    this.server = server;
  }

  static async start(): Promise<WatchServer> {
    const registry = await RegistryOnEtcd.start();
    const replica = await registry.replica();
    const server = await startTestServer({ filters: [readsOf(replica)] });
    return new WatchServer(registry, replica, server);
  }

  async stop(): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.registry.stop();
  }

  /** Everything that a watch sent until it ended. */
  async watch(
    path: string,
    options: { readonly end: WatchEnd; readonly over?: Transport; readonly accept?: string },
  ): Promise<Buffer> {
    const { end, over = 'HTTP/1.1', accept = 'application/json' } = options;
    const headers = { accept, 'end-at': String(end.at), 'end-later': String(end.isLater === true) };
    if (over === 'HTTP/1.1') return (await request1(this.server, path, { headers })).body;
    if (over === 'WebSocket') return this.#watchMessages(path, headers);
    const session = await connect2(this.server);
    const { body } = await request2(session, path, { headers });
    session.close();
    return body;
  }

  /** Messages, each followed by a newline. */
  async #watchMessages(path: string, headers: Record<string, string>): Promise<Buffer> {
    const { port, ca } = this.server;
    const socket = new WebSocket(`wss://127.0.0.1:${String(port)}${path}`, { ca, headers });
    const messages: Buffer[] = [];
    socket.on('message', (data: Buffer) => messages.push(data, Buffer.from('\n')));
    await once(socket, 'close');
    return Buffer.concat(messages);
  }
}

function readsOf({ naming, scheme, stores }: Replica): Filter {
  const serializers = createSerializers({ scheme, encodings: createEncodings(naming) });
  const readOptions = { serializers, compress: false };
  const get = getHandler(readOptions);
  const list = listHandler(readOptions);
  const watch = watchHandler({
    metrics: silentRequestMetrics,
    clock: systemClock,
    minRequestTimeoutSeconds: 60,
    websockets: createWebsockets(naming),
    serializers: {
      ...serializers,
      ofWatch: (request, resource) => endingAt(request, serializers.ofWatch(request, resource)),
    },
  });
  return (request, response) => {
    const { info } = request.context;
    const store = stores.find(info);
    if (store === undefined) throw pathNotFound();
    if (info.verb === 'get') return get(store, request, response);
    return info.verb === 'watch' ? watch(store, request, response) : list(store, request, response);
  };
}

/** The serializer, which ends its request where the headers say so. */
function endingAt(request: HttpRequest, made: StreamSerializer): StreamSerializer {
  const open = request.context;
  const { 'end-at': at, 'end-later': isLater } = request.headers;
  const end = (): void => open.end(watchTimedOut);
  let count = 0;
  return {
    ...made,
    variant: undefined, // each of its frames counts
    frame(event) {
      count++;
      if (at === String(count) || at === event.item?.name) {
        if (isLater === 'true') setImmediate(end);
        else end();
      }
      return made.frame(event);
    },
  };
}
