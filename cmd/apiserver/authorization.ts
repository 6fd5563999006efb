// Who may do what: the authorizers of `--authorization-mode`, in its order.
import type { ResourceInfo } from '../../lib/api/type-info.ts';
import type { Authorizer } from '../../lib/authz/authorizer.ts';
import { mastersAuthorizer, pathsAuthorizer } from '../../lib/authz/fixed.ts';
import { measuredAuthorizer } from '../../lib/authz/measured.ts';
import { followPolicy } from '../../lib/authz/rbac/follow-policy.ts';
import { RbacPolicy } from '../../lib/authz/rbac/policy.ts';
import { rbacAuthorizer } from '../../lib/authz/rbac/rbac.ts';
import { unionAuthorizer } from '../../lib/authz/union.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import type { ResourceView } from '../../lib/cacher/resource-view.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Base } from './base.ts';
import { authorizationAttempts } from './observers.ts';

export interface OpenedAuthorization {
  /** For requests and for plugins of admission. */
  readonly authorizer: Authorizer;
  /** Resolves when what the authorizers keep of the cluster is whole for the first time. */
  readonly whole: Promise<unknown>;
}

/** What decides in one mode. */
interface OpenedMode {
  readonly authorizer: Authorizer;
  readonly whole?: Promise<void>;
}

interface ModeParts extends Base {
  readonly viewOf: (group: string, resource: string) => ResourceView;
}

/** Names of `--authorization-mode`, as kube-apiserver has them. */
const modes: Readonly<Record<string, (parts: ModeParts) => OpenedMode>> = {
  RBAC: openRbac,
};

/** @throws FlagError for a mode that is none. */
export function openAuthorization(
  base: Base,
  { cache }: { readonly cache: Cache },
): OpenedAuthorization {
  const viewOf: ModeParts['viewOf'] = (group, resource) =>
    cache.view(storedOf(base, group, resource));
  const parts: ModeParts = { ...base, viewOf };
  const opened = base.flags['authorization-mode'].flatMap((name) => modes[name]?.(parts) ?? []);
  const members = opened.map(({ authorizer }) => authorizer);
  return {
    authorizer: measuredAuthorizer(
      unionAuthorizer([mastersAuthorizer, pathsAuthorizer, ...members]),
      authorizationAttempts(base.metrics),
    ),
    whole: Promise.all(opened.map(({ whole }) => whole ?? Promise.resolve())),
  };
}

function openRbac({ naming, logger, started, viewOf }: ModeParts): OpenedMode {
  const policy = new RbacPolicy();
  const group = 'rbac.authorization.{v}';
  const views = {
    roles: viewOf(group, 'roles'),
    clusterRoles: viewOf(group, 'clusterroles'),
    roleBindings: viewOf(group, 'rolebindings'),
    clusterRoleBindings: viewOf(group, 'clusterrolebindings'),
  };
  const closing = new AbortController();
  const { whole, ended } = followPolicy(policy, views, logger, closing.signal);
  started.defer(async () => {
    closing.abort(new Error('the server stops'));
    await ended;
  });
  return { authorizer: rbacAuthorizer(policy, naming), whole };
}

/** @throws FlagError when it is not served. */
function storedOf({ scheme, naming }: Base, group: string, resource: string): ResourceInfo {
  const of = naming.resolve(group);
  const stored = scheme.storedResources.find(
    (one) => one.group === of && one.resource === resource,
  );
  if (stored !== undefined) return stored;
  throw new FlagError(`--authorization-mode needs ${resource}.${of}, which is not served`);
}
