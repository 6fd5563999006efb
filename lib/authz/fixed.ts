// What needs no policy: masters may do everything, and some paths are for everybody, for all who
// are known, or for those who watch over the server. And the modes that allow or refuse everything.
import type { Attributes, Authorizer, Decision, ResolvedRules } from './authorizer.ts';
import { authenticatedGroup, mastersGroup, monitoringGroup } from '../base/user.ts';
import type { User } from '../base/user.ts';

const readVerbs: ReadonlySet<string> = new Set(['get', 'head']);
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

interface PathRule {
  /** undefined: everybody. */
  readonly group: string | undefined;
  /** One with `*` at its end is of all paths that begin so. */
  readonly paths: readonly string[];
}

/** The paths of the default roles public-info-viewer, discovery and monitoring. */
const pathRules: readonly PathRule[] = [
  { group: undefined, paths: ['/healthz', '/livez', '/readyz', '/version', '/version/'] },
  {
    group: authenticatedGroup,
    paths: ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'],
  },
  {
    group: monitoringGroup,
    paths: [
      '/flagz',
      '/healthz/*',
      '/livez/*',
      '/metrics',
      '/metrics/slis',
      '/readyz/*',
      '/statusz',
    ],
  },
];

export const pathsAuthorizer: Authorizer = {
  name: 'paths',
  authorize: (attributes) =>
    !attributes.isResourceRequest &&
    readVerbs.has(attributes.verb) &&
    pathRules.some((rule) => isFor(rule, attributes.user) && covers(rule, attributes))
      ? allowed
      : noOpinion,
};

const isFor = ({ group }: PathRule, { groups }: User): boolean =>
  group === undefined || groups.includes(group);

const covers = ({ paths }: PathRule, { path }: Attributes): boolean =>
  paths.some((one) => (one.endsWith('*') ? path.startsWith(one.slice(0, -1)) : path === one));
