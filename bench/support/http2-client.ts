// A closed loop over HTTP/2 for load: connections with streams at once, bodies only counted.
import { connect } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import type { LoadBounds, LoadResult } from './http1-client.ts';
import { token } from './server.ts';

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

/** `streamCount` GETs of the path at once on each session, until the bounds are reached. */
export async function http2Loop(
  sessions: readonly ClientHttp2Session[],
  streamCount: number,
  path: string,
  bounds: LoadBounds,
): Promise<LoadResult> {
  const startedMs = performance.now();
  const endMs = startedMs + bounds.durationMs;
  let started = 0;
  let count = 0;
  let bodyBytes = 0;
  const latenciesMs: number[] = [];
  const work = async (session: ClientHttp2Session): Promise<void> => {
    while (started < bounds.countMax) {
      const sentMs = performance.now();
      if (sentMs > endMs) return;
      started++;
      const bytes = await bytesOf(session, path);
      bodyBytes += bytes;
      count++;
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(
    sessions.flatMap((session) => Array.from({ length: streamCount }, () => work(session))),
  );
  return { count, seconds: (performance.now() - startedMs) / 1_000, bodyBytes, latenciesMs };
}

function bytesOf(session: ClientHttp2Session, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':path': path,
      authorization: `Bearer ${token}`,
      accept: 'application/json',
    });
    let bytes = 0;
    stream.on('response', ({ ':status': status = 0 }) => {
      if (status !== 200) reject(new Error(`status ${String(status)}`));
    });
    stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
    stream.on('end', () => resolve(bytes));
    stream.on('error', reject);
  });
}
