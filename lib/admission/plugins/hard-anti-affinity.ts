// LimitPodHardAntiAffinityTopology: what a pod must not run beside, it must not on one node; wider
// terms could keep others off whole zones.
import { recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import { handling } from '../handling.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';

export function hardAntiAffinity({ naming }: Pick<PluginParts, 'naming'>): AdmissionPlugin {
  const allowed = naming.resolve('{kubernetes}.io/hostname');
  return {
    name: 'LimitPodHardAntiAffinityTopology',
    sideEffects: false,
    handles: handling({ resource: 'pods', operations: ['CREATE', 'UPDATE'] }),
    validate(request, pod) {
      const terms = recordsAt(
        recordIn(pod, 'spec', 'affinity', 'podAntiAffinity'),
        'requiredDuringSchedulingIgnoredDuringExecution',
      );
      const other = terms.map((term) => textAt(term, 'topologyKey')).find((key) => key !== allowed);
      if (other === undefined) return;
      const text = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other}`;
      throw refusal(request, pod, `${text} but only key ${allowed} is allowed`);
    },
  };
}
