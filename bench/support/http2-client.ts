// HTTP/2 for load: connections, and the streams that are used of them at once.
import { connect } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { headEnd } from './http1-client.ts';
import type { Answer, Lane } from './http1-client.ts';

export const openSessions = (port: number, count: number): Promise<ClientHttp2Session[]> =>
  Promise.all(Array.from({ length: count }, () => openSession(port)));

function openSession(port: number): Promise<ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    // The certificate is the run's own; checking it is not what is measured.
    const session = connect(`https://127.0.0.1:${String(port)}`, { rejectUnauthorized: false });
    session.once('error', reject);
    session.once('connect', () => {
      session.off('error', reject);
      session.on('error', () => undefined);
      resolve(session);
    });
  });
}

/** So many streams at once on each session. */
export const lanesOf = (
  sessions: readonly ClientHttp2Session[],
  streamCount: number,
  { keepBodies = false }: { readonly keepBodies?: boolean } = {},
): Lane[] =>
  sessions.flatMap((session) =>
    Array.from({ length: streamCount }, () => ({
      request: (bytes: Buffer) => requestOn(session, bytes, keepBodies),
    })),
  );

/** HTTP/2 has them in other places. */
const namesOfHttp1: ReadonlySet<string> = new Set(['host', 'content-length']);

function requestOn(
  session: ClientHttp2Session,
  bytes: Buffer,
  keepBodies: boolean,
): Promise<Answer> {
  const end = bytes.indexOf(headEnd);
  const [line = '', ...fields] = bytes.toString('latin1', 0, end).split('\r\n');
  const [method = '', path = ''] = line.split(' ');
  const headers: Record<string, string> = { ':method': method, ':path': path };
  for (const field of fields) {
    const colon = field.indexOf(': ');
    const name = field.slice(0, colon);
    if (!namesOfHttp1.has(name)) headers[name] = field.slice(colon + 2);
  }
  const body = bytes.subarray(end + headEnd.length);
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body.length === 0 });
    if (body.length > 0) stream.end(body);
    const chunks: Buffer[] = [];
    let status = 0;
    let bodyBytes = 0;
    stream.on('response', (answered) => (status = answered[':status'] ?? 0));
    stream.on('data', (chunk: Buffer) => {
      bodyBytes += chunk.length;
      if (keepBodies) chunks.push(chunk);
    });
    stream.on('end', () => {
      resolve({
        status,
        head: '',
        bodyBytes,
        body: keepBodies ? Buffer.concat(chunks) : undefined,
      });
    });
    stream.on('error', reject);
  });
}
