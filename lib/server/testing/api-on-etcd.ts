// The whole API of one replica over a real etcd, listening, and what a client sends it: for suites.
import { RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import type { Replica, ReplicaOptions } from '../../registry/testing/registry-on-etcd.ts';
import { startApiServer } from './api-server.ts';
import type { ApiServerOptions } from './api-server.ts';
import { request1 } from './test-server.ts';
import type { TestAnswer, TestServer } from './test-server.ts';

export interface SentRequest {
  /** Sent as JSON, but for bytes and texts, which are sent as they are. */
  readonly body?: object | string;
  /** Default: that of the method's JSON bodies; merge patches for PATCH. */
  readonly contentType?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer extends TestAnswer {
  /** The body read as JSON; null for an empty one. */
  readonly json: unknown;
}

export class ApiOnEtcd {
  readonly registry: RegistryOnEtcd;
  readonly replica: Replica;
  readonly server: TestServer;

  private constructor(registry: RegistryOnEtcd, replica: Replica, server: TestServer) {
    this.registry = registry;
    this.replica = replica;
    this.server = server;
  }

  /** `optionsOf` may put other stores or another authorizer in place of the replica's own. */
  static async start(
    optionsOf: (replica: Replica) => ApiServerOptions = () => ({}),
    replicaOptions: ReplicaOptions = {},
  ): Promise<ApiOnEtcd> {
    const registry = await RegistryOnEtcd.start();
    const replica = await registry.replica(replicaOptions);
    return new ApiOnEtcd(registry, replica, await startApiServer(replica, optionsOf(replica)));
  }

  async stop(): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.registry.stop();
  }

  send(line: string, sent?: SentRequest): Promise<ApiAnswer> {
    return sendTo(this.server, line, sent);
  }

  async statusOf(line: string, sent?: SentRequest): Promise<number> {
    return (await this.send(line, sent)).status;
  }
}

/** `line` is a method and a path: `GET /api/v1/pods`. */
export async function sendTo(
  server: Pick<TestServer, 'port' | 'ca'>,
  line: string,
  sent: SentRequest = {},
): Promise<ApiAnswer> {
  const [method = '', path = ''] = line.split(' ');
  const { accept } = sent;
  const body = sent.body === undefined ? undefined : bytesOf(sent.body);
  const usualType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const { contentType = usualType } = sent;
  const isChunked = sent.headers?.['transfer-encoding'] !== undefined;
  const answer = await request1(server, path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': contentType }),
      ...(body === undefined || isChunked ? {} : { 'content-length': body.length }),
      ...(accept === undefined ? {} : { accept }),
      ...sent.headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  return {
    ...answer,
    get json(): unknown {
      return answer.body.length === 0 ? null : (JSON.parse(answer.body.toString()) as unknown);
    },
  };
}

const bytesOf = (body: object | string): Uint8Array =>
  body instanceof Uint8Array
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
