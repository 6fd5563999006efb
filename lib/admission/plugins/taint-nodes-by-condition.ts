// TaintNodesByCondition: a new node takes no pods until somebody finds it ready.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { handling } from '../handling.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export function taintNodesByCondition({ naming }: Pick<PluginParts, 'naming'>): AdmissionPlugin {
  const key = naming.resolve('node.{kubernetes}.io/not-ready');
  const effect = 'NoSchedule';
  return {
    name: 'TaintNodesByCondition',
    sideEffects: false,
    handles: handling({ resource: 'nodes', operations: ['CREATE'] }),
    mutate(_request, node) {
      const spec = recordAt(node, 'spec') ?? {};
      const taints = recordsAt(spec, 'taints');
      const isKnown = taints.some(
        (taint) => textAt(taint, 'key') === key && textAt(taint, 'effect') === effect,
      );
      if (isKnown) return false;
      node['spec'] = { ...spec, taints: [...taints, { key, effect }] };
      return true;
    },
  };
}
