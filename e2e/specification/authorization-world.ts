// What tests of authorization ask a server in the spelling of the product, and services over TLS
// that a server asks: one service answers at many paths, and keeps what it was asked.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { createTestCa } from '../../lib/base/testing/certificates.ts';
import type { Replica, Reply } from '../harness.ts';

export const rbacGroup = 'rbac.authorization.svc.io';
export const rbacPath = `/apis/${rbacGroup}/v1`;
export const reviewsPath = '/apis/authorization.svc.io/v1';

export interface Who {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, string>>;
}

export interface ResourceQuestion {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Reads `get pods/log in team named web`, `delete deployments.apps`, `get /metrics`. */
export function questionOf(text: string): object {
  const [, verb = '', what = '', namespace = '', name = ''] =
    /^(\S+) (\S+)(?: in (\S+))?(?: named (\S+))?$/.exec(text) ?? [];
  if (what.startsWith('/')) return { nonResourceAttributes: { verb, path: what } };
  const [typed = '', subresource = ''] = what.split('/');
  const [resource = '', ...group] = typed.split('.');
  const at: ResourceQuestion = {
    ...{ verb, resource, subresource, namespace, name },
    group: group.join('.'),
  };
  return { resourceAttributes: at };
}

export interface ReviewStatus {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly reason?: string;
}

/** The status of a SubjectAccessReview about somebody. */
export async function reviewed(replica: Replica, who: Who, text: string): Promise<ReviewStatus> {
  const body = { spec: { ...who, ...questionOf(text) } };
  const reply = await replica.request('POST', `${reviewsPath}/subjectaccessreviews`, { body });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.json<{ status: ReviewStatus }>().status;
}

export const isAllowed = async (replica: Replica, who: Who, text: string): Promise<boolean> =>
  (await reviewed(replica, who, text)).allowed;

/** Headers by which the administrator is somebody else. Only one group beside those of the name. */
export const as = ({ user, groups = [] }: Who): Record<string, string> => ({
  'impersonate-user': user,
  ...(groups[0] === undefined ? {} : { 'impersonate-group': groups[0] }),
});

export const messageOf = (reply: Reply): string => reply.json<{ message: string }>().message;

/** Tries until it is true; a minute is far too long. */
export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  while (!(await isTrue())) await sleep(20, undefined, { signal });
}

/** Makes an object; it must not be there. */
export async function make(replica: Replica, path: string, body: object): Promise<void> {
  const reply = await replica.request('POST', path, { body });
  if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
}

/** `ClusterRole view` → its roleRef. */
export function roleRef(text: string): object {
  const [kind, name] = text.split(' ');
  return { apiGroup: rbacGroup, kind, name };
}

/** `User alice`, `Group team`, `ServiceAccount ns/name`. */
export function subject(text: string): object {
  const [, kind = '', name = ''] = /^(\S+) (.*)$/.exec(text) ?? [];
  if (kind !== 'ServiceAccount') return { kind, name, apiGroup: rbacGroup };
  const [namespace, account] = name.split('/');
  return { kind, namespace, name: account };
}

/** Waits until what was written before this is in force. */
export async function settled(replica: Replica): Promise<void> {
  const name = `settled-${String(++settledCount)}`;
  const rules = [{ verbs: ['get'], nonResourceURLs: [`/${name}`] }];
  await make(replica, `${rbacPath}/clusterroles`, { metadata: { name }, rules });
  await make(replica, `${rbacPath}/clusterrolebindings`, {
    ...{ metadata: { name }, subjects: [subject(`User ${name}`)] },
    roleRef: roleRef(`ClusterRole ${name}`),
  });
  await until(() => isAllowed(replica, { user: name }, `get /${name}`));
}
let settledCount = 0;

/** A SubjectAccessReview as it came. */
export interface AskedReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: {
    readonly user: string;
    readonly groups?: readonly string[];
    readonly group?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
    readonly uid?: string;
    readonly resourceAttributes?: Readonly<Record<string, unknown>>;
    readonly nonResourceAttributes?: { readonly path: string; readonly verb: string };
  };
}

/** A status; a text in place of a body; `undefined`: no answer at all. */
export type HookAnswer = object | string | undefined;

export interface HookCall {
  readonly method: string;
  readonly contentType: string;
  /** Common name of the certificate that the server showed. */
  readonly caller: string;
  readonly review: AskedReview;
}

/** A service with a path for each name. */
export class Hooks {
  readonly folder: string;
  readonly #server: Server;
  readonly #authority: string;
  readonly #client: { readonly key: string; readonly cert: string };
  readonly #answers = new Map<string, (review: AskedReview) => HookAnswer>();
  readonly #calls = new Map<string, HookCall[]>();

  private constructor(
    folder: string,
    server: Server,
    authority: string,
    client: { readonly key: string; readonly cert: string },
  ) {
    this.folder = folder;
    this.#server = server;
    this.#authority = authority;
    this.#client = client;
  }

  static async start(): Promise<Hooks> {
    const ca = await createTestCa('hooks-ca');
    const pair = await ca.issue({ use: 'serverAuth', commonName: 'hooks', names: ['127.0.0.1'] });
    const client = await ca.issue({ use: 'clientAuth', commonName: 'the-apiserver' });
    const server = createServer({ ...pair, ca: ca.cert, requestCert: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const folder = mkdtempSync(join(tmpdir(), 'apiserver-hooks-'));
    const hooks = new Hooks(folder, server, ca.cert, client);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const name = request.url?.slice(1).split('?')[0] ?? '';
        const review = JSON.parse(Buffer.concat(chunks).toString()) as AskedReview;
        const { CN = '' } = (request.socket as TLSSocket).getPeerCertificate().subject ?? {};
        hooks.calls(name).push({
          method: request.method ?? '',
          contentType: request.headers['content-type'] ?? '',
          caller: String(CN),
          review,
        });
        const answer = hooks.#answers.get(name)?.(review);
        if (answer === undefined) return;
        const { apiVersion, kind } = review;
        const body = { apiVersion, kind, status: answer };
        response.end(typeof answer === 'string' ? answer : JSON.stringify(body));
      });
    });
    return hooks;
  }

  /** @returns the path of a client configuration file for this service. */
  add(name: string, answer: (review: AskedReview) => HookAnswer): string {
    this.#answers.set(name, answer);
    const { port } = this.#server.address() as AddressInfo;
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const path = join(this.folder, name);
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [
        {
          name: 'a',
          cluster: {
            server: `https://127.0.0.1:${String(port)}/${name}`,
            'certificate-authority-data': base64(this.#authority),
          },
        },
      ],
      users: [
        {
          name: 'a',
          user: {
            'client-certificate-data': base64(this.#client.cert),
            'client-key-data': base64(this.#client.key),
          },
        },
      ],
    };
    writeFileSync(path, JSON.stringify(config));
    return path;
  }

  /** What came for this name, the last at the end. */
  calls(name: string): HookCall[] {
    const found = this.#calls.get(name) ?? [];
    this.#calls.set(name, found);
    return found;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
