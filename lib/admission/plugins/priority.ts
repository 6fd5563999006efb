// Priority: the class of a pod says how important it is. Only one class is for pods that name
// none; of two that came to be at once the less important one counts.
import { flagAt, isSet, numberAt, recordAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { nameOf } from '../../codec/object-meta.ts';
import { handling } from '../handling.ts';
import { findObject, listObjects } from '../objects.ts';
import type { Objects } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';

type Class = Readonly<ApiObject>;

export function priority(
  parts: Pick<PluginParts, 'objects' | 'naming' | 'gates'>,
): AdmissionPlugin | undefined {
  const group = parts.naming.resolve('scheduling.{v}');
  const classes = parts.objects('scheduling.{v}', 'priorityclasses');
  if (classes === undefined) return undefined;
  const operations = ['CREATE', 'UPDATE'] as const;
  const hasGroups = parts.gates.isEnabled('WorkloadAwarePreemption');
  return {
    name: 'Priority',
    sideEffects: false,
    handles: handling(
      { resource: 'pods', operations },
      { group, resource: 'priorityclasses', operations },
      ...(hasGroups ? [{ group, resource: 'podgroups', operations }] : []),
    ),
    mutate(request, object, signal) {
      if (request.resource.resource === 'priorityclasses') return false;
      const spec = recordAt(object, 'spec');
      if (spec === undefined) return false;
      if (request.operation === 'UPDATE') return keepPriority(spec, recordAt(request.old, 'spec'));
      return whenThere(classOf(spec, classes, request, object, signal), (chosen) => {
        setPriority(spec, chosen, request, object);
        return true;
      });
    },
    validate(request, object, signal) {
      if (request.resource.resource !== 'priorityclasses' || !flagAt(object, 'globalDefault')) {
        return undefined;
      }
      return validateDefault(classes, request, object, signal);
    },
  };
}

/** @throws StatusError 403 where another class is for pods that name none. */
async function validateDefault(
  classes: Objects,
  request: AdmissionRequest,
  object: Readonly<ApiObject> | undefined,
  signal: AbortSignal,
): Promise<void> {
  const known = defaultOf(await listObjects(classes, '', 'latest', signal));
  const isSame = request.operation === 'UPDATE' && known && nameOf(known) === request.name;
  if (known === undefined || isSame === true) return;
  const text = `PriorityClass ${nameOf(known)} is already marked as default`;
  throw refusal(request, object, `${text}. Only one default can exist`);
}

/** What a create has set stays where an update leaves it out. */
function keepPriority(spec: JsonObject, old: Readonly<JsonObject> | undefined): boolean {
  let isChanged = false;
  for (const name of ['priority', 'preemptionPolicy']) {
    if (isSet(spec, name) || !isSet(old, name)) continue;
    spec[name] = old?.[name];
    isChanged = true;
  }
  return isChanged;
}

/** undefined: none is named, and none is for all. @throws StatusError 403 */
function classOf(
  spec: JsonObject,
  classes: Objects,
  request: AdmissionRequest,
  object: Readonly<ApiObject>,
  signal: AbortSignal,
): MaybePromise<Class | undefined> {
  const name = textAt(spec, 'priorityClassName');
  if (name === '') return listObjects(classes, '', 'any', signal).then(defaultOf);
  return whenThere(findObject(classes, { namespace: '', name }, signal), (found) => {
    if (found !== undefined) return found;
    throw refusal(request, object, `no PriorityClass with name ${name} was found`);
  });
}

function defaultOf(classes: readonly Class[]): Class | undefined {
  let least: Class | undefined;
  for (const one of classes) {
    if (!flagAt(one, 'globalDefault')) continue;
    if (least === undefined || valueOf(one) < valueOf(least)) least = one;
  }
  return least;
}

const valueOf = (of: Class | undefined): number => numberAt(of, 'value') ?? 0;

const computed = (value: string): string =>
  'must not be provided in pod spec; priority admission controller computed ' +
  `${value} from the given PriorityClass name`;

/** @throws StatusError 403 where the pod states something else. */
function setPriority(
  spec: JsonObject,
  chosen: Class | undefined,
  request: AdmissionRequest,
  object: Readonly<ApiObject>,
): void {
  if (chosen !== undefined) spec['priorityClassName'] = nameOf(chosen);
  const value = valueOf(chosen);
  const stated = numberAt(spec, 'priority');
  if (stated !== undefined && stated !== value) {
    const text = `the integer value of priority (${String(stated)}) ${computed(String(value))}`;
    throw refusal(request, object, text);
  }
  spec['priority'] = value;
  if (request.resource.resource !== 'pods') return;
  const policy = textAt(chosen, 'preemptionPolicy') || 'PreemptLowerPriority';
  const wanted = textAt(spec, 'preemptionPolicy');
  if (wanted !== '' && wanted !== policy) {
    const text = `the string value of PreemptionPolicy (${wanted}) ${computed(policy)}`;
    throw refusal(request, object, text);
  }
  spec['preemptionPolicy'] = policy;
}
