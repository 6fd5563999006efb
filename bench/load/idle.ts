// 1,000 idle watches over 10 HTTP/2 connections: memory a watch, beside bare node:http2 streams
// with open responses.
import { verdict } from '../support/compare.ts';
import { withBench } from '../support/server.ts';
import type { Target } from '../support/server.ts';
import { Deliveries, watchHttp2 } from '../support/watchers.ts';

const watchCount = 1_000;
const connectionCount = 10;
const kilo = 1024;
const path = (): string =>
  '/api/v1/pods?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';

interface Cost {
  readonly rss: number;
  readonly heap: number;
}

await withBench(async (bench) => {
  const server = await bench.server();
  const bare = await bench.bare('bare-fan-out.ts');
  const costs = { bare: await costOf(bare), server: await costOf(server) };
  console.log(
    `memory of ${String(watchCount)} idle watches` +
      ` over ${String(connectionCount)} connections, KB each`,
  );
  for (const [name, { rss, heap }] of Object.entries(costs)) {
    console.log(`  ${name.padEnd(7)} RSS ${rss.toFixed(1)}, heap and external ${heap.toFixed(1)}`);
  }
  verdict('RSS above a bare stream, KB', costs.server.rss - costs.bare.rss, { atMost: 15 });
});

/** A few watches first: what a process allocates once is not the price of a watch. */
async function costOf(target: Target): Promise<Cost> {
  (await open(target, connectionCount))();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = await target.process.memory();
  const stop = await open(target, watchCount);
  const after = await target.process.memory();
  stop();
  const heapOf = (one: typeof after): number => one.heapBytes + one.externalBytes;
  return {
    rss: (after.rssBytes - before.rssBytes) / watchCount / kilo,
    heap: (heapOf(after) - heapOf(before)) / watchCount / kilo,
  };
}

function open(target: Target, count: number): Promise<() => void> {
  return watchHttp2([target.port], path, new Deliveries(count), connectionCount);
}
