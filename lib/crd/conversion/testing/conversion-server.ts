// A conversion webhook as a real HTTPS server on 127.0.0.1: converts walls (mixed-store.ts), unless
// the test has it answer otherwise.
import { once } from 'node:events';
import https from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../base/clock.ts';
import { createTestCa } from '../../../base/testing/certificates.ts';
import type { LeafRequest, TestCa } from '../../../base/testing/certificates.ts';
import { clientParts } from '../../../client/testing/open-calls.ts';
import type { ApiObject } from '../../../codec/codec.ts';
import { movedColor } from '../../../registry/testing/mixed-store.ts';
import { ConversionWebhook } from '../conversion-webhook.ts';
import type { ConversionWebhookConfig, ConversionWebhookParts } from '../conversion-webhook.ts';

export interface AskedReview {
  readonly kind: string;
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly ApiObject[];
  };
}

export type AnswerReview = (
  review: AskedReview,
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse },
) => unknown;

/** What a good webhook answers. */
export const converted: AnswerReview = ({ kind, apiVersion, request }) => ({
  kind,
  apiVersion,
  response: {
    uid: request.uid,
    result: { status: 'Success' },
    convertedObjects: request.objects.map((object) =>
      movedColor(object, request.desiredAPIVersion),
    ),
  },
});

/** A good answer with another response. */
export const answering =
  (change: (response: Record<string, unknown>, review: AskedReview) => unknown): AnswerReview =>
  (review, exchange) => {
    const good = converted(review, exchange) as { readonly response: Record<string, unknown> };
    return { ...good, response: change(good.response, review) };
  };

let made: Promise<TestCa> | undefined;
const hookCa = (): Promise<TestCa> => (made ??= createTestCa('conversion-ca'));

export class ConversionServer {
  readonly reviews: AskedReview[] = [];
  readonly requests: { readonly url: string; readonly host: string }[] = [];
  underWayCount = 0;
  underWayMax = 0;
  /** An answer that is undefined is none: the handler has written it, or never will. */
  answer: AnswerReview = converted;
  readonly caBundle: string;
  readonly #server: https.Server;

  private constructor(server: https.Server, caBundle: string) {
    this.#server = server;
    this.caBundle = caBundle;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.#serve(request, response);
    });
  }

  static async start(leaf: Partial<LeafRequest> = {}): Promise<ConversionServer> {
    const ca = await hookCa();
    const names = ['127.0.0.1', 'hook.tests.svc'];
    const pair = await ca.issue({ use: 'serverAuth', commonName: 'hook', names, ...leaf });
    const server = https.createServer(pair);
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ConversionServer(server, Buffer.from(ca.cert).toString('base64'));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://127.0.0.1:${String(this.port)}/convert`;
  }

  webhook(
    config: Partial<ConversionWebhookConfig> = {},
    parts: Partial<ConversionWebhookParts> = {},
  ): ConversionWebhook {
    return new ConversionWebhook(
      {
        clientConfig: { url: this.url, caBundle: this.caBundle },
        conversionReviewVersions: ['v1'],
        ...config,
      },
      { ...clientParts(), clock: systemClock, reviewGroup: 'apiextensions.test', ...parts },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.underWayMax = Math.max(this.underWayMax, ++this.underWayCount);
    response.once('close', () => this.underWayCount--);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as AskedReview;
    this.requests.push({ url: request.url ?? '', host: request.headers.host ?? '' });
    this.reviews.push(review);
    const answer = await this.answer(review, { request, response });
    if (answer === undefined) return;
    response.setHeader('content-type', 'application/json');
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }
}
