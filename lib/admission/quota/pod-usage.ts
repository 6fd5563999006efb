// What a pod takes of quotas: itself, and as long as it runs what its containers ask for and may
// use at most.
import { recordAt, recordIn, recordsAt, textAt, numberAt } from '../../api/json-access.ts';
import { addQuantities } from '../../api/quantity.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import {
  amountsIn,
  isPodLevelResource,
  isStaying,
  raiseAmounts,
  statedAmounts,
  totalOf,
} from '../../kinds/core/container-totals.ts';
import type { Amounts } from '../../kinds/core/container-totals.ts';
import { isExtendedResource, isHugePages, isNative } from '../../kinds/core/resource-names.ts';
import { one } from './measure.ts';
import type { UsageParts } from './measure.ts';

type Part = 'limits' | 'requests';

const computeNames = ['cpu', 'memory', 'ephemeral-storage'] as const;
/** Each container has to state these where a quota counts them. */
const stated: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);
const plainNames: ReadonlySet<string> = new Set([
  'pods',
  'count/pods',
  ...computeNames.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);

/** Whether a quota's name is one of pods. */
export const isPodName = (name: string, naming: NamingProfile): boolean =>
  plainNames.has(name) ||
  name.startsWith('hugepages-') ||
  name.startsWith('requests.hugepages-') ||
  isExtendedName(name, naming);

/** `requests.<name>` of somebody's devices, or of a class of devices. */
export const isExtendedName = (name: string, naming: NamingProfile): boolean =>
  name.startsWith('requests.') &&
  (!isNative(name, naming) || name.startsWith(`requests.${classPrefix(naming)}`));

/** Before the name of a class of devices, which makes a name that containers can ask for. */
export const classPrefix = (naming: NamingProfile): string =>
  naming.resolve('deviceclass.resource.{kubernetes}.io/');

export function podUsage(pod: Readonly<ApiObject>, parts: UsageParts): Amounts {
  const usage = new Map([['count/pods', one]]);
  if (!isRunning(pod, parts.nowMs())) return usage;
  const requests = podRequests(pod, parts);
  const limits = podLimits(pod, parts);
  for (const [name, amount] of quotaNames(requests, limits, parts.naming)) usage.set(name, amount);
  return usage;
}

/** Not ended, and not longer in deletion than it was given. */
function isRunning(pod: Readonly<ApiObject>, nowMs: number): boolean {
  const phase = textAt(recordAt(pod, 'status'), 'phase');
  if (phase === 'Succeeded' || phase === 'Failed') return false;
  const endMs = endOfGraceMs(pod);
  return endMs === undefined || nowMs <= endMs;
}

/** When a pod in deletion ceases to count; undefined: it is not in deletion. */
export function endOfGraceMs({ metadata }: Readonly<ApiObject>): number | undefined {
  const graceSeconds = numberAt(metadata, 'deletionGracePeriodSeconds');
  const deletionMs = Date.parse(metadata?.deletionTimestamp ?? '');
  return graceSeconds === undefined || Number.isNaN(deletionMs)
    ? undefined
    : deletionMs + graceSeconds * 1000;
}

/** Names of quotas for what containers ask for. */
function quotaNames(requests: Amounts, limits: Amounts, naming: NamingProfile): Amounts {
  const usage = new Map<string, Quantity>([['pods', one]]);
  for (const name of computeNames) {
    const request = requests.get(name);
    if (request !== undefined) usage.set(name, request).set(`requests.${name}`, request);
    const limit = limits.get(name);
    if (limit !== undefined) usage.set(`limits.${name}`, limit);
  }
  for (const [name, amount] of requests) {
    if (isHugePages(name)) usage.set(name, amount).set(`requests.${name}`, amount);
    else if (isExtendedRequest(name, naming)) usage.set(`requests.${name}`, amount);
  }
  return usage;
}

const isExtendedRequest = (name: string, naming: NamingProfile): boolean =>
  isExtendedResource(name, naming) || name.startsWith(classPrefix(naming));

/** `requests.<name>` of devices that the containers state, whatever has become of the pod. */
export function statedExtended(pod: Readonly<ApiObject>, naming: NamingProfile): Amounts {
  const total = totalOf(recordAt(pod, 'spec'), (container) => statedAmounts(container, 'requests'));
  const extended = [...total].filter(([name]) => isExtendedRequest(name, naming));
  return new Map(extended.map(([name, amount]) => [`requests.${name}`, amount]));
}

function podRequests(pod: Readonly<ApiObject>, parts: UsageParts): Map<string, Quantity> {
  const spec = recordAt(pod, 'spec');
  const requests = containersOf(pod, 'requests');
  for (const [name, amount] of podLevel(pod, 'requests', parts)) requests.set(name, amount);
  for (const [name, amount] of amountsIn(recordAt(spec, 'overhead'))) {
    requests.set(name, plus(requests.get(name), amount));
  }
  return requests;
}

/** Overhead counts where there is a limit at all. */
function podLimits(pod: Readonly<ApiObject>, parts: UsageParts): Amounts {
  const limits = containersOf(pod, 'limits');
  for (const [name, amount] of podLevel(pod, 'limits', parts)) limits.set(name, amount);
  for (const [name, amount] of amountsIn(recordIn(pod, 'spec', 'overhead'))) {
    const limit = limits.get(name);
    if (limit !== undefined) limits.set(name, addQuantities(limit, amount));
  }
  return limits;
}

const plus = (known: Quantity | undefined, amount: Quantity): Quantity =>
  known === undefined ? amount : addQuantities(known, amount);

/** While a resize is under way, the largest of what is wanted and what there is. */
function containersOf(pod: Readonly<ApiObject>, part: Part): Map<string, Quantity> {
  const spec = recordAt(pod, 'spec');
  const status = recordAt(pod, 'status');
  const statuses = new Map(
    [...recordsAt(status, 'containerStatuses'), ...recordsAt(status, 'initContainerStatuses')]
      .filter((one) => recordAt(one, 'resources') !== undefined)
      .map((one) => [textAt(one, 'name'), one]),
  );
  if (statuses.size === 0) return totalOf(spec, (container) => statedAmounts(container, part));
  const passing = new Set(recordsAt(spec, 'initContainers').filter((one) => !isStaying(one)));
  return totalOf(spec, (container) => {
    const actual = passing.has(container) ? undefined : statuses.get(textAt(container, 'name'));
    return largest(container, actual, part, isInfeasible(status));
  });
}

/** `actual` has the resources in force, and what a node has reserved. */
function largest(
  wanted: JsonObject,
  actual: JsonObject | undefined,
  part: Part,
  isWantedIdle: boolean,
): Map<string, Quantity> {
  if (actual === undefined) return statedAmounts(wanted, part);
  const amounts = isWantedIdle ? new Map<string, Quantity>() : statedAmounts(wanted, part);
  raiseAmounts(amounts, statedAmounts(actual, part));
  if (part === 'requests') raiseAmounts(amounts, amountsIn(recordAt(actual, 'allocatedResources')));
  return amounts;
}

/** The node can never give what the spec wants. */
const isInfeasible = (status: JsonObject | undefined): boolean =>
  recordsAt(status, 'conditions').some(
    (one) => textAt(one, 'type') === 'PodResizePending' && textAt(one, 'reason') === 'Infeasible',
  );

/** What the pod states for all its containers together. */
function podLevel(
  pod: Readonly<ApiObject>,
  part: Part,
  { gates }: UsageParts,
): readonly (readonly [string, Quantity])[] {
  const spec = recordAt(pod, 'spec');
  if (spec === undefined || !gates.isEnabled('PodLevelResources')) return [];
  if (statedAmounts(spec, part).size === 0) return [];
  const status = recordAt(pod, 'status');
  const isResizable = gates.isEnabled('InPlacePodLevelResourcesVerticalScaling');
  const actual = isResizable && recordAt(status, 'resources') !== undefined ? status : undefined;
  return [...largest(spec, actual, part, isInfeasible(status))].filter(([name]) =>
    isPodLevelResource(name),
  );
}

/** What a quota on `names` wants each container to state; undefined: it is all there. */
export function missingStatements(
  pod: Readonly<ApiObject>,
  names: readonly string[],
  { naming, gates }: UsageParts,
): string | undefined {
  const wanted = names.filter((name) => stated.has(name));
  if (wanted.length === 0) return undefined;
  const spec = recordAt(pod, 'spec');
  if (gates.isEnabled('PodLevelResources') && hasPodLevel(spec)) return undefined;
  const missing = new Map<string, Set<string>>();
  for (const list of ['containers', 'initContainers']) {
    for (const container of recordsAt(spec, list)) {
      const amounts = [statedAmounts(container, 'requests'), statedAmounts(container, 'limits')];
      const [requests = new Map(), limits = new Map()] = amounts;
      const found = quotaNames(requests, limits, naming);
      for (const name of wanted) {
        if (found.has(name)) continue;
        const containers = missing.get(name) ?? new Set();
        missing.set(name, containers.add(textAt(container, 'name')));
      }
    }
  }
  if (missing.size === 0) return undefined;
  const texts = [...missing].map(([name, of]) => `${name} for: ${[...of].sort().join(',')}`);
  return `must specify ${texts.sort().join('; ')}`;
}

const hasPodLevel = (spec: JsonObject | undefined): boolean =>
  spec !== undefined &&
  (['requests', 'limits'] as const).some((part) =>
    [...statedAmounts(spec, part).keys()].some(isPodLevelResource),
  );
