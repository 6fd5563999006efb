// The etcd client by itself, on a real etcd: CPU a call, and events a second through one watch.
// Run: node --expose-gc bench/micro/storage-etcd.bench.ts [calls [http2|grpc-js]]
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import { pagesOf } from '../../lib/storage-etcd/range.ts';
import { txnMethod } from '../../lib/storage-etcd/rpc.ts';
import { write } from '../../lib/storage-etcd/connection.ts';
import { EtcdCluster } from '../../lib/storage-etcd/testing/etcd-process.ts';

const callCount = Number(process.argv[2] ?? 10_000);
const transport = process.argv[3] === 'grpc-js' ? 'grpc-js' : 'http2';
const concurrency = 64;
const valueBytes = 1_024;
const listedCount = 200_000;
const { signal } = new AbortController();

const cluster = await EtcdCluster.start();
const storage = new EtcdStorage({ ...cluster.connection, transport });
const value = Buffer.alloc(valueBytes, 'x');

/** Runs `call` with indexes up to `count`, 64 at a time; prints wall and CPU time a call. */
async function measure(
  name: string,
  count: number,
  call: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  const startMs = performance.now();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const { user, system } = process.cpuUsage(before);
  const wallUs = ((performance.now() - startMs) * 1_000) / count;
  const cpuUs = (user + system) / count;
  console.log(`${name.padEnd(32)} ${cpuUs.toFixed(0)} µs CPU, ${wallUs.toFixed(0)} µs wall`);
}

const key = (index: number): string => `/registry/bench/${String(index).padStart(7, '0')}`;
const revisions = new Map<number, number>();
const noteRevision = async (index: number, expected: number): Promise<void> => {
  const result = await storage.put(key(index), value, { expected }, signal);
  if (result.ok) revisions.set(index, result.revision);
};

try {
  await measure('warm-up get', callCount, (index) => storage.get(key(index), signal));
  await measure('create 1 KB', callCount, (index) => noteRevision(index, 0));
  await measure('update 1 KB', callCount, (index) =>
    noteRevision(index, revisions.get(index) ?? 0),
  );
  await measure('lost update (answers current)', callCount, (index) =>
    storage.put(key(index), value, { expected: 1 }, signal),
  );
  await measure('get 1 KB', callCount, (index) => storage.get(key(index), signal));
  await measure('current revision', callCount, () => storage.currentRevision(signal));

  // Several times: of one list, its own collection of garbage and compilation are the most part.
  const listStart = process.cpuUsage();
  let listed = 0;
  while (listed < listedCount) {
    for await (const page of pagesOf(storage, { prefix: '/registry/bench/' }, signal)) {
      listed += page.items.length;
    }
  }
  const listCpu = process.cpuUsage(listStart);
  const listUs = (listCpu.user + listCpu.system) / listed;
  console.log(`${'list, an item'.padEnd(32)} ${listUs.toFixed(1)} µs CPU`);

  await watchRate('watch of history, batched', 50_000, async (start) => {
    await manyWrites(50_000);
    return start;
  });
  await watchRate('watch while 100 a txn are written', 50_000, (start) => {
    manyWrites(50_000).catch((error: unknown) => {
      throw error;
    });
    return Promise.resolve(start);
  });
} finally {
  storage.close();
  await cluster.stop();
}

/** Writes `count` events, 100 in a transaction, several transactions in flight. */
async function manyWrites(count: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count / 100) {
      const first = 100 * next++;
      const success = Array.from({ length: 100 }, (_, index) => ({
        request_put: { key: `/registry/stream/${String(first + index)}`, value },
      }));
      await storage.connection.call(
        txnMethod,
        { compare: [], success, failure: [] },
        write,
        signal,
      );
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

async function watchRate(
  name: string,
  count: number,
  prepare: (start: number) => Promise<number>,
): Promise<void> {
  const start = await prepare(await storage.currentRevision(signal));
  const startMs = performance.now();
  const before = process.cpuUsage();
  let seen = 0;
  let batchCount = 0;
  for await (const batch of storage.watch('/registry/stream/', start, signal)) {
    seen += batch.events.length;
    batchCount++;
    if (seen >= count) break;
  }
  const { user, system } = process.cpuUsage(before);
  const perSecond = seen / ((performance.now() - startMs) / 1_000);
  const cpuUs = (user + system) / seen;
  console.log(
    `${name.padEnd(34)} ${perSecond.toFixed(0)} events/s, ${cpuUs.toFixed(1)} µs CPU an event, ` +
      `${String(batchCount)} batches`,
  );
}
