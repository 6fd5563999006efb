// CREATE of a ConfigMap of 1 KB through the registry and etcd, 16 at a time, with the key of the
// rules in force compared in each transaction, beside the same without; no HTTP, no TLS.
// Run: node bench/micro/rules-in-force.bench.ts [rounds]
import { keyspace, RegistryOnEtcd } from '../../lib/registry/testing/registry-on-etcd.ts';
import { VerbDriver } from '../../lib/registry/testing/verb-driver.ts';
import { median, verdict } from '../support/compare.ts';
import { configMap } from '../support/objects.ts';

const rounds = Number(process.argv[2] ?? 60);
const [perRound, atOnce] = [80, 16];

interface Side {
  readonly round: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** Each on an etcd of its own: none is told of what the other writes. */
async function sideOf({ isComparing }: { readonly isComparing: boolean }): Promise<Side> {
  const registry = await RegistryOnEtcd.start();
  const onRulesChanged = (): void => undefined;
  const replica = await registry.replica(isComparing ? { onRulesChanged } : {});
  const { signal } = new AbortController();
  // A revision as it is where there are rules.
  const key = keyspace.internalKey('admission-rules');
  await replica.storage.put(key, Buffer.from('{}'), { expected: 0 }, signal);
  const [verbs, store] = [new VerbDriver(replica), replica.store('configmaps')];
  let made = 0;
  const round = async (): Promise<number> => {
    const end = made + perRound;
    const from = process.cpuUsage();
    const work = async (): Promise<void> => {
      while (made < end) await verbs.create(store, configMap('ns', made++));
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    const { user, system } = process.cpuUsage(from);
    return (user + system) / perRound;
  };
  return { round, stop: () => registry.stop() };
}

const sides = [await sideOf({ isComparing: false }), await sideOf({ isComparing: true })];
for (let warmUp = 0; warmUp < 4; warmUp++) for (const { round } of sides) await round();
const micros: number[][] = [[], []];
for (let at = 0; at < rounds; at++) {
  // Who is first in a round pays for what it wakes.
  const order = at % 2 === 0 ? [0, 1] : [1, 0];
  for (const side of order) micros[side]?.push((await sides[side]?.round()) ?? NaN);
}
for (const { stop } of sides) await stop();
const [free, comparing] = [median(micros[0] ?? []), median(micros[1] ?? [])];
console.log(`CREATE, CPU-µs: without ${free.toFixed(0)}, comparing ${comparing.toFixed(0)}`);
verdict('CPU, comparing to without', comparing / free, { atMost: 1.03 });
