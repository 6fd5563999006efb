// What comes and goes at a server for as long as it runs: objects of many kinds, events that end by
// themselves, namespaces, definitions, tokens, watches that are left, connections that begin and
// end with one request, refusals. Each turn leaves as many objects as there were.
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Identity } from '../operations/clients.ts';

export interface ChurnOptions {
  readonly url: string;
  readonly identity: Identity;
  /** Tells its names from those of others. */
  readonly name: string;
}

interface Ask {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly type?: string;
  readonly token?: string;
  /** The client goes away after so long, in the middle of the answer. */
  readonly leaveAfterMs?: number;
}

const inDefault = '/api/v1/namespaces/default';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const pauseMs = 25;
const waitTurnsMax = 600;

export class Churn {
  readonly failures: string[] = [];
  requestCount = 0;
  turnCount = 0;
  readonly #options: ChurnOptions;
  readonly #running: Promise<void>;
  #isOver = false;

  constructor(options: ChurnOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Resolves after the turn that runs. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (; !this.#isOver && this.failures.length < 100; this.turnCount++) {
      const name = `${this.#options.name}-${String(this.turnCount)}`;
      try {
        await this.#objects(name);
        await this.#refusals(name);
        await this.#watches();
        if (this.turnCount % 10 === 0) await this.#namespace(name);
        if (this.turnCount % 20 === 0) await this.#definition(name);
      } catch (error) {
        this.failures.push(String(error));
        await sleep(200);
      }
    }
  }

  async #objects(name: string): Promise<void> {
    const data = { text: name.repeat(100) };
    const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] };
    const made: [string, object][] = [
      [`${inDefault}/configmaps`, { data }],
      [`${inDefault}/secrets`, { stringData: data }],
      [`${inDefault}/services`, { spec: { ports: [{ port: 80 }] } }],
      [`${inDefault}/serviceaccounts`, {}],
      [`${inDefault}/pods`, { spec }],
    ];
    for (const [path, body] of made) {
      await this.#expect(201, { method: 'POST', path, body: { metadata: { name }, ...body } });
    }
    const labels = { metadata: { labels: { churn: 'yes' } } };
    const apply = { apiVersion: 'v1', kind: 'ConfigMap', ...labels };
    const path = `${inDefault}/configmaps/${name}?fieldManager=churn&force=true`;
    const type = 'application/apply-patch+yaml';
    await this.#expect(200, { method: 'PATCH', path, body: apply, type });
    const involvedObject = { namespace: 'default', kind: 'ConfigMap', name };
    const event = { metadata: { name }, involvedObject };
    await this.#expect(201, { method: 'POST', path: `${inDefault}/events`, body: event });
    const token = `${inDefault}/serviceaccounts/${name}/token`;
    await this.#expect(201, { method: 'POST', path: token, body: {} });
    await this.#expect(200, { method: 'GET', path: `${inDefault}/configmaps?limit=10` });
    const now = { gracePeriodSeconds: 0 };
    for (const [from] of made) {
      await this.#expect(200, { method: 'DELETE', path: `${from}/${name}`, body: now });
    }
  }

  async #refusals(name: string): Promise<void> {
    const path = `${inDefault}/configmaps`;
    await this.#expect(404, { method: 'GET', path: `${path}/${name}` });
    await this.#expect(401, { method: 'GET', path, token: name });
    const body = { metadata: { name: 'NOT A NAME' } };
    await this.#expect(422, { method: 'POST', path, body });
    await this.#expect(400, { method: 'GET', path: `${path}?continue=${name}` });
  }

  /** One is left in the middle, one ends by itself. */
  async #watches(): Promise<void> {
    const path = `${inDefault}/configmaps?watch=true&timeoutSeconds=1`;
    await Promise.all([
      this.#expect(200, { method: 'GET', path, leaveAfterMs: 300 }),
      this.#expect(200, { method: 'GET', path }),
    ]);
  }

  async #namespace(name: string): Promise<void> {
    const body = { metadata: { name } };
    const path = '/api/v1/namespaces';
    await this.#expect(201, { method: 'POST', path, body });
    await this.#expect(201, { method: 'POST', path: `${path}/${name}/configmaps`, body });
    await this.#expect(200, { method: 'DELETE', path: `${path}/${name}` });
    await this.#until(404, `${path}/${name}`);
  }

  async #definition(name: string): Promise<void> {
    const kind = `Thing${name.replaceAll('-', '')}`;
    const plural = `${kind.toLowerCase()}s`;
    const schema = { openAPIV3Schema: { type: 'object' } };
    const body = {
      metadata: { name: `${plural}.soak.example.com` },
      spec: {
        group: 'soak.example.com',
        scope: 'Cluster',
        names: { kind, plural },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    await this.#expect(201, { method: 'POST', path: definitions, body });
    const things = `/apis/soak.example.com/v1/${plural}`;
    await this.#until(200, things);
    const thing = { apiVersion: 'soak.example.com/v1', kind, metadata: { name: 'one' } };
    await this.#expect(201, { method: 'POST', path: things, body: thing });
    const definition = `${definitions}/${body.metadata.name}`;
    await this.#expect(200, { method: 'DELETE', path: definition });
    await this.#until(404, definition);
  }

  async #until(status: number, path: string): Promise<void> {
    for (let turn = 0; turn < waitTurnsMax; turn++) {
      if ((await this.#ask({ method: 'GET', path })).status === status) return;
      await sleep(100);
    }
    throw new Error(`${path} was never answered ${String(status)}`);
  }

  async #expect(status: number, ask: Ask): Promise<void> {
    await sleep(pauseMs);
    const answer = await this.#ask(ask);
    this.requestCount++;
    if (answer.status === status) return;
    const { method, path } = ask;
    this.failures.push(`${method} ${path}: ${String(answer.status)} ${answer.text.slice(0, 300)}`);
  }

  #ask(ask: Ask): Promise<{ readonly status: number; readonly text: string }> {
    const { method, path, body, type = 'application/json', leaveAfterMs } = ask;
    const { identity, url } = this.#options;
    const { ca, token, cert, key } = identity;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const bearer = ask.token ?? token;
    const pair = cert === undefined || key === undefined || ask.token ? {} : { cert, key };
    const headers = {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(text === undefined
        ? {}
        : { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
    };
    return new Promise((resolve, reject) => {
      const options = { method, headers, agent: false as const, ca, ...pair };
      const sent = httpsRequest(`${url}${path}`, options, (incoming) => {
        const status = incoming.statusCode ?? 0;
        let got = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => (got += chunk));
        incoming.on('end', () => resolve({ status, text: got })).on('error', reject);
        if (leaveAfterMs === undefined) return;
        setTimeout(() => {
          resolve({ status, text: got });
          sent.destroy();
        }, leaveAfterMs);
      });
      sent.on('error', reject).end(text);
    });
  }
}
