// A namespace of 50,000 ConfigMaps that is deleted, until it is gone, beside a deletecollection of
// as many in another one.
import { request } from 'node:https';
import { median, verdict } from '../support/compare.ts';
import { configMap, namespaceObject } from '../support/objects.ts';
import { token, withBench } from '../support/server.ts';
import type { Target } from '../support/server.ts';

const count = Number(process.argv[2] ?? 50_000);
const rounds = Number(process.argv[3] ?? 2);

interface Figures {
  readonly seconds: number;
  readonly cpuMicros: number;
  /** Most CPU in one turn of the loop. */
  readonly turnMs: number;
}

await withBench(async (bench) => {
  const [maps, namespaces] = [bench.resource('configmaps'), bench.resource('namespaces')];
  const server = await bench.server();
  const results: Record<'plain' | 'whole', Figures[]> = { plain: [], whole: [] };
  for (let round = 0; round < rounds; round++) {
    for (const side of ['plain', 'whole'] as const) {
      const name = `${side}-${String(round)}`;
      await bench.fill(namespaces, 1, () => namespaceObject(name));
      await bench.fill(maps, count, (index) => configMap(name, index));
      const remove = side === 'plain' ? emptied : removed;
      const figures = await measured(server, () => remove(server, name));
      results[side].push(figures);
      const { seconds, cpuMicros, turnMs } = figures;
      const each = (cpuMicros / count).toFixed(0);
      console.log(
        `  ${side === 'plain' ? 'deletecollection' : 'namespace'} of ${String(count)}: ` +
          `${seconds.toFixed(1)} s, ${each} CPU-µs an object, ${turnMs.toFixed(1)} ms in one turn`,
      );
    }
  }
  const of = (side: 'plain' | 'whole', pick: (one: Figures) => number): number =>
    median(results[side].map(pick));
  const ratio = (pick: (one: Figures) => number): number => of('whole', pick) / of('plain', pick);
  verdict(
    'time, namespace to deletecollection',
    ratio((one) => one.seconds),
    { atMost: 2 },
  );
  verdict(
    'CPU, namespace to deletecollection',
    ratio((one) => one.cpuMicros),
    { atMost: 2 },
  );
  verdict(
    'most CPU in one turn, ms',
    of('whole', (one) => one.turnMs),
    { atMost: 50 },
  );
});

async function measured({ process }: Target, run: () => Promise<void>): Promise<Figures> {
  const startedMs = performance.now();
  const { result, micros } = await process.cpuOf(() => process.stallsOf(run));
  const seconds = (performance.now() - startedMs) / 1_000;
  return { seconds, cpuMicros: micros, turnMs: result.stalls.cpuMaxMs };
}

/** Once more where the time of a request was not enough. */
async function emptied(server: Target, name: string): Promise<void> {
  while ((await ask(server, 'DELETE', `${name}/configmaps`)) !== 200);
}

async function removed(server: Target, name: string): Promise<void> {
  await ask(server, 'DELETE', name);
  while ((await ask(server, 'GET', name)) !== 404) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** @returns the status; the body is read to its end. */
function ask({ port }: Target, method: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const url = `https://127.0.0.1:${String(port)}/api/v1/namespaces/${path}`;
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(url, { method, headers, rejectUnauthorized: false }, (answer) => {
      answer.on('error', reject);
      answer.on('end', () => resolve(answer.statusCode ?? 0));
      answer.resume();
    });
    sent.on('error', reject);
    sent.end();
  });
}
