// Accepts definitions of custom resources, at every replica and as long as it runs.
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import { serverUser } from '../../lib/base/user.ts';
import type { QueueObserver } from '../../lib/controllers/controller.ts';
import { DefinitionAcceptance } from '../../lib/controllers/definitions/acceptance.ts';
import type { OwnWrites } from '../../lib/controllers/definitions/own-writes.ts';
import { internalClient } from '../../lib/registry/internal-client.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { Keyspace } from '../../lib/storage-etcd/keys.ts';
import type { Storage } from '../../lib/storage-etcd/storage.ts';

export interface AcceptDefinitionsOptions {
  readonly resources: ResourceMapHolder;
  readonly ownWrites: OwnWrites;
  readonly storage: Storage;
  readonly keyspace: Keyspace;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: QueueObserver;
}

/** The returned function resolves when nothing of it runs any more. */
export function acceptDefinitions(options: AcceptDefinitionsOptions): () => Promise<void> {
  const { resources, naming, logger: log } = options;
  const group = naming.resolve('apiextensions.{v}');
  const resource = 'customresourcedefinitions';
  const definitions = resources.current.find({ group, version: 'v1', resource });
  if (definitions === undefined) return () => Promise.resolve();
  const client = internalClient(serverUser);
  const acceptance = new DefinitionAcceptance({ ...options, definitions, client, log });
  const leaving = new AbortController();
  const running = acceptance.run(leaving.signal).catch((error: unknown) => {
    log.error('definitions of custom resources are not accepted any more', { error });
  });
  return async () => {
    leaving.abort(new Error('the server stops'));
    await running;
  };
}
