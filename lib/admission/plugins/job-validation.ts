// JobValidation: the parallelism of a job whose pods are placed all together or not at all stays as
// it is, since the size of their group was made from it.
import { flagAt, numberAt, recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { nameOf } from '../../codec/object-meta.ts';
import { handling } from '../handling.ts';
import { allObjects, findObject } from '../objects.ts';
import type { Objects } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';

type Job = Readonly<ApiObject>;

export function jobValidation({
  gates,
  objects,
}: Pick<PluginParts, 'gates' | 'objects'>): AdmissionPlugin | undefined {
  const groups = objects('scheduling.{v}', 'podgroups');
  const isOn = gates.isEnabled('GenericWorkload') || gates.isEnabled('WorkloadWithJob');
  if (groups === undefined || !isOn) return undefined;
  return {
    name: 'JobValidation',
    sideEffects: false,
    handles: handling({ group: 'batch', resource: 'jobs', operations: ['UPDATE'] }),
    validate(request, job, signal) {
      const { old } = request;
      if (old === undefined || parallelismOf(job) === parallelismOf(old)) return;
      return whenThere(gangOf(groups, request, old, signal), (gang) => {
        if (gang === undefined) return;
        const text = 'cannot change parallelism for a Job referencing gang-scheduled PodGroup';
        throw refusal(request, job, `${text} ${JSON.stringify(nameOf(gang))}`);
      });
    },
  };
}

const parallelismOf = (job: Job | undefined): number | undefined =>
  numberAt(recordAt(job, 'spec'), 'parallelism');

/** The group of the job's pods that is placed as a whole: the one named, else one of its own. */
function gangOf(
  groups: Objects,
  { namespace }: AdmissionRequest,
  job: Job,
  signal: AbortSignal,
): MaybePromise<Readonly<ApiObject> | undefined> {
  const named = recordIn(job, 'spec', 'template', 'spec', 'schedulingGroup');
  const name = textAt(named, 'podGroupName');
  if (name !== '') {
    return whenThere(findObject(groups, { namespace, name }, signal), (group) =>
      group !== undefined && isGang(group) ? group : undefined,
    );
  }
  const uid = job.metadata?.uid ?? '';
  return allObjects(groups, namespace).find((one) => isGang(one) && controllerOf(one) === uid);
}

const isGang = (group: Readonly<ApiObject>): boolean =>
  recordIn(group, 'spec', 'schedulingPolicy', 'gang') !== undefined;

function controllerOf(group: Readonly<ApiObject>): string | undefined {
  const owners = recordsAt(recordAt(group, 'metadata'), 'ownerReferences');
  const controller = owners.find((owner) => flagAt(owner, 'controller'));
  return controller && textAt(controller, 'uid');
}
