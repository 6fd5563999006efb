// An HTTPS server on 127.0.0.1 that answers reviews by path, as those of public add-ons do.
import { once } from 'node:events';
import https from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../lib/api/type-info.ts';
import type { TestPair } from '../../lib/base/testing/certificates.ts';
import type { ApiObject } from '../../lib/codec/codec.ts';

/** The `request` of a review of admission or of conversion. */
export interface ReviewRequest {
  readonly uid: string;
  readonly operation: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly requestKind: ReviewRequest['kind'];
  readonly object: ApiObject & JsonObject;
  readonly dryRun: boolean;
  readonly desiredAPIVersion: string;
  readonly objects: readonly (ApiObject & JsonObject)[];
}

/** What is answered to reviews at one path, besides their uid. */
export type Answering = (request: ReviewRequest) => JsonObject;

export const patching = (operations: readonly object[]): JsonObject => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

export class ReviewServer {
  /** In the order in which they came. */
  readonly requests: (ReviewRequest & { readonly path: string })[] = [];
  readonly #server: https.Server;

  private constructor(server: https.Server) {
    this.#server = server;
  }

  /** `port` 0: any. */
  static async start(
    answers: Readonly<Record<string, Answering>>,
    {
      port = 0,
      seen,
      ...pair
    }: TestPair & {
      readonly port?: number;
      /** Told of the headers of each review. */
      readonly seen?: (headers: IncomingHttpHeaders) => void;
    },
  ): Promise<ReviewServer> {
    const server = https.createServer(pair);
    const reviews = new ReviewServer(server);
    server.on('tlsClientError', () => undefined);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      seen?.(request.headers);
      void reviews.#serve(request, response, answers);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return reviews;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Serves new connections with another certificate, and ends the others. */
  present(pair: TestPair): void {
    this.#server.setSecureContext(pair);
    this.#server.closeIdleConnections();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(
    incoming: IncomingMessage,
    response: ServerResponse,
    answers: Readonly<Record<string, Answering>>,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
    } catch {
      return; // the caller has gone
    }
    const [path = ''] = (incoming.url ?? '').split('?');
    const answering = answers[path];
    if (answering === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { kind, apiVersion, request } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
      readonly kind: string;
      readonly apiVersion: string;
      readonly request: ReviewRequest;
    };
    this.requests.push({ ...request, path });
    const answer = { kind, apiVersion, response: { uid: request.uid, ...answering(request) } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }
}
