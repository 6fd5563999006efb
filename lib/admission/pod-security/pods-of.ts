// Where objects have pods, or what pods are made from, and whether a change of a pod touches what
// the standards look at.
import { recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject, ResourceInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { seccompKey, seccompKeyPrefix } from '../../kinds/core/pod-annotations.ts';
import type { CheckedPod } from './check.ts';
import { nameOf } from './check.ts';

interface Place {
  readonly group: string;
  /** Of the pod, or its template, in the object. */
  readonly path: readonly string[];
}

const inSpec = ['spec', 'template'];
/** By resource; versions of a group do not differ here. */
const places: ReadonlyMap<string, Place> = new Map([
  ['pods', { group: '', path: [] }],
  ['podtemplates', { group: '', path: ['template'] }],
  ['replicationcontrollers', { group: '', path: inSpec }],
  ['daemonsets', { group: 'apps', path: inSpec }],
  ['deployments', { group: 'apps', path: inSpec }],
  ['replicasets', { group: 'apps', path: inSpec }],
  ['statefulsets', { group: 'apps', path: inSpec }],
  ['jobs', { group: 'batch', path: inSpec }],
  ['cronjobs', { group: 'batch', path: ['spec', 'jobTemplate', 'spec', 'template'] }],
]);

type Resource = Pick<ResourceInfo, 'group' | 'resource'>;

/** Whether its objects are pods or make pods. */
export const hasPods = ({ group, resource }: Resource): boolean =>
  places.get(resource)?.group === group;

const none: JsonObject = Object.freeze({});

/** undefined: the object, a workload, has no template. */
export function podOf(
  { resource }: Resource,
  object: Readonly<ApiObject>,
  naming: NamingProfile,
): CheckedPod | undefined {
  const pod = recordIn(object, ...(places.get(resource)?.path ?? []));
  if (pod === undefined) return undefined;
  return {
    annotations: recordIn(pod, 'metadata', 'annotations') ?? none,
    spec: recordAt(pod, 'spec') ?? none,
    naming,
  };
}

/** '': the default one. */
export const runtimeClassOf = ({ spec }: CheckedPod): string => textAt(spec, 'runtimeClassName');

/**
 * Whether an update changed what containers run, or their seccomp annotations: the rest of what
 * the standards look at never changes.
 */
export function isSignificant(pod: CheckedPod, old: CheckedPod): boolean {
  const isAnnotated = (key: string): boolean =>
    textAt(pod.annotations, key) !== textAt(old.annotations, key);
  const prefix = seccompKeyPrefix(pod.naming);
  const hasChanged = (container: JsonObject, before: JsonObject | undefined): boolean =>
    before === undefined ||
    textAt(container, 'image') !== textAt(before, 'image') ||
    isAnnotated(prefix + nameOf(container));
  if (isAnnotated(seccompKey(pod.naming))) return true;
  for (const list of ['containers', 'initContainers']) {
    const before = recordsAt(old.spec, list);
    const after = recordsAt(pod.spec, list);
    if (after.length !== before.length) return true;
    if (after.some((container, at) => hasChanged(container, before[at]))) return true;
  }
  const before = new Map(
    recordsAt(old.spec, 'ephemeralContainers').map((one) => [nameOf(one), one]),
  );
  return recordsAt(pod.spec, 'ephemeralContainers').some((one) =>
    hasChanged(one, before.get(nameOf(one))),
  );
}
