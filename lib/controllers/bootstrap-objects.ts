// The objects that every cluster has: a replica that starts creates the missing ones.
import { apiVersionOf } from '../api/type-info.ts';
import { StatusError } from '../base/status.ts';
import { serverUser } from '../base/user.ts';
import type { ApiObject } from '../codec/codec.ts';
import { systemPriorityClasses } from '../kinds/scheduling/system-priority-classes.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';

export async function bootstrapPriorityClasses(
  priorityClasses: ResourceStore,
  signal: AbortSignal,
): Promise<void> {
  const client = internalClient(serverUser);
  for (const { name, ...members } of systemPriorityClasses) {
    await createMissing(priorityClasses, { name, members }, client, signal);
  }
}

interface NewObject {
  readonly name: string;
  readonly members?: Omit<ApiObject, 'kind' | 'apiVersion' | 'metadata'>;
}

/** A cluster-scoped object, unless there is one of its name. */
export async function createMissing(
  store: ResourceStore,
  { name, members }: NewObject,
  client: InternalClient,
  signal: AbortSignal,
): Promise<void> {
  if (store.view.peek({ namespace: '', name }) !== undefined) return;
  const { kind } = store.resource;
  const typeMeta = { kind: kind.kind, apiVersion: apiVersionOf(kind) };
  try {
    const object = { ...typeMeta, metadata: { name }, ...members };
    await client.create(store, { namespace: '', object }, signal);
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error;
  }
}
