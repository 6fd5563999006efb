// Each kind of write (bench/support/writes.ts), over HTTP/1.1 and over HTTP/2 as clients written in
// Go send, beside the same bytes put by a bare process.
// Run: npm run bench -- write [pattern of names [rounds]]
import { writeFileSync } from 'node:fs';
import { encodeStored } from '../../lib/codec/stored-form.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import type { Side } from '../support/compare.ts';
import { openConnections } from '../support/http1-client.ts';
import type { Lane, LoadResult } from '../support/http1-client.ts';
import { lanesOf, openSessions } from '../support/http2-client.ts';
import { accountObject, namespaceObject } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Bench, Target } from '../support/server.ts';
import { writeCases } from '../support/writes.ts';
import type { WriteCase } from '../support/writes.ts';

const [part = '', rounds = '4'] = process.argv.slice(2);
const concurrency = 16;
const sessionCount = 4;
const putCount = 1_500;

await withBench(async (bench) => {
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('bench'));
  await bench.fill(bench.resource('serviceaccounts'), 1, () => accountObject('bench'));
  const server = await bench.server();
  const http1 = await openConnections(server.port, concurrency, { keepBodies: true });
  const sessions = await openSessions(server.port, sessionCount);
  const http2 = lanesOf(sessions, concurrency / sessionCount, { keepBodies: true });
  for (const [name, one] of Object.entries(writeCases(bench))) {
    if (new RegExp(part).test(name)) await measure(bench, server, { http1, http2 }, name, one);
  }
});

interface Lanes {
  readonly http1: readonly Lane[];
  readonly http2: readonly Lane[];
}

async function measure(
  bench: Bench,
  server: Target,
  { http1, http2 }: Lanes,
  name: string,
  writeCase: WriteCase,
): Promise<void> {
  const { resource, sample, isUpdate, atMost } = writeCase;
  const valueFile = bench.file(`${name.replaceAll(' ', '-')}.bin`);
  const { value } = encodeStored(sample, resource);
  writeFileSync(valueFile, value);
  const bare = await bench.bare('bare-put.ts', [bench.etcd.endpoints.join(','), valueFile]);
  let put = 0;
  const barePut = async (over = isUpdate): Promise<LoadResult> => {
    const first = over ? 0 : put;
    const result = await bare.process.run(name, first, putCount, over, concurrency);
    if (!over) put += putCount;
    return result as LoadResult;
  };
  if (isUpdate) await barePut(false);
  const side = (title: string, lanes: readonly Lane[]): Side => {
    const load = writeCase.start(lanes);
    const prepare = load.prepare === undefined ? undefined : async () => load.prepare?.();
    return { name: title, process: server.process, run: () => load.run(), prepare };
  };
  const [base, over1, over2] = await compare(
    [
      { name: 'bare put', process: bare.process, run: () => barePut() },
      side('server', http1),
      side('server over HTTP/2', http2),
    ],
    Number(rounds),
  );
  console.log(`${name}, ${String(value.length)} bytes, ${String(concurrency)} at a time`);
  printSides([base, over1, over2]);
  verdict('CPU, server to bare put', over1.microsPerRequest / base.microsPerRequest, { atMost });
  const http2Ratio = over2.microsPerRequest / base.microsPerRequest;
  verdict('CPU, server over HTTP/2 to bare put', http2Ratio, { atMost });
  await bench.stopServer(bare);
}
