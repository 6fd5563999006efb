// Baseline of writes: a bare process that puts the same bytes through `@grpc/grpc-js`, whatever the
// server itself calls etcd by.
import { readFileSync } from 'node:fs';
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import { onRun } from './probe.ts';

const [, endpoints = '', valueFile = ''] = process.argv.slice(2);
const storage = new EtcdStorage({ endpoints: endpoints.split(','), transport: 'grpc-js' });
const value = readFileSync(valueFile);
const revisions = new Map<number, number>();
const { signal } = new AbortController();

/** `isUpdate`: puts over the keys of the run before, from their start. */
onRun(
  async (name: string, first: number, count: number, isUpdate: boolean, concurrency: number) => {
    let next = first;
    const worker = async (): Promise<void> => {
      while (next < first + count) {
        const index = next++;
        const key = `/bench/${name}/${String(index).padStart(6, '0')}`;
        const expected = isUpdate ? (revisions.get(index) ?? 0) : 0;
        const result = await storage.put(key, value, { expected }, signal);
        if (!result.ok) throw new Error(`${key} was written by someone else`);
        revisions.set(index, result.revision);
      }
    };
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: concurrency }, worker));
    const seconds = (performance.now() - startedMs) / 1_000;
    return { count, seconds, bodyBytes: count * value.length, latenciesMs: [] };
  },
);
setInterval(() => undefined, 60_000); // the parent ends it
console.log('listening 0');
process.on('SIGTERM', () => process.exit(0));
