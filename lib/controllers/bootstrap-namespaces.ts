// The namespaces that every cluster has: made at start where they are missing, by whichever replica
// comes first.
import type { NamingProfile } from '../api/vendor.ts';
import { StatusError } from '../base/status.ts';
import { serverUser } from '../base/user.ts';
import type { ResourceStore } from '../registry/resource-store.ts';

export async function bootstrapNamespaces(
  namespaces: ResourceStore,
  naming: NamingProfile,
  signal: AbortSignal,
): Promise<void> {
  const names = [
    'default',
    naming.systemNamespace,
    naming.publicNamespace,
    naming.nodeLeaseNamespace,
  ];
  for (const name of names) {
    if (namespaces.view.peek({ namespace: '', name }) !== undefined) continue;
    try {
      await namespaces.create({
        user: serverUser,
        warnings: [],
        signal,
        namespace: '',
        body: { object: { kind: 'Namespace', apiVersion: 'v1', metadata: { name } }, problems: [] },
        options: { dryRun: false, fieldManager: '', fieldValidation: 'Strict', force: undefined },
      });
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error;
    }
  }
}
