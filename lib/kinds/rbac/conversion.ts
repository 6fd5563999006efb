// Bindings of roles: the first version names the version of a subject instead of its group.
import { without } from '../../api/json-value.ts';
import { eachIn } from '../../api/convert-fields.ts';
import type { Conversion, Conversions, Step } from '../../api/convert-fields.ts';
import { textAt } from '../../api/json-access.ts';
import { parseApiVersion } from '../../api/resource-records.ts';
import type { NamingProfile } from '../../api/vendor.ts';

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

/** Between the first version and the stable one, for one kind of binding. */
export const bindingConversions = (kind: string): Conversions => ({
  [`rbac/v1alpha1.${kind} > rbac/v1.${kind}`]: subjects(subjectToStable),
  [`rbac/v1.${kind} > rbac/v1alpha1.${kind}`]: subjects(subjectFromStable),
});
