// LimitRanger: the limit ranges of a namespace complete what containers ask for, and bound what
// containers, pods and claims may ask for. A range that was changed acts on the next request.
import { entriesAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isDeleting } from '../../codec/object-meta.ts';
import { podTotals } from '../../kinds/core/pod-totals.ts';
import type { Amounts } from '../../kinds/core/pod-totals.ts';
import { handling } from '../handling.ts';
import { listObjects } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';
import { claimProblems, usageProblems } from './limit-checks.ts';

type Parts = Pick<PluginParts, 'objects' | 'naming' | 'gates'>;

export function limitRanger(parts: Parts): AdmissionPlugin | undefined {
  const ranges = parts.objects('', 'limitranges');
  if (ranges === undefined) return undefined;
  const isOfPod = ({ resource }: AdmissionRequest): boolean => resource.resource === 'pods';
  const handles = handling(
    { resource: 'pods', operations: ['CREATE'] },
    { resource: 'pods', operations: ['UPDATE'], subresources: ['resize'] },
    { resource: 'persistentvolumeclaims', operations: ['CREATE', 'UPDATE'] },
  );
  const limitsOf = async (
    { namespace }: AdmissionRequest,
    mode: 'any' | 'latest',
    signal: AbortSignal,
  ): Promise<readonly (readonly JsonObject[])[]> => {
    const found = await listObjects(ranges, namespace, mode, signal);
    return found.map((range) => recordsAt(recordAt(range, 'spec'), 'limits'));
  };
  return {
    name: 'LimitRanger',
    sideEffects: false,
    handles: (request) =>
      handles(request) && (request.old === undefined || !isDeleting(request.old)),
    async mutate(request, object, signal) {
      if (!isOfPod(request)) return false;
      let isChanged = false;
      for (const limits of await limitsOf(request, 'latest', signal)) {
        if (completePod(object, limits, parts.naming)) isChanged = true;
      }
      return isChanged;
    },
    async validate(request, object, signal) {
      if (object === undefined) return;
      // Memory has what completed the pod a moment ago, and what came since.
      const mode = isOfPod(request) ? 'any' : 'latest';
      for (const limits of await limitsOf(request, mode, signal)) {
        const problems = isOfPod(request)
          ? podProblems(object, limits, parts)
          : limits
              .filter(isOf('PersistentVolumeClaim'))
              .flatMap((limit) =>
                claimProblems(limit, amountsOf(recordAt(object, 'spec')).requests),
              );
        const text = joined(problems);
        if (text !== undefined) throw refusal(request, object, text);
      }
    },
  };
}

const isOf =
  (type: string) =>
  (limit: JsonObject): boolean =>
    textAt(limit, 'type') === type;

/** undefined: there is none. */
const joined = (problems: readonly string[]): string | undefined =>
  problems.length === 0 ? undefined : aggregateText(problems);

const kindsOf = [
  ['containers', 'container'],
  ['initContainers', 'init container'],
] as const;

/** Gives containers what they do not state, and says so in an annotation. */
function completePod(
  pod: ApiObject,
  limits: readonly JsonObject[],
  naming: NamingProfile,
): boolean {
  const ofContainers = limits.filter(isOf('Container'));
  const defaults: Amounts = {
    requests: joinedAmounts(ofContainers, 'defaultRequest'),
    limits: joinedAmounts(ofContainers, 'default'),
  };
  const notes = kindsOf.flatMap(([list, kind]) =>
    recordsAt(recordAt(pod, 'spec'), list).flatMap((container) =>
      completeContainer(container, defaults, kind),
    ),
  );
  if (notes.length === 0) return false;
  const meta = (pod.metadata ??= {});
  meta.annotations = {
    ...meta.annotations,
    [naming.resolve('{kubernetes}.io/limit-ranger')]: `LimitRanger plugin set: ${notes.join('; ')}`,
  };
  return true;
}

/** Of two that state an amount the later one counts. */
const joinedAmounts = (limits: readonly JsonObject[], part: string): JsonObject =>
  Object.fromEntries(limits.flatMap((limit) => entriesAt(limit, part)));

function completeContainer(
  container: JsonObject,
  defaults: Amounts,
  kind: string,
): readonly string[] {
  const resources = recordAt(container, 'resources') ?? {};
  return (['requests', 'limits'] as const).flatMap((part) => {
    const stated = recordAt(resources, part) ?? {};
    const missing = Object.keys(defaults[part]).filter((name) => !Object.hasOwn(stated, name));
    if (missing.length === 0) return [];
    for (const name of missing) stated[name] = defaults[part][name];
    resources[part] = stated;
    container['resources'] = resources;
    const names = missing.sort().join(', ');
    return [`${names} ${part.slice(0, -1)} for ${kind} ${textAt(container, 'name')}`];
  });
}

const amountsOf = (of: Readonly<JsonObject> | undefined): Amounts => {
  const resources = recordAt(of, 'resources');
  return {
    requests: recordAt(resources, 'requests') ?? {},
    limits: recordAt(resources, 'limits') ?? {},
  };
};

function podProblems(
  pod: Readonly<ApiObject>,
  limits: readonly JsonObject[],
  { gates }: Parts,
): readonly string[] {
  const spec = recordAt(pod, 'spec') ?? {};
  const containers = kindsOf.flatMap(([list]) => recordsAt(spec, list));
  const hasPodLevel = gates.isEnabled('PodLevelResources');
  let total: Amounts | undefined;
  return limits.flatMap((limit) => {
    const type = textAt(limit, 'type');
    if (type === 'Container') {
      return containers.flatMap((container) => usageProblems(type, limit, amountsOf(container)));
    }
    if (type !== 'Pod') return [];
    total ??= podTotals(spec, { hasPodLevel, hasOverhead: false });
    return usageProblems(type, limit, total);
  });
}
