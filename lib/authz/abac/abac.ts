// The mode ABAC: allows what a policy of the file allows, and has no opinion otherwise.
import type { User } from '../../base/user.ts';
import type { Attributes, Authorizer, Decision } from '../authorizer.ts';
import type { Policy } from './policy-file.ts';

const allowed: Decision = { effect: 'allow', reason: '' };
const noPolicy: Decision = { effect: 'noOpinion', reason: 'No policy matched.' };

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
const readable = [...readVerbs];
const every = ['*'];

export function abacAuthorizer(policies: readonly Policy[]): Authorizer {
  return {
    name: 'ABAC',
    authorize: (asked) => (policies.some((policy) => matches(policy, asked)) ? allowed : noPolicy),
    rulesFor(user, namespace) {
      const own = policies.filter(
        (policy) => isFor(policy, user) && fits(policy.namespace, namespace),
      );
      const verbsOf = (policy: Policy): readonly string[] => (policy.readonly ? readable : every);
      return {
        resourceRules: own
          .filter(({ resource }) => resource !== '')
          .map((policy) => ({
            verbs: verbsOf(policy),
            apiGroups: [policy.apiGroup],
            resources: [policy.resource],
            resourceNames: [],
          })),
        nonResourceRules: own
          .filter(({ nonResourcePath }) => nonResourcePath !== '')
          .map((policy) => ({
            verbs: verbsOf(policy),
            nonResourceURLs: [policy.nonResourcePath],
          })),
        incomplete: false,
        evaluationError: '',
      };
    },
  };
}

const matches = (policy: Policy, asked: Attributes): boolean =>
  isFor(policy, asked.user) &&
  (!policy.readonly || readVerbs.has(asked.verb)) &&
  (asked.isResourceRequest ? coversResource(policy, asked) : coversPath(policy, asked.path));

/** A policy that names a user and a group asks for both; one that names neither is nobody's. */
const isFor = ({ user, group }: Policy, { name, groups }: User): boolean =>
  (user !== '' || group !== '') &&
  (user === '' || user === name) &&
  (group === '' || groups.includes(group));

const coversResource = (policy: Policy, asked: Attributes): boolean =>
  fits(policy.namespace, asked.namespace) &&
  fits(policy.resource, asked.resource) &&
  fits(policy.apiGroup, asked.group);

const fits = (pattern: string, value: string): boolean => pattern === '*' || pattern === value;

function coversPath({ nonResourcePath }: Policy, path: string): boolean {
  if (nonResourcePath === '' || nonResourcePath === path) return nonResourcePath === path;
  return nonResourcePath.endsWith('*') && path.startsWith(nonResourcePath.replace(/\*+$/, ''));
}
