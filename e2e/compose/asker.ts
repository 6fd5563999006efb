// Single requests, through the balancer or to one replica: as the administrator, or as whom a token
// names.
import { Http1Client, type Identity } from '../operations/clients.ts';
import type { SetUp } from './set-up.ts';

interface Reply {
  readonly status: number;
  readonly text: string;
}

interface AskOptions {
  readonly body?: object;
  /** With `authorization` the client shows no certificate. A patch is a merge patch. */
  readonly headers?: { readonly authorization?: string; readonly 'content-type'?: string };
}

export class Asker {
  readonly url: string;
  readonly #admin: SetUp['admin'];
  readonly #clients = new Map<string, Http1Client>();

  constructor({ url, admin }: { readonly url: string; readonly admin: SetUp['admin'] }) {
    this.url = url;
    this.#admin = admin;
  }

  async request(method: string, path: string, options: AskOptions = {}): Promise<Reply> {
    const { body, headers = {} } = options;
    const client = this.#clientOf(headers.authorization?.replace(/^Bearer /, ''));
    const answer = await client.ask({ method, path, ...(body === undefined ? {} : { body }) });
    const chunks: Buffer[] = [];
    for await (const chunk of answer.body) chunks.push(chunk as Buffer);
    return { status: answer.status, text: Buffer.concat(chunks).toString('utf8') };
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
  }

  #clientOf(token: string | undefined): Http1Client {
    const known = this.#clients.get(token ?? '');
    if (known !== undefined) return known;
    const admin = this.#admin;
    const identity: Identity = token === undefined ? admin : { ca: admin.ca, token };
    const client = new Http1Client({ url: this.url, identity: () => identity });
    this.#clients.set(token ?? '', client);
    return client;
  }
}
