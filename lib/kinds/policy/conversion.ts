// Disruption budgets: in the beta an empty selector means something else.
import { within } from '../../api/convert-fields.ts';
import type { Conversion, Conversions } from '../../api/convert-fields.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';

// An empty selector of a disruption budget selects every pod, in the beta none. Either meaning has
// a text in the other version: whether pods carry a label that nothing carries.
const neverCarried = 'pdb.{kubernetes}.io/deprecated-v1beta1-empty-selector-match';

const selectorBy = (operator: 'Exists' | 'DoesNotExist', profile: NamingProfile): JsonObject => ({
  matchExpressions: [{ key: profile.resolve(neverCarried), operator }],
});

/** An `operator` in the old version stands for an empty selector in the new one. */
const budget =
  (empty: 'Exists' | 'DoesNotExist', full: 'Exists' | 'DoesNotExist'): Conversion =>
  (object, profile) =>
    within(object, ['spec'], (spec) =>
      within(spec, ['selector'], (selector) => {
        if (sameJson(selector, {})) return selectorBy(empty, profile);
        return sameJson(selector, selectorBy(full, profile)) ? {} : { ...selector };
      }),
    );

export const budgetConversions: Conversions = {
  'policy/v1beta1.PodDisruptionBudget > policy/v1.PodDisruptionBudget': budget(
    'Exists',
    'DoesNotExist',
  ),
  'policy/v1.PodDisruptionBudget > policy/v1beta1.PodDisruptionBudget': budget(
    'DoesNotExist',
    'Exists',
  ),
};
