// What holds before any policy: masters may do everything, and some paths are for everybody where
// the operator says so. And the modes that allow or refuse everything.
import type { Authorizer, Decision, ResolvedRules } from './authorizer.ts';
import { mastersGroup } from '../base/user.ts';

const allowed: Decision = { effect: 'allow', reason: '' };
const noOpinion: Decision = { effect: 'noOpinion', reason: '' };

/** The group that needs no policy (Kubernetes' break-glass group). */
export const mastersAuthorizer: Authorizer = {
  name: 'masters',
  authorize: (attributes) => (attributes.user.groups.includes(mastersGroup) ? allowed : noOpinion),
};

const every = ['*'];
const noRules: ResolvedRules = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: false,
  evaluationError: '',
};

/** The mode `AlwaysAllow`. */
export const allowAuthorizer: Authorizer = {
  name: 'AlwaysAllow',
  authorize: () => allowed,
  rulesFor: () => ({
    ...noRules,
    resourceRules: [{ verbs: every, apiGroups: every, resources: every, resourceNames: [] }],
    nonResourceRules: [{ verbs: every, nonResourceURLs: every }],
  }),
};

const everythingForbidden: Decision = { effect: 'noOpinion', reason: 'Everything is forbidden.' };

/** The mode `AlwaysDeny`: it has no opinion, so one beside it may still allow, as upstream. */
export const denyAuthorizer: Authorizer = {
  name: 'AlwaysDeny',
  authorize: () => everythingForbidden,
  rulesFor: () => noRules,
};

/**
 * Allows every verb on these paths to everybody; one with `*` at its end is of all that begin so. A
 * slash at the beginning says nothing.
 * @throws Error for a `*` elsewhere.
 */
export function openPathsAuthorizer(paths: readonly string[]): Authorizer {
  const trimmed = paths.map(withoutSlash);
  const misplaced = trimmed.find((path) => path.slice(0, -1).includes('*'));
  if (misplaced !== undefined) throw new Error(`only trailing * allowed in "${misplaced}"`);
  const prefixes = trimmed.filter((path) => path.endsWith('*')).map((path) => path.slice(0, -1));
  const whole = new Set(trimmed.filter((path) => !path.endsWith('*')));
  return {
    name: 'paths',
    authorize({ isResourceRequest, path }) {
      if (isResourceRequest) return noOpinion;
      const asked = withoutSlash(path);
      const isOpen = whole.has(asked) || prefixes.some((prefix) => asked.startsWith(prefix));
      return isOpen ? allowed : noOpinion;
    },
  };
}

const withoutSlash = (path: string): string => path.replace(/^\//, '');
