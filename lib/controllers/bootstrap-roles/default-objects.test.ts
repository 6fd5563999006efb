// The default roles and bindings, in both spellings: by a digest of their own, and beside the facts
// about Kubernetes where those are at hand.
import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import type { NamingProfileName } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { defaultObjects } from './bootstrap-roles.ts';

interface Facts {
  readonly clusterRoles: readonly ApiObject[];
  readonly controllerClusterRoles: readonly ApiObject[];
  readonly roles: readonly ApiObject[];
  readonly clusterRoleBindings: readonly ApiObject[];
  readonly controllerClusterRoleBindings: readonly ApiObject[];
  readonly roleBindings: readonly ApiObject[];
  readonly featureGated: {
    readonly clusterRolesAdded: readonly ApiObject[];
    readonly clusterRoleRulesAdded: Readonly<Record<string, readonly JsonObject[]>>;
  };
}

const file = join(import.meta.dirname, '../../../../shared/api-facts/rbac-defaults.json');
const spellings: readonly NamingProfileName[] = ['svc', 'kubernetes'];
/** Of those that add roles or rules, this one alone is on unless somebody turns it off. */
const gatesUnset = (gate: string): boolean =>
  gate === 'KubeletServiceAccountTokenForCredentialProviders';
const gatesOn = (): boolean => true;

test.each<[NamingProfileName, string]>([
  ['svc', '9e69c7d5b6177ccd8e62acf9c204553da74c1d94bc411a7e006b4096a455f9bc'],
  ['kubernetes', '49302c4397f27a9616d2a73331ff710ec3a81409914e8a5c9df3971c47974d35'],
])('in the spelling of %s they are as they were', (name, digest) => {
  const objects = [gatesUnset, gatesOn].map((isOn) => defaultObjects(namingProfile(name), isOn));
  expect(createHash('sha256').update(JSON.stringify(objects)).digest('hex')).toBe(digest);
});

test.each([
  [
    'GenericWorkload',
    ['system:aggregate-to-edit', 'system:aggregate-to-view', 'system:svc-scheduler'],
  ],
  ['DRADeviceTaintRules', ['system:svc-scheduler']],
  ['ClusterTrustBundle', ['system:cluster-trust-bundle-discovery', 'system:node']],
  ['PodCertificateRequest', ['system:node']],
  ['AllBeta', []],
])('the gate %s changes %j', (gate, names) => {
  const naming = namingProfile('svc');
  const before = new Map(defaultObjects(naming, gatesUnset).map((one) => [keyOf(one), one]));
  const changed = defaultObjects(naming, (one) => gatesUnset(one) || one === gate).filter(
    (one) => JSON.stringify(one) !== JSON.stringify(before.get(keyOf(one))),
  );
  expect(changed.map(({ metadata }) => metadata?.name).sort()).toEqual(names);
});

/** Nobody who may edit can send traffic to addresses of their choice (CVE-2021-25740). */
test('no role of people writes Endpoints or EndpointSlices', () => {
  const roles = defaultObjects(namingProfile('kubernetes'), gatesOn).filter(({ metadata }) =>
    metadata?.name?.startsWith('system:aggregate-to-'),
  );
  const writes = roles.flatMap((role) =>
    recordsAt(role, 'rules').filter(
      ({ resources, verbs }) =>
        /"endpoint(s|slices)"/.test(JSON.stringify(resources)) &&
        !/^\["get","list","watch"\]$/.test(JSON.stringify(verbs)),
    ),
  );
  expect(roles).toHaveLength(3);
  expect(writes).toEqual([]);
});

(existsSync(file) ? describe : describe.skip)('beside the facts', () => {
  test.each(spellings)('in the spelling of %s they are those of Kubernetes', (name) => {
    const naming = namingProfile(name);
    const facts = JSON.parse(naming.resolve(readFileSync(file, 'utf8'))) as Facts;
    const { clusterRoles, controllerClusterRoles, roles } = facts;
    const { clusterRoleBindings, controllerClusterRoleBindings, roleBindings } = facts;
    const expected = [
      ...[clusterRoles, controllerClusterRoles, roles].flat(),
      ...[clusterRoleBindings, controllerClusterRoleBindings, roleBindings].flat(),
    ].map(ofFacts);
    const objects = defaultObjects(naming, gatesUnset).map(plain);
    expect(byName(objects)).toEqual(byName(expected));
    expect(objects).toHaveLength(expected.length);
  });

  test('and what gates add', () => {
    const naming = namingProfile('kubernetes');
    const facts = JSON.parse(naming.resolve(readFileSync(file, 'utf8'))) as Facts;
    const { clusterRolesAdded, clusterRoleRulesAdded } = facts.featureGated;
    const without = new Map(defaultObjects(naming, gatesUnset).map((one) => [keyOf(one), one]));
    const added = defaultObjects(naming, gatesOn).flatMap((object) => {
      const before = without.get(keyOf(object));
      const rules = recordsAt(object, 'rules');
      const had = new Set(recordsAt(before, 'rules').map((rule) => JSON.stringify(rule)));
      const more = rules.filter((rule) => !had.has(JSON.stringify(rule)));
      return more.length === 0 ? [] : [[object.metadata?.name, more] as const];
    });
    expect(Object.fromEntries(added)).toEqual({
      ...clusterRoleRulesAdded,
      ...Object.fromEntries(
        clusterRolesAdded.map((role) => [(role as JsonObject)['name'], role['rules']]),
      ),
    });
  });
});

const keyOf = ({ kind, metadata }: ApiObject): string =>
  `${String(kind)} ${String(metadata?.namespace)} ${String(metadata?.name)}`;

const byName = (objects: readonly JsonObject[]): JsonObject =>
  Object.fromEntries(
    objects.map((object) => {
      const kind = object['roleRef'] === null ? 'role' : 'binding';
      return [`${kind} ${textAt(object, 'namespace')}/${textAt(object, 'name')}`, object];
    }),
  );

const plain = ({ metadata, ...rest }: ApiObject): JsonObject => {
  const { name = '', namespace = '', labels = {}, annotations = {} } = metadata ?? {};
  const { rules = [], roleRef = null, subjects = [], aggregationRule = null } = rest;
  return { name, namespace, labels, annotations, rules, roleRef, subjects, aggregationRule };
};

const ofFacts = (fact: JsonObject): JsonObject => ({
  namespace: '',
  rules: [],
  roleRef: null,
  subjects: [],
  aggregationRule: null,
  ...fact,
});
