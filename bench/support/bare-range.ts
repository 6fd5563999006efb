// Baseline of a start: a bare process that reads the whole range with the same etcd client, and
// ends.
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import { pagesOf } from '../../lib/storage-etcd/range.ts';

const [, endpoints = '', prefix = ''] = process.argv.slice(2);
const storage = new EtcdStorage({ endpoints: endpoints.split(',') });
const startedMs = performance.now();
const startedCpu = process.cpuUsage();
let count = 0;
for await (const page of pagesOf(storage, { prefix }, new AbortController().signal)) {
  count += page.items.length;
}
const { user, system } = process.cpuUsage(startedCpu);
const tookMs = performance.now() - startedMs;
setInterval(() => undefined, 60_000); // the parent ends it
console.log(
  `listening 0 keys=${String(count)} ms=${tookMs.toFixed(0)} cpu=${String(user + system)} end`,
);
process.on('SIGTERM', () => process.exit(0));
