// Roles and bindings: rules about resources or about paths, and subjects by kind.
import { listAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

export const validateRole: Validator = (write) => {
  validateRules(write, { isNamespaced: true });
};

export const validateClusterRole: Validator = (write) => {
  validateRules(write, { isNamespaced: false });
  const aggregation = recordAt(write.object, 'aggregationRule');
  const selectors = recordsAt(aggregation, 'clusterRoleSelectors');
  if (aggregation !== undefined && selectors.length === 0) {
    const detail = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
    write.errors.required('aggregationRule.clusterRoleSelectors', detail);
  }
  for (const [at, selector] of selectors.entries()) {
    const path = `aggregationRule.clusterRoleSelectors[${String(at)}]`;
    if (validateLabelSelector(selector, path, write.errors)) continue;
    write.errors.invalid(path, null, 'invalid label selector.');
  }
};

function validateRules(
  { object, errors }: ValidatedWrite,
  { isNamespaced }: { readonly isNamespaced: boolean },
): void {
  for (const [at, rule] of recordsAt(object, 'rules').entries()) {
    const path = `rules[${String(at)}]`;
    const has = (name: string): boolean => listAt(rule, name).length > 0;
    if (has('nonResourceURLs')) {
      const urls = textsAt(rule, 'nonResourceURLs');
      if (isNamespaced) {
        const detail = 'namespaced rules cannot apply to non-resource URLs';
        errors.invalid(`${path}.nonResourceURLs`, urls, detail);
      }
      if (has('apiGroups') || has('resources') || has('resourceNames')) {
        const detail = 'rules cannot apply to both regular resources and non-resource URLs';
        errors.invalid(`${path}.nonResourceURLs`, urls, detail);
      }
      continue;
    }
    if (!has('apiGroups')) {
      errors.required(`${path}.apiGroups`, 'resource rules must supply at least one api group');
    }
    if (!has('resources')) {
      errors.required(`${path}.resources`, 'resource rules must supply at least one resource');
    }
  }
}

export const validateRoleBinding: Validator = (write) => {
  validateBinding(write, { kinds: ['Role', 'ClusterRole'], needsNamespace: false });
};

export const validateClusterRoleBinding: Validator = (write) => {
  validateBinding(write, { kinds: ['ClusterRole'], needsNamespace: true });
};

function validateBinding(
  write: ValidatedWrite,
  {
    kinds,
    needsNamespace,
  }: { readonly kinds: readonly string[]; readonly needsNamespace: boolean },
): void {
  const { object, old, errors, naming } = write;
  const group = naming.resolve('rbac.authorization.{v}');
  const role = recordAt(object, 'roleRef');
  if (textAt(role, 'apiGroup') !== group) {
    errors.notSupported('roleRef.apiGroup', textAt(role, 'apiGroup'), [group]);
  }
  if (!kinds.includes(textAt(role, 'kind'))) {
    errors.notListed('roleRef.kind', textAt(role, 'kind'), kinds);
  }
  for (const [at, subject] of recordsAt(object, 'subjects').entries()) {
    validateSubject(subject, `subjects[${String(at)}]`, { group, needsNamespace }, write);
  }
  if (old === undefined || sameJson(role, recordAt(old, 'roleRef'))) return;
  const [APIGroup, Kind, Name] = ['apiGroup', 'kind', 'name'].map((name) => textAt(role, name));
  errors.invalid('roleRef', { APIGroup, Kind, Name }, 'cannot change roleRef');
}

function validateSubject(
  subject: JsonObject,
  path: string,
  needs: { readonly group: string; readonly needsNamespace: boolean },
  { errors }: ValidatedWrite,
): void {
  const kind = textAt(subject, 'kind');
  const group = textAt(subject, 'apiGroup');
  const name = textAt(subject, 'name');
  if (kind === 'ServiceAccount') {
    if (name !== '') errors.problems(`${path}.name`, name, dns1123SubdomainProblems(name));
    if (group !== '') errors.notSupported(`${path}.apiGroup`, group, ['']);
    if (needs.needsNamespace && textAt(subject, 'namespace') === '') {
      errors.required(`${path}.namespace`);
    }
    return;
  }
  if (kind !== 'User' && kind !== 'Group') {
    errors.notListed(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']);
    return;
  }
  if (group !== needs.group) errors.notSupported(`${path}.apiGroup`, group, [needs.group]);
}
