// What configured webhooks cost a write that none of them is asked about: 1,000 on other resources,
// and 1,000 on its resource in other namespaces; against a write without any configuration.
// Run: node bench/micro/admission-webhooks.bench.ts [WEBHOOKS]
import { median, verdict } from '../support/compare.ts';
import { admissionChain } from '../../lib/admission/chain.ts';
import { asked } from '../../lib/admission/testing/asked.ts';
import { partsOf } from '../../lib/admission/testing/cluster.ts';
import { mutatingWebhooks } from '../../lib/admission/webhooks/mutating-webhooks.ts';
import { validatingWebhooks } from '../../lib/admission/webhooks/validating-webhooks.ts';
import type { JsonObject } from '../../lib/api/type-info.ts';
import type { Item } from '../../lib/cacher/resource-view.ts';

const webhookCount = Number(process.argv[2] ?? 1_000);
const rounds = 9;
const writes = 2_000;

const webhook = (resource: string, index: number): JsonObject => ({
  name: `w${String(index)}.example.com`,
  clientConfig: { url: 'https://127.0.0.1:1/' },
  rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: [resource] }],
  namespaceSelector: { matchExpressions: [{ key: 'tier', operator: 'In', values: ['none'] }] },
  matchPolicy: 'Equivalent',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
});

/** Both plugins over as many configurations of each kind. */
function chainOf(webhooks: readonly JsonObject[]): () => void {
  const memory = { namespaces: [{ metadata: { name: 'a', labels: { tier: 'x' } } }] };
  const parts = partsOf({ memory });
  const items = webhooks.map(
    (one, index): Item =>
      ({
        name: `c${String(index)}`,
        corrupted: false,
        object: () => ({ metadata: { name: `c${String(index)}` }, webhooks: [one] }),
      }) as unknown as Item,
  );
  const made = {
    ...parts,
    objects: (group: string, resource: string) => {
      const objects = parts.objects(group, resource);
      if (group === '' || objects === undefined) return objects;
      return { ...objects, view: { ...objects.view, all: () => items } };
    },
  };
  const chain = admissionChain([mutatingWebhooks(made), validatingWebhooks(made)]);
  const { request } = asked();
  const { signal } = new AbortController();
  const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'x', labels: {} } };
  return () => {
    const answers = [chain.mutate(request, pod, signal), chain.validate(request, pod, signal)];
    if (answers.some((answer) => answer instanceof Promise)) throw new Error('nobody is asked');
  };
}

/** Microseconds a write. */
function measure(judge: () => void): number {
  const fromNs = process.hrtime.bigint();
  for (let write = 0; write < writes; write++) judge();
  return Number(process.hrtime.bigint() - fromNs) / writes / 1_000;
}

const of = (resource: string, count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, index) => webhook(resource, index));
const sides = {
  none: chainOf([]),
  others: chainOf(of('secrets', webhookCount)),
  matching: chainOf(of('pods', webhookCount / 2)),
};
const figures = { none: [] as number[], others: [] as number[], matching: [] as number[] };
for (let round = 0; round < rounds; round++) {
  for (const side of ['none', 'others', 'matching'] as const) {
    figures[side].push(measure(sides[side]));
  }
}
const [none, others, matching] = [figures.none, figures.others, figures.matching].map(median);
const count = String(webhookCount);
console.log(`without webhooks: ${String(none?.toFixed(2))} us a write`);
const more = (figure = 0): number => figure - (none ?? 0);
verdict(`${count} webhooks of each kind on other resources, us more`, more(others), { atMost: 5 });
verdict(`${count} webhooks on it in other namespaces, us more`, more(matching), { atMost: 100 });
