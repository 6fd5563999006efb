// What validating policies cost a write: one simple validation; 1,000 policies on other resources,
// and 1,000 of other namespaces, beside none; and the first write after 1,000 were made.
// Run: node bench/micro/validating-policies.bench.ts [writes]
import type { ApiObject } from '../../lib/codec/codec.ts';
import { pod, PolicyWorld } from '../../lib/admission/policies/testing/policy-world.ts';
import { asked } from '../../lib/admission/testing/asked.ts';
import { median } from '../support/compare.ts';

const writeCount = Number(process.argv[2] ?? 20_000);
const [rounds, policyCount] = [7, 1_000];
const validations = [{ expression: 'object.metadata.name != "bad"' }];
const rule = (resource: string): object => ({
  operations: ['*'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: [resource],
});

function worldOf(count: number, matchConstraints: object): PolicyWorld {
  const world = new PolicyWorld({ keepsLog: false });
  for (let at = 0; at < count; at += 1) {
    world.add(`p${String(at)}`, { validations, matchConstraints });
  }
  return world;
}

const elsewhere = { namespaceSelector: { matchLabels: { team: 'other' } } };
const cases = {
  'no policy': worldOf(0, {}),
  '1,000 on other resources': worldOf(policyCount, { resourceRules: [rule('nodes')] }),
  '1,000 of other namespaces': worldOf(policyCount, {
    ...elsewhere,
    resourceRules: [rule('pods')],
  }),
  'one simple validation': worldOf(1, { resourceRules: [rule('pods')] }),
};

const { signal } = new AbortController();
const { request } = asked();
const object = pod('x') as ApiObject;

async function write(world: PolicyWorld): Promise<void> {
  const answer = world.plugin.validate?.(request, object, signal);
  if (answer instanceof Promise) await answer;
}

for (const [name, world] of Object.entries(cases)) {
  const startedMs = performance.now();
  await write(world);
  const firstMs = performance.now() - startedMs;
  const each: number[] = [];
  const count = name.includes('namespaces') ? writeCount / 20 : writeCount;
  for (let round = 0; round < rounds; round += 1) {
    const from = process.cpuUsage();
    for (let at = 0; at < count; at += 1) await write(world);
    const { user, system } = process.cpuUsage(from);
    each.push((user + system) / count);
  }
  console.log(
    `${name}: ${median(each).toFixed(2)} µs CPU a write, the first ${firstMs.toFixed(1)} ms`,
  );
}
