// RuntimeClass: a pod takes from its runtime class what that costs and which nodes have it.
import { isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { nanoOf } from '../../kinds/core/resource-lists.ts';
import { handling } from '../handling.ts';
import { findObject } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';
import { mergeTolerations } from '../tolerations.ts';

type Class = Readonly<ApiObject>;

export function runtimeClass({
  objects,
}: Pick<PluginParts, 'objects'>): AdmissionPlugin | undefined {
  const classes = objects('node.{v}', 'runtimeclasses');
  if (classes === undefined) return undefined;
  const classOf = (
    request: AdmissionRequest,
    pod: Readonly<ApiObject>,
    signal: AbortSignal,
  ): MaybePromise<Class | undefined> => {
    const name = textAt(recordAt(pod, 'spec'), 'runtimeClassName');
    if (name === '') return undefined;
    return whenThere(findObject(classes, { namespace: '', name }, signal), (found) => {
      if (found !== undefined) return found;
      const text = `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`;
      throw refusal(request, pod, text);
    });
  };
  return {
    name: 'RuntimeClass',
    sideEffects: false,
    handles: handling({ resource: 'pods', operations: ['CREATE'] }),
    mutate: (request, pod, signal) =>
      whenThere(classOf(request, pod, signal), (found) => {
        const spec = recordAt(pod, 'spec');
        if (found === undefined || spec === undefined) return false;
        const conflict = complete(spec, found);
        if (conflict === undefined) return true;
        throw refusal(request, pod, conflict);
      }),
    validate(request, pod, signal) {
      if (pod === undefined) return;
      return whenThere(classOf(request, pod, signal), (found) => {
        const problem = overheadProblem(recordAt(pod, 'spec'), found);
        if (problem !== undefined) throw refusal(request, pod, `pod rejected: ${problem}`);
      });
    },
  };
}

const overheadOf = (found: Class | undefined): JsonObject | undefined =>
  recordAt(found, 'overhead') && (recordAt(recordAt(found, 'overhead'), 'podFixed') ?? {});

const otherOverhead = "Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/** @returns what is in the way */
function complete(spec: JsonObject, found: Class): string | undefined {
  const overhead = overheadOf(found);
  if (overhead !== undefined) {
    const problem = isSet(spec, 'overhead') ? overheadProblem(spec, found) : undefined;
    if (problem !== undefined) return `pod rejected: ${problem}`;
    spec['overhead'] = { ...overhead };
  }
  const scheduling = recordAt(found, 'scheduling');
  if (scheduling === undefined) return undefined;
  const wanted = recordAt(scheduling, 'nodeSelector') ?? {};
  const given = recordAt(spec, 'nodeSelector') ?? {};
  for (const key of Object.keys(wanted).sort()) {
    if (!Object.hasOwn(given, key) || given[key] === wanted[key]) continue;
    const [theirs, ours] = [textAt(wanted, key), textAt(given, key)];
    return (
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${theirs}; ` +
      `pod.spec.nodeSelector[${key}] = ${ours}`
    );
  }
  spec['nodeSelector'] = { ...given, ...wanted };
  const tolerations = recordsAt(scheduling, 'tolerations').map((one) => ({ ...one }));
  spec['tolerations'] = [...mergeTolerations(recordsAt(spec, 'tolerations'), tolerations)];
  return undefined;
}

function overheadProblem(
  spec: JsonObject | undefined,
  found: Class | undefined,
): string | undefined {
  const [wanted, given] = [overheadOf(found), recordAt(spec, 'overhead')];
  if (wanted !== undefined) return isSameAmounts(wanted, given ?? {}) ? undefined : otherOverhead;
  if (given === undefined) return undefined;
  return 'Pod Overhead set without corresponding RuntimeClass defined Overhead';
}

function isSameAmounts(left: JsonObject, right: JsonObject): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && nanoOf(left[name]) === nanoOf(right[name]))
  );
}
