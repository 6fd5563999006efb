// PodTopologyLabels: a pod that comes to a node says by labels in which zone and region that is.
// The labels of a Binding reach the pod when it is bound.
import { entriesAt, recordAt, recordIn, textAt } from '../../api/json-access.ts';
import { setMember } from '../../api/json-value.ts';
import { ensureRecord } from '../../api/default-rule.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { metaOf } from '../../codec/object-meta.ts';
import { handling } from '../handling.ts';
import { findObject } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export function podTopologyLabels({
  naming,
  gates,
  objects,
}: Pick<PluginParts, 'naming' | 'gates' | 'objects'>): AdmissionPlugin | undefined {
  const nodes = objects('', 'nodes');
  if (nodes === undefined || !gates.isEnabled('PodTopologyLabelsAdmission')) return undefined;
  const keys = ['zone', 'region'].map((name) => naming.resolve(`topology.{kubernetes}.io/${name}`));
  return {
    name: 'PodTopologyLabels',
    sideEffects: false,
    handles: handling({
      resource: 'pods',
      operations: ['CREATE'],
      subresources: ['', 'binding'],
    }),
    mutate(request, object, signal) {
      const name = nodeOf(request, object);
      if (name === '') return false;
      // A pod may be there before its node is.
      return whenThere(findObject(nodes, { namespace: '', name }, signal), (node) => {
        const given = entriesAt(recordIn(node, 'metadata'), 'labels');
        let isChanged = false;
        for (const [key, value] of given) {
          if (!keys.includes(key)) continue;
          const labels = ensureRecord(metaOf(object), 'labels');
          if (labels[key] === value) continue;
          setMember(labels, key, value);
          isChanged = true;
        }
        return isChanged;
      });
    },
  };
}

/** '': it comes to no node. */
function nodeOf({ subresource }: AdmissionRequest, object: Readonly<ApiObject>): string {
  if (subresource === '') return textAt(recordAt(object, 'spec'), 'nodeName');
  const target = recordAt(object, 'target');
  return textAt(target, 'kind') === 'Node' ? textAt(target, 'name') : '';
}
