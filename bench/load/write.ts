// Each kind of write (bench/support/writes.ts) beside the same bytes put by a bare process.
// Run: npm run bench -- write [pattern of names [rounds]]
import { writeFileSync } from 'node:fs';
import { encodeStored } from '../../lib/codec/stored-form.ts';
import { compare, printSides, verdict } from '../support/compare.ts';
import { openConnections } from '../support/http1-client.ts';
import type { Connection, LoadResult } from '../support/http1-client.ts';
import { accountObject, namespaceObject } from '../support/objects.ts';
import { withBench } from '../support/server.ts';
import type { Bench, Target } from '../support/server.ts';
import { writeCases } from '../support/writes.ts';
import type { WriteCase } from '../support/writes.ts';

const [part = '', rounds = '4'] = process.argv.slice(2);
const concurrency = 16;
const putCount = 1_500;

await withBench(async (bench) => {
  await bench.fill(bench.resource('namespaces'), 1, () => namespaceObject('bench'));
  await bench.fill(bench.resource('serviceaccounts'), 1, () => accountObject('bench'));
  const server = await bench.server();
  const connections = await openConnections(server.port, concurrency, { keepBodies: true });
  for (const [name, one] of Object.entries(writeCases(bench))) {
    if (new RegExp(part).test(name)) await measure(bench, server, connections, name, one);
  }
});

async function measure(
  bench: Bench,
  server: Target,
  connections: readonly Connection[],
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
  const load = writeCase.start(connections);
  const prepare = load.prepare === undefined ? undefined : async () => load.prepare?.();
  const [base, own] = await compare(
    [
      { name: 'bare put', process: bare.process, run: () => barePut() },
      { name: 'server', process: server.process, run: () => load.run(), prepare },
    ],
    Number(rounds),
  );
  console.log(`${name}, ${String(value.length)} bytes, ${String(concurrency)} at a time`);
  printSides([base, own]);
  verdict('CPU, server to bare put', own.microsPerRequest / base.microsPerRequest, { atMost });
  await bench.stopServer(bare);
}
