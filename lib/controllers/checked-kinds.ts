// The kinds that a policy is checked against: those of its rules that name them, and that of its
// parameters, as they are served at this moment.
import { recordAt, recordIn, recordsAt, textAt, textsAt } from '../api/json-access.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { sortUtf8 } from '../base/utf8-order.ts';
import { schemaGeneration } from '../codec/stored-form.ts';
import type { ResourceMap } from '../registry/resource-map.ts';
import type { Types } from './checked-types.ts';

export interface PolicyKinds {
  /** In the order of their names. */
  readonly kinds: readonly ResourceInfo[];
  /** undefined: it has no parameters, or of a kind that is not served. */
  readonly params: ResourceInfo | undefined;
  /** Fingerprints of all of them. */
  readonly types: Types;
  /** All groups that the policy names. */
  readonly groups: ReadonlySet<string>;
  /** Whether the policy names one that is served no more; `types` are those of some time ago. */
  namesGone(types: Types): boolean;
}

/** Served with a type; by its group. */
interface Served {
  readonly of: readonly unknown[];
  readonly byGroup: ReadonlyMap<string, readonly ResourceInfo[]>;
}

export class CheckedKinds {
  readonly #resources: Pick<ResourceMap, 'all'>;
  #served: Served | undefined;

  constructor(resources: Pick<ResourceMap, 'all'>) {
    this.#resources = resources;
  }

  of(policy: Readonly<JsonObject>): PolicyKinds {
    const served = this.#servedNow();
    const rules = namedRules(policy);
    const kinds = kindsOf(rules, served);
    const paramKind = recordIn(policy, 'spec', 'paramKind');
    const apiVersion = textAt(paramKind, 'apiVersion');
    const paramGroup = apiVersion.slice(0, Math.max(apiVersion.indexOf('/'), 0));
    const isParam = ({ group, version, kind }: Named): boolean =>
      apiVersionOf({ group, version }) === apiVersion && kind === textAt(paramKind, 'kind');
    const params = served.byGroup.get(paramGroup)?.find((one) => isParam(namedAs(one)));
    const all = params === undefined ? kinds : [...kinds, params];
    return {
      kinds,
      params,
      types: new Map(all.map((one) => [nameOf(one), schemaGeneration(one)])),
      groups: new Set([paramGroup, ...rules.flatMap(({ groups }) => [...groups])]),
      namesGone: (types) =>
        types.keys().some((name) => {
          const [group = '', version = '', resource = '', kind = ''] = name.split('/');
          const named = { group, version, resource, kind };
          if (!isParam(named) && !rules.some((rule) => isOf(rule, named))) return false;
          return served.byGroup.get(group)?.some((one) => nameOf(one) === name) !== true;
        }),
    };
  }

  #servedNow(): Served {
    const { all } = this.#resources;
    if (this.#served?.of === all) return this.#served;
    const byGroup = Map.groupBy(
      all.map(({ resource }) => resource),
      ({ group }) => group,
    );
    return (this.#served = { of: all, byGroup });
  }
}

interface Named {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** The name of the kind alone. */
  readonly kind: string;
}

const namedAs = ({ group, version, resource, kind }: ResourceInfo): Named => ({
  group,
  version,
  resource,
  kind: kind.kind,
});

function nameOf(of: ResourceInfo): string {
  const { group, version, resource, kind } = namedAs(of);
  return [group, version, resource, kind].join('/');
}

interface Rule {
  readonly groups: ReadonlySet<string>;
  readonly versions: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
}

/** Rules with a star say nothing about types. */
function namedRules(policy: Readonly<JsonObject>): readonly Rule[] {
  const rules: Rule[] = [];
  const constraints = recordAt(recordAt(policy, 'spec'), 'matchConstraints');
  for (const rule of recordsAt(constraints, 'resourceRules')) {
    const [groups, versions, resources] = ['apiGroups', 'apiVersions', 'resources'].map(
      (name) => new Set(textsAt(rule, name)),
    );
    if (groups === undefined || versions === undefined || resources === undefined) continue;
    if (!groups.has('*') && !versions.has('*')) rules.push({ groups, versions, resources });
  }
  return rules;
}

/** Names of subresources, and with stars, are those of no resource. */
const isOf = (rule: Rule, { group, version, resource }: Omit<Named, 'kind'>): boolean =>
  rule.groups.has(group) && rule.versions.has(version) && rule.resources.has(resource);

/** The first so many, by rule and by the order of their names. */
function kindsOf(rules: readonly Rule[], { byGroup }: Served): readonly ResourceInfo[] {
  const found = new Map<string, ResourceInfo>();
  for (const rule of rules) {
    const ofRule = new Map<string, ResourceInfo>();
    for (const group of rule.groups) {
      for (const resource of byGroup.get(group) ?? []) {
        if (isOf(rule, resource)) ofRule.set(nameOf(resource), resource);
      }
    }
    for (const name of sortUtf8([...ofRule.keys()])) {
      const resource = ofRule.get(name);
      if (resource === undefined || found.size === limits.typeCheckedKindsMax) continue;
      const { group, version, kind } = resource.kind;
      found.set(`${group}\0${version}\0${kind}`, resource);
    }
  }
  const keys = sortUtf8([...found.keys()]);
  return keys.map((key) => found.get(key)).filter((resource) => resource !== undefined);
}
