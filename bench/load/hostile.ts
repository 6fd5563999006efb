// Rounds of every attack of bench/hostile, and what the server holds after each: growth from round
// to round is a leak. `hostile 10` runs ten rounds; `hostile 3 'HTTP/2|YAML'` three of the attacks
// whose names match. The last round is told attack by attack.
import { attacks, runAttack, servedCollections } from '../hostile/attacks.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { verdict } from '../support/compare.ts';
import { podIn } from '../support/objects.ts';
import type { MemoryAnswer } from '../support/probe.ts';
import { token, withBench } from '../support/server.ts';

const roundCount = Number(process.argv[2] ?? 3);
const chosen = attacks.filter(({ name }) => new RegExp(process.argv[3] ?? '').test(name));
/** Memory has been given back by then. */
const quietMs = 30_000;
const podCount = 2_000;
const mega = 1024 * 1024;
const columns = ['RSS', 'heap', 'external', 'buffers'];

await withBench(async (bench) => {
  await bench.fill(bench.resource('pods'), podCount, (index) =>
    podIn(samplePod(index), `team-${String(index % 20)}`, index),
  );
  const server = await bench.server();
  const victim = { port: server.port, token, collections: await servedCollections(server.port) };
  const header = columns.map((name) => name.padStart(10)).join('');
  console.log(`${'MB after'.padEnd(36)}${header}   answers by status`);
  print('the start', await server.process.memory());
  const rounds: MemoryAnswer[] = [];
  for (let round = 1; round <= roundCount; round++) {
    for (const attack of chosen) {
      const answers = await runAttack(attack, victim, round);
      if (round === roundCount) print(attack.name, await server.process.memory(), answers);
    }
    await new Promise((resolve) => setTimeout(resolve, quietMs));
    const memory = await server.process.memory();
    rounds.push(memory);
    print(`round ${String(round)} and a quiet moment`, memory);
  }
  const snapshot = process.env['BENCH_HEAP_SNAPSHOT'];
  if (snapshot !== undefined) await server.process.heapSnapshot(snapshot);
  judge(rounds);
});

/** From the middle one of ten rounds on the event log has the five minutes that it keeps. */
function judge(rounds: readonly MemoryAnswer[]): void {
  const middle = rounds[Math.ceil(rounds.length / 2) - 1];
  const last = rounds.at(-1);
  if (middle === undefined || last === undefined) return;
  const heldBy = ({ heapBytes, externalBytes }: MemoryAnswer): number => heapBytes + externalBytes;
  verdict('heap and external, last round to the middle one', heldBy(last) / heldBy(middle), {
    atMost: 1.1,
  });
  verdict('RSS, last round to the middle one', last.rssBytes / middle.rssBytes, { atMost: 1.1 });
}

function print(
  name: string,
  memory: MemoryAnswer,
  answers: ReadonlyMap<number, number> = new Map(),
): void {
  const parts = [
    memory.rssBytes,
    memory.heapBytes,
    memory.externalBytes,
    memory.arrayBufferBytes,
  ].map((bytes) => (bytes / mega).toFixed(1).padStart(10));
  const counts = [...answers].sort(([one], [other]) => one - other);
  const texts = counts.map(([status, count]) => `${String(status)}: ${String(count)}`);
  console.log(`${name.padEnd(36)}${parts.join('')}   ${texts.join(', ')}`);
}
