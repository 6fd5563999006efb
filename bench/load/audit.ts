// GET of one Pod with audit: by a policy that records nothing, and with each request recorded in a
// log file (blocking), beside the same server without audit.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namingProfile } from '../../lib/api/vendor.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { compare, printSides } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import { podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';

/** Many short rounds: what is looked for is less than what a busy machine does to a request. */
const bounds = { durationMs: 500, countMax: 100_000 };
const rounds = 15;
const connectionCount = 64;
const folder = mkdtempSync(join(tmpdir(), 'bench-audit-'));

function flagsOf(level: string): readonly string[] {
  const policy = join(folder, `${level}.json`);
  const rules = [{ level }];
  const apiVersion = `${namingProfile('kubernetes').auditGroup}/v1`;
  writeFileSync(policy, JSON.stringify({ apiVersion, kind: 'Policy', rules }));
  return [
    `--data-dir=${join(folder, level)}`,
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${join(folder, `${level}.log`)}`,
  ];
}

await withBench(async (bench) => {
  await bench.fill(bench.resource('pods'), 100, (index) => podIn(samplePod(index), 'busy', index));
  const request = requestBytes('GET', '/api/v1/namespaces/busy/pods/web-000007');
  const run = async (port: number) => {
    const connections = await openConnections(port, connectionCount);
    return () => closedLoop(connections, () => request, bounds);
  };
  const silent = await bench.server();
  for (const level of ['None', 'Metadata', 'RequestResponse']) {
    const audited = await bench.server({ flags: flagsOf(level) });
    const sides = await compare(
      [
        { name: 'without audit', process: silent.process, run: await run(silent.port) },
        { name: `level ${level}`, process: audited.process, run: await run(audited.port) },
      ],
      rounds,
    );
    console.log(`GET of a Pod of 2.5 KB, ${String(connectionCount)} connections, level ${level}`);
    printSides(sides);
    console.log(`audit adds ${sides[1].addedMicros.toFixed(1)} µs of CPU a request`);
  }
});
rmSync(folder, { recursive: true, force: true });
