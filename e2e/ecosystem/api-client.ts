// What the add-ons of these tests know of the API: JSON over one kept connection, and what they are
// started with.
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import type { JsonObject } from '../../lib/api/type-info.ts';
import type { TestPair } from '../../lib/base/testing/certificates.ts';
import type { ApiObject } from '../../lib/codec/codec.ts';

/** The one argument of an add-on. */
export interface AddOnStart {
  readonly url: string;
  readonly caFile: string;
  readonly token: string;
  /** Where it listens on 127.0.0.1; 0: anywhere. */
  readonly port: number;
}

export type Known = ApiObject & { readonly metadata: { readonly name: string } } & JsonObject;

export interface ApiAnswer {
  readonly status: number;
  readonly body: Known;
}

export class ApiClient {
  readonly #start: AddOnStart;
  readonly #agent: Agent;

  constructor(start: AddOnStart) {
    this.#start = start;
    this.#agent = new Agent({ keepAlive: true, ca: readFileSync(start.caFile) });
  }

  request(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const { url, token } = this.#start;
    const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/json';
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest(
        `${url}${path}`,
        { method, headers, agent: this.#agent },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            const { statusCode: status = 0 } = incoming;
            try {
              resolve({ status, body: JSON.parse(text) as Known });
            } catch (error) {
              reject(new Error(`${method} ${path}: ${String(status)} ${text}`, { cause: error }));
            }
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** undefined: there is none, or it cannot be read now. */
  async find(path: string): Promise<Known | undefined> {
    try {
      const { status, body } = await this.request('GET', path);
      if (status === 200) return body;
      if (status !== 404) process.stderr.write(`GET ${path}: ${JSON.stringify(body)}\n`);
      return undefined;
    } catch (error) {
      process.stderr.write(`${String(error)}\n`); // of a kind that is not served yet
      return undefined;
    }
  }

  async list(path: string): Promise<readonly Known[]> {
    const found = await this.find(path);
    return (found?.['items'] ?? []) as unknown as readonly Known[];
  }
}

export const startOf = (): AddOnStart => JSON.parse(process.argv[2] ?? '') as AddOnStart;

export const secretPath = (namespace: string, name: string): string =>
  `/api/v1/namespaces/${namespace}/secrets/${name}`;
export const decoded = (secret: Known, key: string): string =>
  Buffer.from((secret['data'] as Record<string, string>)[key] ?? '', 'base64').toString('utf8');
export const pairOf = (secret: Known): TestPair => ({
  cert: decoded(secret, 'tls.crt'),
  key: decoded(secret, 'tls.key'),
});

/** Runs until the process ends; what fails now is tried again. */
export async function repeat(step: () => Promise<void>): Promise<never> {
  for (;;) {
    try {
      await step();
    } catch (error) {
      process.stderr.write(`${String(error)}\n`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits for the secret with which an add-on serves. */
export async function serving(client: ApiClient, namespace: string, name: string): Promise<Known> {
  for (;;) {
    const secret = await client.find(secretPath(namespace, name));
    if (secret !== undefined) return secret;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Told to whoever started it. */
export const tellPort = (port: number): void =>
  void process.stdout.write(`listening ${String(port)}\n`);
