// Who owns what after a write, without the rest of it: a new Pod, one that changes, an apply that
// changes nothing and one that changes a field; and an apply of lists with 1,000 to 10,000 keys.
// Run: node bench/micro/apply.bench.ts
import { cloneAlike } from '../../lib/api/json-value.ts';
import type { JsonObject } from '../../lib/api/type-info.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { readOwners, writeOwners } from '../../lib/apply/owners.ts';
import type { Operation, Owners } from '../../lib/apply/owners.ts';
import { applyConfiguration, ownUpdate } from '../../lib/apply/ownership.ts';
import type { Applied, ApplyWrite } from '../../lib/apply/ownership.ts';
import { shapeOf } from '../../lib/apply/shape.ts';
import { canonicalObject } from '../../lib/codec/normalise.ts';
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import { samplePod } from './sample-pod.ts';

const scheme = builtInScheme({ profile: namingProfile('svc') });
const type = scheme.kind({ group: '', version: 'v1', kind: 'Pod' });
if (type === undefined) throw new Error('there is no Pod');
const shape = shapeOf(type);
const canonical = (object: JsonObject): JsonObject => canonicalObject(object, type);
const versions = {
  apiVersion: 'v1',
  shapeIn: () => shape,
  to: (object: Readonly<JsonObject>) => object,
};
const writeBy = (operation: Operation, owners: Owners): ApplyWrite => ({
  writer: { manager: 'bench', operation, apiVersion: 'v1', subresource: '' },
  owners,
  versions,
  settable: (fields) => fields,
  time: '2026-01-01T00:00:00Z',
  force: false,
  canonical,
});
const stored = (owners: Owners): Owners => readOwners(copyOf(writeOwners(owners))) ?? new Map();
const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const empty = canonical({ kind: 'Pod', apiVersion: 'v1', metadata: {} });
const pod = canonical(samplePod(1));
const changed = cloneAlike(pod);
changed['spec'] = { ...(changed['spec'] as JsonObject), activeDeadlineSeconds: 5 };
const created = await updated(empty, pod, new Map());
const applied = await apply(empty, pod, new Map());

async function updated(before: JsonObject, after: JsonObject, owners: Owners): Promise<Owners> {
  return (await ownUpdate({ before, after }, writeBy('Update', owners), () => owners)) ?? owners;
}

async function apply(
  live: JsonObject,
  configuration: JsonObject,
  owners: Owners,
): Promise<Applied> {
  const result = await applyConfiguration(live, configuration, writeBy('Apply', owners));
  if ('object' in result) return result;
  throw new Error('nobody else owns anything');
}

async function measure(name: string, run: () => Promise<unknown>, count = 2_000): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    const start = process.cpuUsage();
    for (let index = 0; index < count; index += 1) await run();
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / count);
  }
  times.sort((a, b) => a - b);
  console.log(`${name.padEnd(48)} ${(times[3] ?? 0).toFixed(1).padStart(10)} CPU-µs`);
}

await measure('new Pod', async () => {
  writeOwners(await updated(empty, pod, new Map()));
});
await measure('changed Pod', async () => {
  writeOwners(await updated(pod, changed, stored(created)));
});
await measure('apply of a Pod that changes nothing', () =>
  apply(applied.object, pod, stored(applied.owners)),
);
await measure('apply of a Pod that changes a field', () =>
  apply(applied.object, changed, stored(applied.owners)),
);
for (const count of [1_000, 3_000, 10_000]) {
  const withEnv = (value: string): JsonObject => {
    const env = Array.from({ length: count }, (_, index) => ({ name: `V${String(index)}`, value }));
    return canonical({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i', env }] },
    });
  };
  const [one, other] = [withEnv('a'), withEnv('b')];
  const { object, owners } = await apply(empty, one, new Map());
  const list = writeOwners(owners);
  const runs = Math.ceil(20_000 / count);
  const title = (what: string): string => `${String(count)} entries: ${what}`;
  await measure(title('read owners'), () => Promise.resolve(readOwners(copyOf(list))), runs);
  await measure(title('apply'), () => apply(object, one, owners), runs);
  await measure(title('apply with all values changed'), () => apply(object, other, owners), runs);
  await measure(
    title('write owners'),
    async () => {
      const result = await apply(object, other, owners);
      return JSON.stringify(writeOwners(result.owners));
    },
    runs,
  );
}
