// The rules of admission that are objects of the API, as this replica knows them.
import { RulesInForce } from '../../lib/admission/in-force.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import type { Keyspace } from '../../lib/storage-etcd/keys.ts';
import type { Base } from './base.ts';

/** undefined: there are none. */
export function openRules(
  { scheme, naming, metrics }: Base,
  { keyspace, cache }: { readonly keyspace: Keyspace; readonly cache: Cache },
): RulesInForce | undefined {
  const group = naming.resolve('admissionregistration.{v}');
  const record = scheme.storedResource(group, 'validatingwebhookconfigurations');
  if (record === undefined) return undefined;
  const view = cache.view(record);
  const nobody = { namespace: '', name: 'none' };
  const { series, beforeText } = metrics;
  const retries = series.apiserver_admission_configuration_retries_total.child();
  const revision = series.apiserver_admission_configuration_revision.child();
  const rules = new RulesInForce({
    // The transactions of all replicas, of every release, agree on its name.
    key: keyspace.internalKey('admission-rules'),
    revisionOf: (key) => cache.revisionOf(key),
    async proven(signal) {
      await view.get(nobody, { mode: 'latest' }, signal);
    },
    onChanged: () => retries.value++,
  });
  beforeText.add(() => {
    revision.value = rules.revision;
    return Promise.resolve();
  });
  return rules;
}
