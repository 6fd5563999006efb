// The admission plugins that are on, in their order.
import { admissionChain } from '../../lib/admission/chain.ts';
import type { AdmissionChain } from '../../lib/admission/chain.ts';
import { measuredChain, measuredPlugin } from '../../lib/admission/measured.ts';
import type { AdmissionObserver } from '../../lib/admission/measured.ts';
import { namespaceLifecycle } from '../../lib/admission/plugins/namespace-lifecycle.ts';
import { podSecurity } from '../../lib/admission/plugins/pod-security.ts';
import type { PodSecurityObserver } from '../../lib/admission/plugins/pod-security.ts';
import { parsePodSecurityConfiguration } from '../../lib/admission/pod-security/configuration.ts';
import type { Scheme } from '../../lib/api/scheme.ts';
import type { ResourceInfo } from '../../lib/api/type-info.ts';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import type { Item } from '../../lib/cacher/resource-view.ts';
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
  readonly podSecurityObserver: PodSecurityObserver;
}

export function defaultAdmission(options: AdmissionOptions): AdmissionChain {
  const { scheme, storage, keyspace, cache, naming, clock, observer } = options;
  const recordOf = (name: string): ResourceInfo | undefined =>
    scheme.storedResources.find(({ group, resource }) => group === '' && resource === name);
  const record = recordOf('namespaces');
  if (record === undefined) return admissionChain([]); // a server that is told not to serve them
  const namespaces = cache.view(record);
  const lookUp = async (name: string, signal: AbortSignal): Promise<Item | undefined> => {
    if (!isSegment(name)) return undefined;
    const { item } = await storage.get(keyspace.key(record.storagePrefix, '', name), signal);
    return item === undefined ? undefined : namespaces.itemOf(item);
  };
  const plugins = [namespaceLifecycle({ namespaces, lookUp, naming, clock })];
  const podRecord = recordOf('pods');
  if (podRecord !== undefined) {
    plugins.push(
      podSecurity({
        namespaces,
        lookUp,
        pods: cache.view(podRecord),
        naming,
        clock,
        configuration: parsePodSecurityConfiguration(undefined, naming), // no file says more
        observer: options.podSecurityObserver,
      }),
    );
  }
  const measured = plugins.map((plugin) => measuredPlugin(plugin, observer));
  return measuredChain(admissionChain(measured), observer);
}
