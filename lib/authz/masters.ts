// What holds before any policy: masters may do everything; everybody may see health and version.
import type { Attributes, Authorizer, Decision } from './authorizer.ts';
import { mastersGroup } from '../base/user.ts';

/** The group that needs no policy (Kubernetes' break-glass group). */
const openPaths: ReadonlySet<string> = new Set(['/livez', '/readyz', '/healthz', '/version']);
const readVerbs: ReadonlySet<string> = new Set(['get', 'head']);
const allowed: Decision = { effect: 'allow', reason: '' };
const noOpinion: Decision = { effect: 'noOpinion', reason: '' };

export const mastersAuthorizer: Authorizer = {
  name: 'masters',
  authorize: (attributes) => (attributes.user.groups.includes(mastersGroup) ? allowed : noOpinion),
};

/** Health endpoints (single checks included) and the version, for anybody. */
export const publicPathsAuthorizer: Authorizer = {
  name: 'public-paths',
  authorize: (attributes) => (isPublic(attributes) ? allowed : noOpinion),
};

function isPublic(attributes: Attributes): boolean {
  if (attributes.isResourceRequest || !readVerbs.has(attributes.verb)) return false;
  const end = attributes.path.indexOf('/', 1);
  const head = end < 0 ? attributes.path : attributes.path.slice(0, end);
  return (
    openPaths.has(head) && (head !== '/version' || attributes.path.length <= '/version/'.length)
  );
}
