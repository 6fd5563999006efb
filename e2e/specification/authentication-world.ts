// Clients of the tables of authentication: each call is on a connection of its own, with whatever
// proves who asks, and tells whom the server takes it for.
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import type { TestPair } from '../../lib/base/testing/certificates.ts';
import type { Replica } from '../harness.ts';

export interface Asked {
  /** A bearer token. */
  readonly token?: string;
  /** A certificate and its key. */
  readonly client?: TestPair;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly method?: string;
  readonly path?: string;
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Identity {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A user as a reply has it, or the status and the message of its refusal. */
export type Who = Identity | { readonly status: number; readonly message: string };

export const authentication = '/apis/authentication.svc.io/v1';
export const reviewsOfSelf = `${authentication}/selfsubjectreviews`;
export const adminGroup = 'system:masters';
export const unauthorized = { status: 401, message: 'Unauthorized' };

export function send(replica: Replica, asked: Asked): Promise<Answer> {
  const { client, method = 'GET', path = '/', body } = asked;
  const options = { method, headers: headersOf(asked), agent: false, ...client } as const;
  const ca = readFileSync(replica.caFile);
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(`${replica.url}${path}`, { ...options, ca }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    outgoing.on('upgrade', ({ statusCode = 0 }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, text: '' });
    });
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : textOf(body));
  });
}

/** The same over HTTP/2. */
export async function send2(replica: Replica, asked: Asked): Promise<Answer> {
  const { client, method = 'GET', path = '/', body } = asked;
  const session = connect(replica.url, { ca: readFileSync(replica.caFile), ...client });
  try {
    const stream = session.request({ ...headersOf(asked), ':method': method, ':path': path });
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    const answered = Promise.all([once(stream, 'response'), once(stream, 'end')]);
    stream.end(body === undefined ? undefined : textOf(body));
    const [[head]] = (await answered) as [[{ ':status'?: number }], unknown];
    return { status: head[':status'] ?? 0, text };
  } finally {
    session.destroy();
  }
}

/** Whom the server takes it for, by a SelfSubjectReview. */
export async function whoIs(replica: Replica, asked: Asked, by = send): Promise<Who> {
  const { status, text } = await by(replica, {
    ...{ method: 'POST', path: reviewsOfSelf, body: { metadata: {} } },
    ...asked,
  });
  if (status === 201)
    return (JSON.parse(text) as { status: { userInfo: Identity } }).status.userInfo;
  return { status, message: messageOf(text) };
}

export const nameOf = async (replica: Replica, asked: Asked, by = send): Promise<unknown> => {
  const who = await whoIs(replica, asked, by);
  return 'status' in who ? who.status : who.username;
};

export const messageOf = (text: string): string => {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
};

/** What opens a watch over a WebSocket, from a browser's page. */
export const upgradeHeaders = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', origin: 'https://127.0.0.1' },
};

/** Tries until it is so: informers and followers of files are a moment behind. */
export async function until<T>(ask: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  let found = await ask();
  for (let tries = 0; tries < 1_500 && !isSo(found); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    found = await ask();
  }
  if (isSo(found)) return found;
  throw new Error(`it has not come to be so: ${JSON.stringify(found)}`);
}

/** By the administrator; throws for anything but the status that a creation has. */
export async function create(replica: Replica, path: string, body: object): Promise<Answer> {
  const reply = await replica.request('POST', path, { body });
  if (reply.status !== 201) throw new Error(`${path}: ${String(reply.status)} ${reply.text}`);
  return reply;
}

/** No reader sees half of it. */
export function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

const headersOf = ({ token, body, headers }: Asked): Record<string, string | string[]> => ({
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...(headers as Record<string, string | string[]> | undefined),
});
