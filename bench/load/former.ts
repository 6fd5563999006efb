// This tree beside another one, such as the commit before a change: GET of Pods, LIST in each form,
// both over HTTP/2, and every case of bench/support/writes.ts, each server on its own etcd.
// Run: npm run bench -- former /path/to/the/other/tree [rounds [part of a name]]
import type { ClientHttp2Session } from 'node:http2';
import { samplePod } from '../micro/sample-pod.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import type { Connection, LoadBounds } from '../support/http1-client.ts';
import { lanesOf, openSessions } from '../support/http2-client.ts';
import { listForms } from '../support/list-forms.ts';
import { accountObject, namespaceObject, podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Bench, Target } from '../support/server.ts';
import { writeCases } from '../support/writes.ts';
import type { WriteLoad } from '../support/writes.ts';

const [folder = '', rounds = '7', part = ''] = process.argv.slice(2);
if (folder === '') throw new Error('which tree?');

const pods = '/api/v1/namespaces/bench/pods';

const reads: Record<string, { next: () => Buffer; bounds: LoadBounds }> = {
  'GET of a Pod': {
    next: () => requestBytes('GET', `${pods}/web-900007`),
    bounds: { durationMs: 2_000, countMax: 8_000 },
  },
};
for (const [form, { accept }] of Object.entries(listForms)) {
  const headers = [`accept: ${accept}`, ...(form === 'gzip' ? ['accept-encoding: gzip'] : [])];
  reads[`LIST of 1,000 Pods, ${form}`] = {
    next: () => requestBytes('GET', `${pods}?limit=1000&resourceVersion=0`, undefined, headers),
    bounds: { durationMs: 2_000, countMax: 200 },
  };
}

/** Over HTTP/2, as clients written in Go read. */
const http2Reads: Record<string, { path: string; streamCount: number; bounds: LoadBounds }> = {
  'GET of a Pod over HTTP/2': {
    path: `${pods}/web-900007`,
    streamCount: 2,
    bounds: { durationMs: 2_000, countMax: 8_000 },
  },
  'LIST of 1,000 Pods over HTTP/2': {
    path: `${pods}?limit=1000&resourceVersion=0`,
    streamCount: 1,
    bounds: { durationMs: 2_000, countMax: 200 },
  },
};

await withBench(async (first) =>
  withBench(async (second) => {
    const [former, now] = [await sideOf(first, folder), await sideOf(second)];
    const names = [reads, http2Reads, writeCases(first)].flatMap((cases) => Object.keys(cases));
    for (const name of names) {
      if (!name.includes(part)) continue;
      // Anew for each case: those that are idle for a minute are ended.
      const opened = [await open(former), await open(now)] as const;
      const [one, other] = [loadOf(name, first, opened[0]), loadOf(name, second, opened[1])];
      const sides = await compare(
        [
          { name: 'former', process: former.process, ...one },
          { name: 'now', process: now.process, ...other },
        ],
        Number(rounds),
      );
      console.log(name);
      printSides(sides);
      const [base, own] = sides;
      const ratio = own.microsPerRequest / base.microsPerRequest;
      verdict('CPU, now to former', ratio, { atMost: 1.03 });
      for (const { connections, sessions } of opened) {
        for (const connection of [...connections, ...sessions]) connection.close();
      }
    }
  }),
);

function loadOf(name: string, bench: Bench, { connections, sessions }: Opened): WriteLoad {
  const http2 = http2Reads[name];
  if (http2 !== undefined) {
    const { path, streamCount, bounds } = http2;
    const lanes = lanesOf(sessions, streamCount);
    const request = requestBytes('GET', path);
    return { run: () => closedLoop(lanes, () => request, bounds) };
  }
  const read = reads[name];
  if (read !== undefined) return { run: () => closedLoop(connections, read.next, read.bounds) };
  const write = writeCases(bench)[name];
  if (write === undefined) throw new Error(`no case ${name}`);
  return write.start(connections);
}

interface Opened {
  readonly connections: readonly Connection[];
  readonly sessions: readonly ClientHttp2Session[];
}

async function open({ port }: Target): Promise<Opened> {
  const connections = await openConnections(port, 16, { keepBodies: true });
  return { connections, sessions: await openSessions(port, 8) };
}

async function sideOf(bench: Bench, tree?: string): Promise<Target> {
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('bench'));
  await bench.fill(bench.resource('serviceaccounts'), 1, () => accountObject('bench'));
  await bench.fill(bench.resource('pods'), 1_000, (index) =>
    podIn(samplePod(index), 'bench', 900_000 + index),
  );
  return bench.server(tree === undefined ? {} : { folder: tree.endsWith('/') ? tree : `${tree}/` });
}
