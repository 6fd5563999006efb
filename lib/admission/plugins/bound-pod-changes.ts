// NodeDeclaredFeatureValidator and PodResizeValidator: a change of a pod that runs is refused where
// its node cannot carry it out.
import { recordAt, recordsAt, recordIn, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { podTotals } from '../../kinds/core/pod-totals.ts';
import { nanoOf } from '../../kinds/core/resource-lists.ts';
import { handling } from '../handling.ts';
import { findObject } from '../objects.ts';
import type { Objects } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';

type Pod = Readonly<ApiObject>;
type Node = Readonly<ApiObject>;

export function nodeDeclaredFeatureValidator({
  gates,
  objects,
}: Pick<PluginParts, 'gates' | 'objects'>): AdmissionPlugin | undefined {
  const nodes = objects('', 'nodes');
  if (nodes === undefined || !gates.isEnabled('NodeDeclaredFeatures')) return undefined;
  return {
    name: 'NodeDeclaredFeatureValidator',
    sideEffects: false,
    handles: handling({
      resource: 'pods',
      operations: ['UPDATE'],
      subresources: ['', 'resize'],
    }),
    validate(request, pod, signal) {
      const node = nodeOfChanged(request, pod);
      if (pod === undefined || node === '') return;
      const needed = neededFeatures(recordAt(pod, 'spec'), recordAt(request.old, 'spec'));
      if (needed.length === 0) return;
      return whenThere(existing(nodes, node, request, pod, signal), (found) => {
        const declared = textsAt(recordAt(found, 'status'), 'declaredFeatures');
        const missing = needed.filter((feature) => !declared.includes(feature));
        if (missing.length === 0) return;
        const text = `pod update requires features ${missing.join(', ')} which are not available`;
        throw refusal(request, pod, `${text} on node ${JSON.stringify(node)}`);
      });
    },
  };
}

export function podResizeValidator({
  gates,
  naming,
  objects,
}: Pick<PluginParts, 'gates' | 'naming' | 'objects'>): AdmissionPlugin | undefined {
  const nodes = objects('', 'nodes');
  if (nodes === undefined) return undefined;
  const system = naming.resolve('{kubernetes}.io/os');
  const hasPodLevel = gates.isEnabled('PodLevelResources');
  return {
    name: 'PodResizeValidator',
    sideEffects: false,
    handles: handling({ resource: 'pods', operations: ['UPDATE'], subresources: ['resize'] }),
    validate(request, pod, signal) {
      const name = nodeOfChanged(request, pod);
      if (pod === undefined || name === '') return;
      return whenThere(existing(nodes, name, request, pod, signal), (node) => {
        const labels = recordIn(node, 'metadata', 'labels') ?? {};
        const os = textAt(labels, system);
        if (Object.hasOwn(labels, system) && os !== 'linux') {
          const text = 'pod resize is only supported on linux nodes, node';
          const detail = `${text} ${JSON.stringify(name)} is ${JSON.stringify(os)}`;
          throw because('UnsupportedPlatform', refusal(request, pod, detail));
        }
        const lacking = lackingOn(node, pod, hasPodLevel);
        if (lacking.length === 0) return;
        const detail = `node didn't have enough allocatable resources: ${lacking.join('; ')}`;
        throw because('NodeCapacity', refusal(request, pod, detail));
      });
    },
  };
}

/** '': it is on none, or nothing that its node carries out was changed. */
function nodeOfChanged({ old }: AdmissionRequest, pod: Pod | undefined): string {
  const isChanged = generationOf(pod) !== generationOf(old);
  return isChanged ? textAt(recordAt(pod, 'spec'), 'nodeName') : '';
}

const generationOf = (pod: Pod | undefined): number => pod?.metadata?.generation ?? 0;

/** @throws StatusError 403 */
const existing = (
  nodes: Objects,
  name: string,
  request: AdmissionRequest,
  pod: Pod,
  signal: AbortSignal,
): MaybePromise<Node> =>
  whenThere(findObject(nodes, { namespace: '', name }, signal), (node) => {
    if (node !== undefined) return node;
    throw refusal(request, pod, `node ${JSON.stringify(name)} not found`);
  });

type Spec = JsonObject | undefined;

/** Of a node, for what an update changes; by name. */
function neededFeatures(spec: Spec, old: Spec): readonly string[] {
  const needed: string[] = [];
  if (!sameJson(recordAt(spec, 'resources') ?? {}, recordAt(old, 'resources') ?? {})) {
    needed.push('InPlacePodLevelResourcesVerticalScaling');
  }
  const before = new Map(recordsAt(old, 'initContainers').map((one) => [textAt(one, 'name'), one]));
  const isResized = (container: JsonObject): boolean => {
    const twin = before.get(textAt(container, 'name'));
    const isStarter = textAt(container, 'restartPolicy') !== 'Always';
    const now = recordAt(container, 'resources') ?? {};
    return isStarter && twin !== undefined && !sameJson(now, recordAt(twin, 'resources') ?? {});
  };
  if (recordsAt(spec, 'initContainers').some(isResized)) {
    needed.push('InPlacePodVerticalScalingInitContainers');
  }
  return needed;
}

const nanoPerMilli = 1_000_000n;
const resources = [
  ['cpu', nanoPerMilli],
  ['memory', 1_000n * nanoPerMilli],
] as const;

/** What a node could not give to the pod even if it had no other. */
function lackingOn(node: Node, pod: Pod, hasPodLevel: boolean): readonly string[] {
  const allocatable = recordIn(node, 'status', 'allocatable');
  const { requests } = podTotals(recordAt(pod, 'spec') ?? {}, { hasPodLevel, hasOverhead: true });
  return resources.flatMap(([name, unit]) => {
    const [wanted, given] = [nanoOf(requests[name]), nanoOf(allocatable?.[name])];
    if (wanted <= given) return [];
    const shown = [wanted, given].map((nano) => String(roundedUp(nano, unit)));
    return [`${name}, requested: ${shown[0] ?? ''}, allocatable: ${shown[1] ?? ''}`];
  });
}

const roundedUp = (nano: bigint, unit: bigint): bigint => (nano + unit - 1n) / unit;

/** The refusal with its kind as a cause. */
const because = (
  reason: 'UnsupportedPlatform' | 'NodeCapacity',
  { code, reason: of, message, details }: StatusError,
): StatusError => new StatusError(code, of, message, { ...details, causes: [{ reason }] });
