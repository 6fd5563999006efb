// Definitions of custom resources for scenarios: what they say, and how to know that they hold.
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestCluster } from '../harness.ts';
import type { Replica, Reply } from '../harness.ts';

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export interface GivenDefinition {
  readonly group: string;
  readonly plural: string;
  /** Further fields of the schema, so that each number is another definition. */
  readonly edition?: number;
  /** Default: all of v1 and v2. */
  readonly served?: readonly string[];
}

const text = { type: 'string' };
const kindOf = (plural: string): string =>
  plural.replace(/s$/, '').replace(/^./, (first) => first.toUpperCase());

/** The spec of a kind with `data`, `padding` and a field of this edition, in v1 and v2. */
export function definitionSpec(given: GivenDefinition): object {
  const { group, plural, edition = 0, served = ['v1', 'v2'] } = given;
  const properties = {
    data: { type: 'object', additionalProperties: text },
    padding: text,
    [`edition${String(edition)}`]: { ...text, default: `of ${String(edition)}` },
  };
  const kind = kindOf(plural);
  return {
    group,
    scope: 'Namespaced',
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: served.includes(name),
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', properties } },
    })),
  };
}

export const define = (through: Replica, given: GivenDefinition): Promise<Reply> =>
  through.request('POST', definitions, {
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: nameOf(given) },
      spec: definitionSpec(given),
    },
  });

export const nameOf = ({ group, plural }: GivenDefinition): string => `${plural}.${group}`;

/** Another edition of a definition. */
export const redefine = (through: Replica, given: GivenDefinition): Promise<Reply> =>
  through.request('PATCH', `${definitions}/${nameOf(given)}`, {
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: definitionSpec(given) },
  });

export interface DefinitionBody {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export const isEstablished = ({ status }: DefinitionBody): boolean =>
  status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True') ?? false;

/** Until this replica says that the definition is established. */
export async function untilEstablished(through: Replica, given: GivenDefinition): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  for (;;) {
    const reply = await through.request('GET', `${definitions}/${nameOf(given)}`);
    if (reply.status === 200 && isEstablished(reply.json<DefinitionBody>())) return;
    if (performance.now() > giveUpAt) throw new Error(`not established: ${reply.text}`);
    await sleep(5);
  }
}

/** Defines a kind and waits until it is established. */
export async function establish(cluster: TestCluster, given: GivenDefinition): Promise<void> {
  const reply = await define(cluster.replica(0), given);
  if (reply.status !== 201) throw new Error(reply.text);
  await untilEstablished(cluster.replica(0), given);
}
