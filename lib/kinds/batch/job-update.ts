// What may change of a job: how many pods it runs, and, while it is suspended and has no pods,
// where they run and what they use.
import { immutableDetail } from '../../api/field-errors.ts';
import {
  flagAt,
  isSet,
  numberAt,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { cloneJson } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { changed } from '../validator.ts';
import type { ValidatedWrite } from '../validator.ts';

const fixed = [
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
];

export function validateJobUpdate(write: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const { errors } = write;
  const validateFixed = (name: string): void => {
    if (!changed(spec, old, name)) return;
    errors.invalid(`spec.${name}`, valueAt(spec, name) ?? null, immutableDetail);
  };
  if (textAt(spec, 'completionMode') !== 'Indexed') validateFixed('completions');
  else validateCompletions(write, spec, old);
  validateFixed('selector');
  validateTemplate(write, recordAt(spec, 'template') ?? {}, old);
  for (const name of fixed) validateFixed(name);
}

/** An indexed job grows and shrinks as a whole. */
function validateCompletions({ errors }: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const completions = numberAt(spec, 'completions');
  if (completions === undefined || !changed(spec, old, 'completions')) return;
  if (completions === numberAt(spec, 'parallelism')) return;
  const detail = 'can only be modified in tandem with spec.parallelism';
  errors.invalid('spec.completions', completions, detail);
}

function validateTemplate(write: ValidatedWrite, template: JsonObject, old: JsonObject): void {
  const { errors, isOn } = write;
  const isSuspended = flagAt(old, 'suspend');
  const isIdle = isSuspended && isWithoutPods(write);
  const isMovable = isOn('MutableSchedulingDirectivesForSuspendedJobs')
    ? isIdle
    : isSuspended && !hasStarted(write);
  const before = cloneJson(recordAt(old, 'template') ?? {});
  if (isMovable) takeDirectives(before, template);
  if (isIdle && isOn('MutablePodResourcesForSuspendedJobs')) {
    const pod = recordAt(template, 'spec') ?? {};
    const podBefore = recordAt(before, 'spec') ?? {};
    for (const list of ['containers', 'initContainers']) takeResources(podBefore, pod, list);
    if (!sameJson(pod, podBefore)) errors.invalid('spec.template.spec', pod, immutableDetail);
  } else if (!sameJson(template, before)) {
    errors.invalid('spec.template', template, immutableDetail);
  }
}

const hasStarted = ({ old }: ValidatedWrite): boolean =>
  isSet(recordIn(old, 'status'), 'startTime');

/** It has never had pods, or has ended all of them. */
function isWithoutPods(write: ValidatedWrite): boolean {
  const status = recordIn(write.old, 'status');
  const isSuspended = recordsAt(status, 'conditions').some(
    (one) => textAt(one, 'type') === 'Suspended' && textAt(one, 'status') === 'True',
  );
  return (!hasStarted(write) || isSuspended) && (numberAt(status, 'active') ?? 0) === 0;
}

/** Gives `into` the member of `from`; absent there, it has none. */
function take(into: JsonObject, from: JsonObject | undefined, name: string): void {
  const value = from?.[name];
  if (value === undefined) Reflect.deleteProperty(into, name);
  else into[name] = cloneJson(value);
}

/** Where pods run: affinity to nodes, but not to other pods, and what labels say. */
function takeDirectives(into: JsonObject, from: JsonObject): void {
  const [meta, fromMeta] = [recordAt(into, 'metadata') ?? {}, recordAt(from, 'metadata')];
  for (const name of ['labels', 'annotations']) take(meta, fromMeta, name);
  into['metadata'] = meta;
  const [pod, fromPod] = [recordAt(into, 'spec'), recordAt(from, 'spec')];
  if (pod === undefined) return;
  for (const name of ['nodeSelector', 'tolerations', 'schedulingGates']) take(pod, fromPod, name);
  const [affinity, fromAffinity] = [recordAt(pod, 'affinity'), recordAt(fromPod, 'affinity')];
  if (affinity === undefined && fromAffinity === undefined) return;
  const kept = affinity ?? {};
  take(kept, fromAffinity, 'nodeAffinity');
  if (fromAffinity === undefined && Object.keys(kept).length === 0) delete pod['affinity'];
  else pod['affinity'] = kept;
}

/** What containers of the same names use. */
function takeResources(into: JsonObject, from: JsonObject, list: string): void {
  const [containers, others] = [recordsAt(into, list), recordsAt(from, list)];
  if (containers.length !== others.length) return;
  for (const [at, container] of containers.entries()) {
    const other = others[at];
    if (textAt(container, 'name') === textAt(other, 'name')) take(container, other, 'resources');
  }
}
