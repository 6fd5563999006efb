// LIST with selectors that match 1 % of 10,000 Pods, beside a list of as many objects and a list of
// all.
import { samplePod } from '../micro/sample-pod.ts';
import { median, verdict } from '../support/compare.ts';
import { closedLoop, openConnections, requestBytes } from '../support/http1-client.ts';
import { podIn } from '../support/objects.ts';
import { withBench } from '../support/server.ts';

const podCount = 10_000;
const matchCount = 100;
const rounds = 5;

await withBench(async (bench) => {
  const pods = bench.resource('pods');
  await bench.fill(pods, podCount, (index) => {
    const labels = {
      app: index % matchCount === 7 ? 'rare' : 'web',
      tier: `tier-${String(index % 50)}`,
    };
    return podIn(samplePod(index), 'large', index, { labels });
  });
  await bench.fill(pods, matchCount, (index) => podIn(samplePod(index), 'matches', index));
  const server = await bench.server();
  const connections = await openConnections(server.port, 8, { keepBodies: true });
  const large = '/api/v1/namespaces/large/pods';
  const lists = {
    all: { path: large, countMax: 10 },
    matches: { path: '/api/v1/namespaces/matches/pods', countMax: 1_000 },
    // What a label must not be is found by a look at all.
    scan: { path: `${large}?labelSelector=app%21%3Dweb`, countMax: 300 },
    label: { path: `${large}?labelSelector=app%3Drare`, countMax: 1_000 },
    field: { path: `${large}?fieldSelector=spec.nodeName%3Dnode-7`, countMax: 1_000 },
  };
  const micros: Record<keyof typeof lists, number[]> = {
    all: [],
    matches: [],
    scan: [],
    label: [],
    field: [],
  };
  for (let round = 0; round <= rounds; round++) {
    for (const [name, { path, countMax }] of Object.entries(lists)) {
      const request = requestBytes('GET', path);
      const run = () => closedLoop(connections, () => request, { durationMs: 3_000, countMax });
      const measured = await server.process.cpuOf(run);
      if (round > 0)
        micros[name as keyof typeof lists].push(measured.micros / measured.result.count);
    }
  }
  const of = (name: keyof typeof lists): number => median(micros[name]);
  console.log(`LIST in ${String(podCount)} Pods, server's CPU-µs a request`);
  console.log(`  all ${String(podCount)}                  ${of('all').toFixed(0)}`);
  console.log(`  a namespace of ${String(matchCount)}           ${of('matches').toFixed(0)}`);
  console.log(`  label selector, 1 % match    ${of('label').toFixed(0)}`);
  console.log(`  spec.nodeName=, 1 % match    ${of('field').toFixed(0)}`);
  console.log(`  the same, without an index   ${of('scan').toFixed(0)}`);
  const scanMicros = (of('scan') - of('matches')) / podCount;
  verdict('scan for a label selector, µs an object', scanMicros, { atMost: 0.25 });
  verdict('label selector to the same list by an index', of('label') / of('field'), {
    atMost: 1.5,
  });
  verdict('field selector to as many objects unselected', of('field') / of('matches'), {
    atMost: 1.25,
  });
});
