// NamespaceExists: objects are written and deleted only in namespaces that exist, by memory, then
// by the store.
import { whenThere } from '../../base/maybe-promise.ts';
import { notFound } from '../../base/status.ts';
import { findItem } from '../objects.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { isNamespace } from './namespace-lifecycle.ts';

export function namespaceExists(parts: Pick<PluginParts, 'objects'>): AdmissionPlugin | undefined {
  const namespaces = parts.objects('', 'namespaces');
  if (namespaces === undefined) return undefined;
  return {
    name: 'NamespaceExists',
    sideEffects: false,
    handles: (request) =>
      request.namespace !== '' && request.operation !== 'CONNECT' && !isNamespace(request),
    validate: ({ namespace: name }, _object, signal) =>
      whenThere(findItem(namespaces, { namespace: '', name }, signal), (found) => {
        if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, name);
      }),
  };
}
