// The rules of admission that are objects of the API, as this replica knows them.
import { ruleSnapshot } from '../../lib/admission/concerning-rules.ts';
import type { RuleViews } from '../../lib/admission/concerning-rules.ts';
import { RulesInForce } from '../../lib/admission/in-force.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import type { ResourceView } from '../../lib/cacher/resource-view.ts';
import type { ResourceMap } from '../../lib/registry/resource-map.ts';
import { rulePlaces } from '../../lib/registry/rule-places.ts';
import type { Keyspace } from '../../lib/storage-etcd/keys.ts';
import type { Base } from './base.ts';

interface Of {
  readonly keyspace: Keyspace;
  readonly cache: Cache;
  readonly resources: ResourceMap;
}

/** undefined: there are none. */
export function openRules(
  base: Base,
  { keyspace, cache, resources }: Of,
): RulesInForce | undefined {
  const { scheme, metrics } = base;
  const views = ruleViews(base, cache);
  const namespaces = scheme.storedResource('', 'namespaces');
  const [view] = views?.webhooks ?? [];
  if (views === undefined || view === undefined) return undefined;
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
    rules: () => ruleSnapshot(views),
    placeOf: rulePlaces(keyspace.root, resources),
    labelsOf: (name) => namespaces && cache.view(namespaces).peek({ namespace: '', name })?.labels,
    onChanged: () => retries.value++,
  });
  beforeText.add(() => {
    revision.value = rules.revision;
    return Promise.resolve();
  });
  return rules;
}

type AllViews = Omit<RuleViews, 'webhooks'> & { readonly webhooks: readonly ResourceView[] };

function ruleViews({ scheme, naming }: Base, cache: Cache): AllViews | undefined {
  const group = naming.resolve('admissionregistration.{v}');
  const names = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];
  const sets = ['mutatingadmissionpolic', 'validatingadmissionpolic'];
  const viewOf = (name: string): ResourceView | undefined => {
    const record = scheme.storedResource(group, name);
    return record && cache.view(record);
  };
  const webhooks = names.map(viewOf).filter((view) => view !== undefined);
  const policies = sets.flatMap((name) => {
    const [all, bindings] = [viewOf(`${name}ies`), viewOf(`${name}ybindings`)];
    return all === undefined || bindings === undefined ? [] : [{ policies: all, bindings }];
  });
  return webhooks.length === 0 ? undefined : { webhooks, policies };
}
