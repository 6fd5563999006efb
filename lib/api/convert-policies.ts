// Policies of several groups whose older versions mean something else by the same text, or say the
// same in other fields: disruption budgets, priority levels, subjects of role bindings.
import {
  annotated,
  annotationOf,
  eachIn,
  hasValue,
  renamed,
  within,
  without,
} from './convert-fields.ts';
import type { Conversion, Conversions, Step } from './convert-fields.ts';
import { recordIn, textAt } from './json-access.ts';
import { sameJson } from './json-equal.ts';
import { parseApiVersion } from './resource-records.ts';
import type { JsonObject } from './type-info.ts';
import type { NamingProfile } from './vendor.ts';

// An empty selector of a disruption budget selects every pod, in the beta none. Either meaning has
// a text in the other version: whether pods carry a label that nothing carries.
const neverCarried = 'pdb.{kubernetes}.io/deprecated-v1beta1-empty-selector-match';

const selectorBy = (operator: 'Exists' | 'DoesNotExist', profile: NamingProfile): JsonObject => ({
  matchExpressions: [{ key: profile.resolve(neverCarried), operator }],
});

/** `operator` says in the old version what an empty selector says in the new one. */
const budget =
  (empty: 'Exists' | 'DoesNotExist', full: 'Exists' | 'DoesNotExist'): Conversion =>
  (object, profile) =>
    within(object, ['spec'], (spec) =>
      within(spec, ['selector'], (selector) => {
        if (sameJson(selector, {})) return selectorBy(empty, profile);
        return sameJson(selector, selectorBy(full, profile)) ? {} : { ...selector };
      }),
    );

const preserveZero = 'flowcontrol.{v}/v1beta3-preserve-zero-concurrency-shares';
const sharesPath = ['spec', 'limited'] as const;

/** Zero shares are none given, unless an annotation says that they are meant. */
const sharesToStable =
  (oldName: string): Conversion =>
  (object, profile) => {
    const annotation = profile.resolve(preserveZero);
    const isMeant = annotationOf(object, annotation) !== undefined;
    const changed = within(object, sharesPath, (limited) => {
      const renamedShares = renamed(limited, { [oldName]: 'nominalConcurrencyShares' });
      const isGiven = isMeant || hasValue(renamedShares, 'nominalConcurrencyShares');
      if (!isGiven) return without(renamedShares, 'nominalConcurrencyShares');
      return {
        ...renamedShares,
        nominalConcurrencyShares: renamedShares['nominalConcurrencyShares'] ?? 0,
      };
    });
    return isMeant ? annotated(changed, { [annotation]: undefined }) : changed;
  };

const sharesFromStable =
  (oldName: string): Conversion =>
  (object, profile) => {
    const changed = within(object, sharesPath, (limited) =>
      renamed(limited, { nominalConcurrencyShares: oldName }),
    );
    const isZero = recordIn(object, ...sharesPath)?.['nominalConcurrencyShares'] === 0;
    return isZero ? annotated(changed, { [profile.resolve(preserveZero)]: '' }) : changed;
  };

const roleGroup = 'rbac.authorization.{v}';

/** The first version named the version of a subject instead of its group. */
const subjectToStable =
  (profile: NamingProfile): Step =>
  (subject) => {
    const kind = textAt(subject, 'kind');
    const rest = without(subject, 'apiVersion');
    const { group } = parseApiVersion(textAt(subject, 'apiVersion'));
    const isPerson = kind === 'User' || kind === 'Group';
    const apiGroup = kind === 'ServiceAccount' ? '' : isPerson ? profile.resolve(roleGroup) : group;
    if (kind === 'User' && textAt(subject, 'name') === '*') {
      return { ...rest, kind: 'Group', apiGroup, name: 'system:authenticated' };
    }
    return apiGroup === '' ? rest : { ...rest, apiGroup };
  };

const subjectFromStable =
  (profile: NamingProfile): Step =>
  (subject) => {
    const kind = textAt(subject, 'kind');
    const rest = without(subject, 'apiGroup');
    if (kind === 'ServiceAccount') return { ...rest, apiVersion: 'v1' };
    const group = textAt(subject, 'apiGroup');
    const isOurs = group === profile.resolve(roleGroup);
    return group === ''
      ? rest
      : { ...rest, apiVersion: isOurs ? `${group}/v1alpha1` : `${group}/v1` };
  };

const subjects =
  (step: (profile: NamingProfile) => Step): Conversion =>
  (object, profile) =>
    eachIn(object, 'subjects', step(profile));

const levels = (version: string, oldName: string): Conversions => {
  const old = `flowcontrol/${version}.PriorityLevelConfiguration`;
  const stable = 'flowcontrol/v1.PriorityLevelConfiguration';
  return {
    [`${old} > ${stable}`]: sharesToStable(oldName),
    [`${stable} > ${old}`]: sharesFromStable(oldName),
  };
};

const bindings = (kind: string): Conversions => ({
  [`rbac/v1alpha1.${kind} > rbac/v1.${kind}`]: subjects(subjectToStable),
  [`rbac/v1.${kind} > rbac/v1alpha1.${kind}`]: subjects(subjectFromStable),
});

export const policyConversions: Conversions = {
  'policy/v1beta1.PodDisruptionBudget > policy/v1.PodDisruptionBudget': budget(
    'Exists',
    'DoesNotExist',
  ),
  'policy/v1.PodDisruptionBudget > policy/v1beta1.PodDisruptionBudget': budget(
    'DoesNotExist',
    'Exists',
  ),
  ...levels('v1beta1', 'assuredConcurrencyShares'),
  ...levels('v1beta2', 'assuredConcurrencyShares'),
  ...levels('v1beta3', 'nominalConcurrencyShares'),
  ...bindings('RoleBinding'),
  ...bindings('ClusterRoleBinding'),
};
