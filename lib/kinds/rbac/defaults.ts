// Defaults of the subjects of role bindings: users and groups live in the group of roles.
import type { DefaultRule, DefaultRules } from '../../api/default-rule.ts';
import { isZero } from '../../api/presence.ts';

const group = 'rbac.authorization.{v}';

const subject: DefaultRule = {
  version: 1,
  complete(object, { profile }) {
    if (!isZero(object['apiGroup'])) return;
    if (object['kind'] === 'User' || object['kind'] === 'Group') {
      object['apiGroup'] = profile.resolve(group);
    }
  },
};

/** The oldest version names the subject's version instead of its group. */
const subjectWithVersion: DefaultRule = {
  version: 1,
  complete(object, { profile }) {
    if (!isZero(object['apiVersion'])) return;
    if (object['kind'] === 'ServiceAccount') object['apiVersion'] = 'v1';
    if (object['kind'] === 'User' || object['kind'] === 'Group') {
      object['apiVersion'] = `${profile.resolve(group)}/v1alpha1`;
    }
  },
};

export const subjectDefaults: DefaultRules = {
  'rbac/v1.Subject': subject,
  'rbac/v1beta1.Subject': subject,
  'rbac/v1alpha1.Subject': subjectWithVersion,
};
