// The rules of admission that are objects of the API, as the memory of one replica has them.
import { ruleSnapshot } from '../admission/concerning-rules.ts';
import type { RuleViews } from '../admission/concerning-rules.ts';
import { RulesInForce } from '../admission/in-force.ts';
import type { Scheme } from '../api/scheme.ts';
import type { Cache } from '../cacher/cache.ts';
import type { ResourceView } from '../cacher/resource-view.ts';
import type { Keyspace } from '../storage-etcd/keys.ts';
import type { ResourceMap } from './resource-map.ts';
import { rulePlaces } from './rule-places.ts';

export interface RulesOfApiOptions {
  readonly scheme: Scheme;
  readonly keyspace: Keyspace;
  readonly cache: Pick<Cache, 'view' | 'revisionOf'>;
  readonly resources: ResourceMap;
  /** A request is judged anew, since the rules have changed. */
  readonly onChanged: () => void;
}

/** undefined: there are none. */
export function rulesOfApi(options: RulesOfApiOptions): RulesInForce | undefined {
  const { keyspace, cache, resources, onChanged } = options;
  const viewOf = (group: string, name: string): ResourceView | undefined => {
    const { scheme } = options;
    const record = scheme.storedResource(scheme.profile.resolve(group), name);
    return record && cache.view(record);
  };
  const views = ruleViews((name) => viewOf('admissionregistration.{v}', name));
  const [first] = views.webhooks;
  if (first === undefined) return undefined;
  const nobody = { namespace: '', name: 'none' };
  const namespaces = viewOf('', 'namespaces');
  return new RulesInForce({
    // The transactions of all replicas, of every release, agree on its name.
    key: keyspace.internalKey('admission-rules'),
    revisionOf: (key) => cache.revisionOf(key),
    async proven(signal) {
      await first.configurations.get(nobody, { mode: 'latest' }, signal);
    },
    async reached(revision, signal) {
      await first.configurations.get(nobody, { mode: 'notOlderThan', revision }, signal);
    },
    rules: () => ruleSnapshot(views),
    placeOf: rulePlaces(keyspace.root, resources),
    labelsOf: (name) => namespaces?.peek({ namespace: '', name })?.labels,
    onChanged,
  });
}

const phases = [
  { prefix: 'mutating', isMutating: true },
  { prefix: 'validating', isMutating: false },
];

function ruleViews(viewOf: (name: string) => ResourceView | undefined): RuleViews<ResourceView> {
  return {
    webhooks: phases.flatMap(({ prefix, isMutating }) => {
      const configurations = viewOf(`${prefix}webhookconfigurations`);
      return configurations === undefined ? [] : [{ isMutating, configurations }];
    }),
    policies: phases.flatMap(({ prefix, isMutating }) => {
      const policies = viewOf(`${prefix}admissionpolicies`);
      const bindings = viewOf(`${prefix}admissionpolicybindings`);
      return policies && bindings ? [{ isMutating, policies, bindings }] : [];
    }),
  };
}
