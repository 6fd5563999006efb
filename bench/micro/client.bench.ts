// Outgoing calls beside bare node:https with a keep-alive agent, to the same server: CPU of this
// process a call of 2 KB that is answered with 1 KB.
// Run: node bench/micro/client.bench.ts [calls]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../lib/base/clock.ts';
import { createLogger } from '../../lib/base/log.ts';
import { createTestCa } from '../../lib/base/testing/certificates.ts';
import { ClientMetrics } from '../../lib/client/client-metrics.ts';
import { ExecPlugins } from '../../lib/client/exec-credentials.ts';
import { openTarget } from '../../lib/client/open-target.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { median, verdict } from '../support/compare.ts';
import { MeasuredProcess } from '../support/measured-process.ts';

const callCount = Number(process.argv[2] ?? 10_000);
const rounds = 5;
const { signal } = new AbortController();
const sent = Buffer.from(JSON.stringify({ spec: { token: 'x'.repeat(2_000) } }));
const answered = JSON.stringify({ status: { user: { username: 'y'.repeat(1_000) } } });
const parse = (body: Uint8Array): unknown => JSON.parse(Buffer.from(body).toString());

type Side = () => Promise<unknown>;

/** CPU microseconds of this process a call. */
async function measure(side: Side, concurrency: number): Promise<number> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next++ < callCount) await side();
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / callCount;
}

function bareSide(options: { readonly port: number; readonly ca: string }): Side {
  const agent = new Agent({ keepAlive: true, ca: options.ca });
  const headers = { 'content-type': 'application/json', 'content-length': sent.length };
  return () =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        { agent, host: '127.0.0.1', port: options.port, method: 'POST', path: '/', headers },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('end', () => resolve(parse(Buffer.concat(chunks))));
          incoming.on('error', reject);
        },
      );
      outgoing.on('error', reject).end(sent);
    });
}

async function ownSide(options: { readonly port: number; readonly ca: string }): Promise<Side> {
  const { series } = testMetrics();
  const log = createLogger('error');
  const caBundle = Buffer.from(options.ca).toString('base64');
  const target = await openTarget(
    { webhook: { url: `https://127.0.0.1:${String(options.port)}/`, caBundle } },
    {
      clock: systemClock,
      ...{ log, plugins: new ExecPlugins({ clock: systemClock, log }) },
      metrics: new ClientMetrics(series),
      parse: (text) => JSON.parse(text) as unknown,
      services: {
        resolve: () => Promise.reject(new Error('no services here')),
        places: () => undefined,
      },
    },
  );
  return () => target.call({ body: sent, decode: parse, signal });
}

const folder = mkdtempSync(join(tmpdir(), 'client-bench-'));
const ca = await createTestCa();
const pair = await ca.issue({ use: 'serverAuth', commonName: 'bench' });
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
file('server.key', pair.key);
file('server.crt', pair.cert);
file('ca.crt', ca.cert);
const headers = { 'content-type': 'application/json', 'content-length': String(answered.length) };
const answerFile = file(
  'answer.json',
  JSON.stringify({ headers, bodyFile: file('body', answered) }),
);
const { process: server, match } = await MeasuredProcess.start('bench/support/bare-answer.ts', {
  args: [folder, answerFile],
  ready: /listening (\d+)/,
});
try {
  const at = { port: Number(match[1]), ca: ca.cert };
  const sides = [bareSide(at), await ownSide(at)] as const;
  for (const concurrency of [16, 1]) {
    const costs: [number[], number[]] = [[], []];
    for (const side of sides) await measure(side, concurrency);
    for (let round = 0; round < rounds; round++) {
      for (const [index, side] of sides.entries()) {
        costs[index]?.push(await measure(side, concurrency));
      }
    }
    const [bare, own] = [median(costs[0]), median(costs[1])];
    console.log(
      `${concurrency} at a time: node:https ${bare.toFixed(1)}, own ${own.toFixed(1)} µs`,
    );
    verdict('CPU a call to that of node:https', own / bare, { atMost: 1 });
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}
