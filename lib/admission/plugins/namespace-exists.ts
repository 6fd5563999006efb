// NamespaceExists: objects are written and deleted only in namespaces that exist, by memory, then
// by the store.
import { whenThere } from '../../base/maybe-promise.ts';
import { notFound } from '../../base/status.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export function namespaceExists(parts: Pick<PluginParts, 'objects'>): AdmissionPlugin | undefined {
  const namespaces = parts.objects('', 'namespaces');
  if (namespaces === undefined) return undefined;
  return {
    name: 'NamespaceExists',
    sideEffects: false,
    handles: ({ namespace, operation }) => namespace !== '' && operation !== 'CONNECT',
    validate({ namespace: name }, _object, signal) {
      const key = { namespace: '', name };
      const known: Item | undefined = namespaces.view.peek(key);
      return whenThere(known ?? namespaces.lookUp(key, signal), (found) => {
        if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, name);
      });
    },
  };
}
