// Memory that compiled expressions of policies keep, beside what they say of themselves, by which
// the number that is kept is bounded.
// Run: node --expose-gc bench/micro/policy-memory.bench.ts [programs]
import { KeptCompilations } from '../../lib/admission/policies/kept-compilations.ts';
import type { Policy } from '../../lib/admission/policies/bindings.ts';
import { compileMutating } from '../../lib/admission/policies/mutating-expressions.ts';
import { compileValidating } from '../../lib/admission/policies/validating-expressions.ts';
import { resourcesCriteria } from '../../lib/admission/match/criteria.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import type { JsonObject } from '../../lib/api/type-info.ts';
import type { Steps } from '../../lib/base/steps.ts';
import { verdict } from '../support/compare.ts';

const count = Number(process.argv[2] ?? 10_000);
const naming = namingProfile('kubernetes');
const kibibyte = 1_024;

/** Of every policy other texts, as those of different policies have. */
const validating: Readonly<Record<string, (at: string) => string>> = {
  'a comparison': (at) => `object.metadata.name != "bad-${at}"`,
  'a bound': (at) =>
    `!has(object.spec.replicas) || object.spec.replicas <= ${String(Number(at) || 0)}`,
  'a loop over containers': (at) =>
    `object.spec.containers.all(c, c.image.startsWith("registry-${at}.example.com/") && ` +
    `(!has(c.securityContext) || c.securityContext.privileged != true))`,
};

const mutating: Readonly<Record<string, (at: string) => string>> = {
  'a label by an apply configuration': (at) =>
    `Object{metadata: Object.metadata{labels: {"added": "label-${at}"}}}`,
};

const policyOf = (name: string, spec: JsonObject): Policy => ({
  name,
  spec,
  criteria: resourcesCriteria(undefined),
  failsOpen: false,
  paramKind: undefined,
});

function heapBytes(): number {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error('run with --expose-gc');
  for (let round = 0; round < 4; round++) gc();
  return process.memoryUsage().heapUsed;
}

async function measure<Compiled extends { readonly bytes: number }>(
  name: string,
  compile: (policy: Policy) => Steps<Compiled>,
  specOf: (at: string) => JsonObject,
): Promise<void> {
  const kept = new KeptCompilations(compile, Infinity);
  await kept.of(policyOf('first', specOf('first')));
  const policies = Array.from({ length: count }, (_, at) =>
    policyOf(String(at), specOf(String(at))),
  );
  const [heapBefore, saidBefore] = [heapBytes(), kept.bytes];
  for (const policy of policies) await kept.of(policy);
  const bytes = (heapBytes() - heapBefore) / count;
  const said = (kept.bytes - saidBefore) / count;
  console.log(`${name}: ${bytes.toFixed(0)} bytes, says ${said.toFixed(0)}`);
  verdict('KiB of a policy with one expression', bytes / kibibyte, { atMost: 10 });
}

for (const [name, textOf] of Object.entries(validating)) {
  await measure(
    name,
    (policy) => compileValidating(policy, naming),
    (at) => ({ validations: [{ expression: textOf(at) }] }),
  );
}
for (const [name, textOf] of Object.entries(mutating)) {
  await measure(
    name,
    (policy) => compileMutating(policy, naming),
    (at) => ({
      mutations: [
        { patchType: 'ApplyConfiguration', applyConfiguration: { expression: textOf(at) } },
      ],
    }),
  );
}
