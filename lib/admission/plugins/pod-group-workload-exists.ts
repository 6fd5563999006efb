// PodGroupWorkloadExists: a group of pods that says which template of a workload it was made from
// says so of one that is there.
import { recordIn, recordsAt, recordAt, textAt } from '../../api/json-access.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isDeleting } from '../../codec/object-meta.ts';
import { handling } from '../handling.ts';
import { findObject } from '../objects.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';

export function podGroupWorkloadExists({
  naming,
  gates,
  objects,
}: Pick<PluginParts, 'naming' | 'gates' | 'objects'>): AdmissionPlugin | undefined {
  const workloads = objects('scheduling.{v}', 'workloads');
  if (workloads === undefined || !gates.isEnabled('GenericWorkload')) return undefined;
  const group = naming.resolve('scheduling.{v}');
  return {
    name: 'PodGroupWorkloadExists',
    sideEffects: false,
    handles: handling({ group, resource: 'podgroups', operations: ['CREATE'] }),
    validate(request, podGroup, signal) {
      const from = recordIn(podGroup, 'spec', 'podGroupTemplateRef', 'workload');
      if (from === undefined) return;
      const name = textAt(from, 'workloadName');
      const key = { namespace: request.namespace, name };
      return whenThere(findObject(workloads, key, signal), (workload) => {
        const problem = problemOf(workload, name, textAt(from, 'podGroupTemplateName'));
        if (problem !== undefined) {
          throw refusal(request, podGroup, `PodGroup rejected: ${problem}`);
        }
      });
    },
  };
}

function problemOf(
  workload: Readonly<ApiObject> | undefined,
  name: string,
  template: string,
): string | undefined {
  const shown = `Workload ${JSON.stringify(name)}`;
  if (workload === undefined) return `${shown} not found`;
  if (isDeleting(workload)) return `${shown} is being deleted`;
  const templates = recordsAt(recordAt(workload, 'spec'), 'podGroupTemplates');
  if (templates.some((one) => textAt(one, 'name') === template)) return undefined;
  return `PodGroupTemplate ${JSON.stringify(template)} not found in ${shown}`;
}
