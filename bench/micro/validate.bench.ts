// Validation of a Pod of about 2.5 KB beside JSON.parse and JSON.stringify of its text, in one run.
// Run: node bench/micro/validate.bench.ts
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { jsonCodec } from '../../lib/codec/json.ts';
import { kindStrategies } from '../../lib/kinds/built-in-kinds.ts';
import { defaultValidation, objectRules } from '../../lib/registry/validation.ts';
import { samplePod } from './sample-pod.ts';

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const pods = scheme.resource({ group: '', version: 'v1', resource: 'pods' });
if (pods === undefined) throw new Error('pods are served');
const strategyOf = kindStrategies({ naming, eventTtlSeconds: 3_600 });
const rules = objectRules(pods, strategyOf(pods), defaultValidation);
const context = {
  user: { name: 'u', uid: '', groups: [], extra: {} },
  dryRun: false,
  fieldManager: '',
  subresource: '',
  warnings: [],
  nowMs: 0,
  apiVersion: 'v1',
};
const texts = Array.from({ length: 64 }, (_, at) => JSON.stringify(samplePod(at)));
const objects = texts.map((text) => {
  const { object } = jsonCodec.decode(Buffer.from(text), pods.type);
  scheme.defaults.apply(object, pods.type);
  return object;
});
const changed = objects.map((object) => {
  const { object: copy } = jsonCodec.decode(jsonCodec.encode(object, pods.type), pods.type);
  return { ...copy, metadata: { ...copy.metadata, labels: { changed: 'yes' } } };
});
const first = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const found = rules.validate(first(objects, 0), undefined, context);
if (found.length > 0) throw new Error(JSON.stringify(found));

/** Median over rounds of CPU microseconds a call. */
function measure(run: (index: number) => unknown): number {
  const rounds: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    const started = process.cpuUsage();
    for (let index = 0; index < 2_000; index += 1) run(index);
    const { user, system } = process.cpuUsage(started);
    rounds.push((user + system) / 2_000);
  }
  rounds.sort((one, other) => one - other);
  return rounds[7] ?? NaN;
}

const baseline = measure((at) => JSON.stringify(JSON.parse(first(texts, at))));
console.log(`Pod of ${String(first(texts, 0).length)} bytes`);
console.log(`baseline: JSON.parse + JSON.stringify  ${baseline.toFixed(2)} µs`);
for (const [name, run] of [
  ['validate a new pod', (at: number) => rules.validate(first(objects, at), undefined, context)],
  [
    'validate an update of its labels',
    (at: number) => rules.validate(first(changed, at), first(objects, at), context),
  ],
] as const) {
  const micros = measure(run);
  console.log(`${name.padEnd(38)} ${micros.toFixed(2)} µs  ${(micros / baseline).toFixed(2)}x`);
}
