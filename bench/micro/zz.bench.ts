// A mutation of a Pod of about 2.5 KB by one policy, beside the same write with none, and beside
// JSON.parse and JSON.stringify of its text, in one run.
// Run: node bench/micro/mutating-policies.bench.ts
import { mutatingPolicies } from '../../lib/admission/policies/mutating-policies.ts';
import { admissionChain } from '../../lib/admission/chain.ts';
import { asked, resourceOf, scheme } from '../../lib/admission/testing/asked.ts';
import { partsOf } from '../../lib/admission/testing/cluster.ts';
import { mutatingPolicyObjects } from '../../lib/admission/testing/policies.ts';
import type { PolicyText } from '../../lib/admission/testing/policies.ts';
import { jsonCodec } from '../../lib/codec/json.ts';
import type { ApiObject } from '../../lib/codec/codec.ts';
import { samplePod } from './sample-pod.ts';

const { type } = resourceOf('pods');
const text = JSON.stringify(samplePod(0));
const { signal } = new AbortController();

const fresh = (): ApiObject => {
  const { object } = jsonCodec.decode(Buffer.from(text), type);
  scheme.defaults.apply(object, type);
  return object;
};

const callsPerRound = 400;

/** Median over rounds of CPU microseconds a call. */
async function measure(run: (object: ApiObject) => unknown): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 75; round += 1) {
    const objects = Array.from({ length: callsPerRound }, fresh);
    const started = process.cpuUsage();
    for (const object of objects) await run(object);
    const { user, system } = process.cpuUsage(started);
    rounds.push((user + system) / callsPerRound);
  }
  rounds.sort((one, other) => one - other);
  return rounds[37] ?? NaN;
}

/** All in memory, the same lists at each question, as a view has them. */
const writing = (policies: readonly PolicyText[]): ((object: ApiObject) => unknown) => {
  const objects = mutatingPolicyObjects(policies);
  const parts = partsOf({
    manifests: objects,
    memory: { namespaces: [{ metadata: { name: 'a', labels: { a: 'b' } } }] },
  });
  const chain = admissionChain([mutatingPolicies(parts)]);
  const { request } = asked();
  return (object) => chain.mutate(request, object, signal);
};

const labels = 'Object{metadata: Object.metadata{labels: {"added": object.metadata.name}}}';
const sidecar =
  'Object{spec: Object.spec{containers: [Object.spec.containers{name: "side", image: "i:1"}]}}';
const patch = '[JSONPatch{op: "add", path: "/metadata/labels/added", value: "yes"}]';
const elsewhere = (at: number): PolicyText => ({
  name: `p${String(at)}`,
  mutations: [labels],
  spec: {
    matchConstraints: {
      resourceRules: [
        { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] },
      ],
    },
  },
});
const otherNamespace = (at: number): PolicyText => ({
  name: `p${String(at)}`,
  mutations: [labels],
  spec: {
    matchConstraints: {
      namespaceSelector: { matchLabels: { a: 'c' } },
      resourceRules: [
        { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] },
      ],
    },
  },
});
const thousand = Array.from({ length: 1_000 }, (_, at) => at);

const cases: readonly (readonly [string, (object: ApiObject) => unknown])[] = [
  ['JSON.parse + JSON.stringify', () => JSON.stringify(JSON.parse(text))],
  ['no policy', writing([])],
  ['1,000 on other resources', writing(thousand.map(elsewhere))],
  ['1,000 of another namespace', writing(thousand.map(otherNamespace))],
  ['a label by an apply configuration', writing([{ name: 'p', mutations: [labels] }])],
  ['a container by an apply configuration', writing([{ name: 'p', mutations: [sidecar] }])],
  ['a label by a JSON patch', writing([{ name: 'p', mutations: [patch] }])],
];
console.log(`Pod of ${String(text.length)} bytes, both passes of each write`);
for (const [name, run] of cases) {
  if (!name.includes(process.argv[2] ?? '')) continue;
  console.log(`${name.padEnd(40)} ${(await measure(run)).toFixed(2).padStart(8)} µs`);
}
