// The admission plugins that are on, in their order.
import { admissionChain } from '../../lib/admission/chain.ts';
import type { AdmissionChain } from '../../lib/admission/chain.ts';
import { measuredChain, measuredPlugin } from '../../lib/admission/measured.ts';
import type { AdmissionObserver } from '../../lib/admission/measured.ts';
import { namespaceLifecycle } from '../../lib/admission/plugins/namespace-lifecycle.ts';
import type { Scheme } from '../../lib/api/scheme.ts';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import { isSegment } from '../../lib/storage-etcd/keys.ts';
import type { Keyspace } from '../../lib/storage-etcd/keys.ts';
import type { Storage } from '../../lib/storage-etcd/storage.ts';

export interface AdmissionOptions {
  readonly scheme: Scheme;
  readonly storage: Storage;
  readonly keyspace: Keyspace;
  readonly cache: Cache;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly observer: AdmissionObserver;
}

export function defaultAdmission(options: AdmissionOptions): AdmissionChain {
  const { scheme, storage, keyspace, cache, naming, clock, observer } = options;
  const record = scheme.storedResources.find(
    ({ group, resource }) => group === '' && resource === 'namespaces',
  );
  if (record === undefined) return admissionChain([]); // a server that is told not to serve them
  const namespaces = cache.view(record);
  const plugins = [
    namespaceLifecycle({
      namespaces,
      async lookUp(name, signal) {
        if (!isSegment(name)) return undefined;
        const { item } = await storage.get(keyspace.key(record.storagePrefix, '', name), signal);
        return item === undefined ? undefined : namespaces.itemOf(item);
      },
      naming,
      clock,
    }),
  ];
  const measured = plugins.map((plugin) => measuredPlugin(plugin, observer));
  return measuredChain(admissionChain(measured), observer);
}
