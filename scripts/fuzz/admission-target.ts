// Random writes into a random cluster, past all built-in admission plugins: mutating twice is
// mutating once, what a plugin completes it accepts, and what memory holds is neither changed nor
// given away. The objects are as the schema lets them be. The other half goes past random rules.
import type { AdmissionChain } from '../../lib/admission/chain.ts';
import { admissionChain } from '../../lib/admission/chain.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../lib/admission/plugin.ts';
import { pluginTable } from '../../lib/admission/plugin-table.ts';
import { asked, resourceOf } from '../../lib/admission/testing/asked.ts';
import { partsOf } from '../../lib/admission/testing/cluster.ts';
import { recordIn } from '../../lib/api/json-access.ts';
import { sameJson } from '../../lib/api/json-equal.ts';
import { cloneJson } from '../../lib/api/json-value.ts';
import { StatusError } from '../../lib/base/status.ts';
import type { ApiObject } from '../../lib/codec/codec.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { Random } from './random.ts';
import { findInRules } from './rules-target.ts';
import { clusterOf, configurations, userOf, writeOf } from './random-writes.ts';
import type { RandomWrite } from './random-writes.ts';

/** Deny everything, or ask a service outside. */
const leftOut = new Set(['AlwaysDeny', 'ImagePolicyWebhook']);
/** What these make of a pod they accept, of those that are given. */
const accepting: Readonly<Record<string, (given: Readonly<ApiObject>) => boolean>> = {
  AlwaysPullImages: () => true,
  Priority: () => true,
  RuntimeClass: (pod) => recordIn(pod, 'spec', 'overhead') === undefined,
};
const refusals = [403, 404, 409, 422, 429] as const;
const { signal } = new AbortController();

export const admissionTarget: FuzzTarget = {
  name: 'admission',
  refusals,
  input: (random) => Uint8Array.from({ length: 5 }, () => random.below(256)),
  run(input) {
    const random = new Random(Buffer.from(input).readInt32LE());
    if (Buffer.from(input).readUInt8(4) % 2 === 0) return () => findInRules(random);
    const memory = clusterOf(random);
    for (const objects of Object.values(memory)) objects.forEach(freeze);
    const plugins = pluginsOver(memory, random);
    const write = writeOf(random);
    const { request } = asked(attributesOf(write, random));
    freeze(request.old);
    const chain = admissionChain(plugins);
    const object = cloneJson(write.object);
    const mutated =
      request.operation === 'DELETE' ? undefined : chain.mutate(request, object, signal);
    const told = Promise.resolve(mutated);
    told.catch(() => undefined); // It is awaited in the check.
    return async () => {
      try {
        await told;
        return await problemOf({ plugins, chain, request, object, given: write.object });
      } catch (error) {
        if (!(error instanceof StatusError)) return (error as Error).stack;
        return (refusals as readonly number[]).includes(error.code)
          ? undefined
          : `refused with ${String(error.code)} ${error.message}`;
      }
    };
  },
};

function pluginsOver(
  memory: Record<string, readonly ApiObject[]>,
  random: Random,
): AdmissionPlugin[] {
  const configured = configurations(random);
  // All, most or few: one that refuses hides those after it.
  const share = random.below(3);
  const parts = {
    ...partsOf({ memory, allows: () => random.below(2) === 0 }),
    configurationOf: (name: string): object | undefined => configured[name],
  };
  return pluginTable
    .filter(({ name }) => !leftOut.has(name) && random.below(3) <= share)
    .map((row) => row.make(parts))
    .filter((made) => made !== undefined && !(made instanceof Promise))
    .filter((plugin): plugin is AdmissionPlugin => plugin !== undefined);
}

const attributesOf = (write: RandomWrite, random: Random): Partial<AdmissionRequest> => ({
  resource: write.record ?? resourceOf(write.resource, write.group),
  operation: write.operation,
  subresource: write.subresource,
  namespace: write.namespace,
  name: write.operation === 'CREATE' && random.below(3) === 0 ? '' : 'x',
  user: userOf(random),
  dryRun: random.below(4) === 0,
  old: write.old,
});

interface Mutated {
  readonly plugins: readonly AdmissionPlugin[];
  readonly chain: AdmissionChain;
  readonly request: AdmissionRequest;
  readonly object: ApiObject;
  /** As it was before. */
  readonly given: Readonly<ApiObject>;
}

async function problemOf({
  plugins,
  chain,
  request,
  object,
  given,
}: Mutated): Promise<string | undefined> {
  if (request.operation === 'DELETE') {
    await chain.beforeDelete(request, signal);
    await chain.validate(request, undefined, signal);
    return undefined;
  }
  const shared = frozenIn(object);
  if (shared !== undefined) return `what memory holds is part of the object: ${shared}`;
  const again = cloneJson(object);
  await chain.mutate(request, again, signal);
  if (!sameJson(again, object)) {
    return `mutated twice:\n  ${JSON.stringify(object)}\n  ${JSON.stringify(again)}`;
  }
  freeze(object);
  for (const plugin of plugins) {
    if (request.resource.resource !== 'pods' || !plugin.handles(request)) continue;
    if (accepting[plugin.name]?.(given) !== true) continue;
    try {
      await plugin.validate?.(request, object, signal);
    } catch (error) {
      return `${plugin.name} refuses what it made: ${(error as Error).message}`;
    }
  }
  await chain.validate(request, object, signal);
  return undefined;
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}

/** The first part that is frozen, as JSON. */
function frozenIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.isFrozen(value) && Object.keys(value).length > 0) return JSON.stringify(value);
  for (const member of Object.values(value)) {
    const found = frozenIn(member);
    if (found !== undefined) return found;
  }
  return undefined;
}
