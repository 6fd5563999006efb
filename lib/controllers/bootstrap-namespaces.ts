// The namespaces that every cluster has: the first replica that starts creates the missing ones.
import type { NamingProfile } from '../api/vendor.ts';
import { StatusError } from '../base/status.ts';
import { serverUser } from '../base/user.ts';
import { internalClient } from '../registry/internal-client.ts';
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
  const client = internalClient(serverUser);
  for (const name of names) {
    if (namespaces.view.peek({ namespace: '', name }) !== undefined) continue;
    try {
      const object = { kind: 'Namespace', apiVersion: 'v1', metadata: { name } };
      await client.create(namespaces, { namespace: '', object }, signal);
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error;
    }
  }
}
