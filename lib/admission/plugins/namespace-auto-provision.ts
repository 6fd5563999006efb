// NamespaceAutoProvision: the first object in a namespace makes the namespace. A dry run makes
// none.
import { whenThere } from '../../base/maybe-promise.ts';
import { StatusError } from '../../base/status.ts';
import { findItem } from '../objects.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { isNamespace } from './namespace-lifecycle.ts';

export function namespaceAutoProvision({
  objects,
  create,
}: Pick<PluginParts, 'objects' | 'create'>): AdmissionPlugin | undefined {
  const namespaces = objects('', 'namespaces');
  if (namespaces === undefined) return undefined;
  return {
    name: 'NamespaceAutoProvision',
    // Nothing is made in a dry run.
    sideEffects: false,
    handles: (request) =>
      request.operation === 'CREATE' &&
      request.namespace !== '' &&
      !request.dryRun &&
      !isNamespace(request),
    mutate: ({ namespace: name }, _object, signal) =>
      whenThere(findItem(namespaces, { namespace: '', name }, signal), async (found) => {
        if (found !== undefined) return false;
        try {
          await create(
            { group: '', version: 'v1', resource: 'namespaces' },
            { kind: 'Namespace', apiVersion: 'v1', metadata: { name } },
            signal,
          );
        } catch (error) {
          if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error;
        }
        return false;
      }),
  };
}
