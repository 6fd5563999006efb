// The policies of one kind with their bindings, as memory and files have them at this moment:
// nothing of them is kept beyond the objects that they are read from.
import { recordAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { inTurns } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { resourcesCriteria } from '../match/criteria.ts';
import type { Criteria } from '../match/criteria.ts';
import { MatchIndex } from '../match/match-index.ts';
import type { PluginParts } from '../plugin-parts.ts';
import type { ServedResources } from '../served-resources.ts';
import type { StaticManifest } from '../static-manifests.ts';

export interface Policy {
  readonly name: string;
  readonly spec: Readonly<JsonObject>;
  readonly criteria: Criteria;
  /** `failurePolicy: Ignore`. */
  readonly failsOpen: boolean;
  /** undefined: it has no parameters. */
  readonly paramKind: Readonly<JsonObject> | undefined;
}

export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly criteria: Criteria;
  readonly paramRef: Readonly<JsonObject> | undefined;
  /** `Deny`, `Warn`, `Audit`; a binding of a mutating policy has none. */
  readonly actions: readonly string[];
}

/** A policy that is in force, for it has a binding. */
export interface BoundPolicy {
  readonly policy: Policy;
  readonly bindings: MatchIndex<Binding>;
}

export type BoundPolicies = MatchIndex<BoundPolicy>;

/** What behaves as items of a view do: the same list until something changes. */
type Configured = readonly StaticManifest[];

export interface PolicyResources {
  readonly policies: string;
  readonly bindings: string;
}

export interface PolicySets {
  /** Those of files, and then those of the API. @throws StatusError 429 until memory is filled. */
  all(): MaybePromise<readonly BoundPolicies[]>;
  /** What also sees requests about the configurations themselves. */
  ofFiles(): MaybePromise<readonly BoundPolicies[]>;
}

const group = 'admissionregistration.{v}';

export function policySets(
  { objects, manifests, served }: Pick<PluginParts, 'objects' | 'manifests' | 'served'>,
  resources: PolicyResources,
): PolicySets {
  const policies = objects(group, resources.policies)?.view;
  const bindings = objects(group, resources.bindings)?.view;
  const fromApi = new Bound(served);
  const fromFiles = new Bound(served);
  const ofApi = (): MaybePromise<BoundPolicies> =>
    fromApi.of(policies?.all() ?? none, bindings?.all() ?? none);
  const ofFiles = (): MaybePromise<BoundPolicies> =>
    fromFiles.of(manifests.of(resources.policies), manifests.of(resources.bindings));
  return {
    all() {
      const [files, api] = [ofFiles(), ofApi()];
      const isThere = files instanceof MatchIndex && api instanceof MatchIndex;
      return isThere ? [files, api] : bothThere(files, api);
    },
    ofFiles: () => whenThere(ofFiles(), (files) => [files]),
  };
}

const none: Configured = [];

async function bothThere(
  files: MaybePromise<BoundPolicies>,
  api: MaybePromise<BoundPolicies>,
): Promise<readonly BoundPolicies[]> {
  return [await files, await api];
}

/** Policies joined with their bindings, once for each state of both. */
class Bound {
  readonly #served: ServedResources;
  readonly #policies = new WeakMap<StaticManifest, Policy>();
  readonly #bindings = new WeakMap<StaticManifest, Binding>();
  #known:
    { policies: Configured; bindings: Configured; joined: MaybePromise<BoundPolicies> } | undefined;

  constructor(served: ServedResources) {
    this.#served = served;
  }

  of(policies: Configured, bindings: Configured): MaybePromise<BoundPolicies> {
    let known = this.#known;
    if (known?.policies === policies && known.bindings === bindings) return known.joined;
    const joined = inTurns(this.#join(policies, bindings));
    this.#known = known = { policies, bindings, joined };
    if (joined instanceof Promise) this.#keepWhenThere(known, joined);
    return joined;
  }

  #keepWhenThere(
    known: { joined: MaybePromise<BoundPolicies> },
    joined: Promise<BoundPolicies>,
  ): void {
    const forget = (): void => {
      if (this.#known === known) this.#known = undefined;
    };
    joined.then((set) => (known.joined = set), forget);
  }

  *#join(policies: Configured, bindings: Configured): Steps<BoundPolicies> {
    const byPolicy = new Map<string, Binding[]>();
    for (const item of bindings) {
      if (item.corrupted) continue;
      const binding = readOnce(item, this.#bindings, readBinding);
      const others = byPolicy.get(binding.policyName);
      if (others === undefined) byPolicy.set(binding.policyName, [binding]);
      else others.push(binding);
      yield stepsOfOne;
    }
    const bound: BoundPolicy[] = [];
    for (const item of policies) {
      const own = byPolicy.get(item.name);
      if (own === undefined || item.corrupted) continue;
      const policy = readOnce(item, this.#policies, readPolicy);
      bound.push({ policy, bindings: new MatchIndex(own, criteriaOf, this.#served) });
      yield stepsOfOne;
    }
    return new MatchIndex(bound, ({ policy }) => policy.criteria, this.#served);
  }
}

/** Microseconds that reading one object takes when it was not read before. */
const stepsOfOne = 16;

const criteriaOf = ({ criteria }: Binding): Criteria => criteria;

function readOnce<Read>(
  item: StaticManifest,
  known: WeakMap<StaticManifest, Read>,
  read: (name: string, spec: Readonly<JsonObject>) => Read,
): Read {
  const found = known.get(item);
  if (found !== undefined) return found;
  const made = read(item.name, recordAt(item.object(), 'spec') ?? {});
  known.set(item, made);
  return made;
}

const readPolicy = (name: string, spec: Readonly<JsonObject>): Policy => ({
  name,
  spec,
  criteria: resourcesCriteria(recordAt(spec, 'matchConstraints')),
  failsOpen: textAt(spec, 'failurePolicy') === 'Ignore',
  paramKind: recordAt(spec, 'paramKind'),
});

const readBinding = (name: string, spec: Readonly<JsonObject>): Binding => ({
  name,
  policyName: textAt(spec, 'policyName'),
  criteria: resourcesCriteria(recordAt(spec, 'matchResources')),
  paramRef: recordAt(spec, 'paramRef'),
  actions: textsAt(spec, 'validationActions'),
});
