// What decides in each authorization mode but Webhook, made once and shared by every configuration;
// and the roles and bindings that rules of writes look at, whatever the mode.
import { abacAuthorizer } from '../../lib/authz/abac/abac.ts';
import type { Authorizer } from '../../lib/authz/authorizer.ts';
import { allowAuthorizer, denyAuthorizer } from '../../lib/authz/fixed.ts';
import { followGraph } from '../../lib/authz/node/follow-graph.ts';
import { nodeAuthorizer } from '../../lib/authz/node/node-authorizer.ts';
import { NodeGraph } from '../../lib/authz/node/node-graph.ts';
import { nodeRules } from '../../lib/authz/node/node-rules.ts';
import { followPolicy } from '../../lib/authz/rbac/follow-policy.ts';
import { RbacPolicy } from '../../lib/authz/rbac/policy.ts';
import { rbacAuthorizer } from '../../lib/authz/rbac/rbac.ts';
import type { Following } from '../../lib/cacher/followed-objects.ts';
import type { ResourceView } from '../../lib/cacher/resource-view.ts';
import type { AuthorizationMode } from '../../lib/config/authorization-flags.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Base } from './base.ts';
import { neededView } from './views.ts';
import type { ViewOf } from './views.ts';

/** What decides in one mode. */
export interface OpenedMode {
  readonly authorizer: Authorizer;
  /** Absent: it keeps nothing of the cluster. */
  readonly whole?: Promise<void>;
}

export interface ModeParts extends Base {
  readonly viewOf: ViewOf;
  /** undefined: roles are not served. */
  readonly roles: FollowedRoles | undefined;
}

/** Roles and bindings, which rules of writes look at in every mode. */
export interface FollowedRoles {
  readonly policy: RbacPolicy;
  readonly whole: Promise<void>;
}

type OpenMode = (parts: ModeParts) => OpenedMode;

/** @throws FlagError for a mode that lacks what it needs. */
export const modes: Readonly<Partial<Record<AuthorizationMode, OpenMode>>> = {
  AlwaysAllow: () => ({ authorizer: allowAuthorizer }),
  AlwaysDeny: () => ({ authorizer: denyAuthorizer }),
  ABAC: ({ authorization }) => ({ authorizer: abacAuthorizer(authorization.policies) }),
  Node: openNode,
  RBAC: openRbac,
};

function openNode({ naming, gates, logger, started, ...parts }: ModeParts): OpenedMode {
  const graph = new NodeGraph(naming);
  const needed = (resource: string): ResourceView =>
    neededView(parts.viewOf, ['', resource], '--authorization-mode=Node');
  const pods = needed('pods');
  const views = {
    pods,
    volumeAttachments: parts.viewOf('storage.{v}', 'volumeattachments'),
    resourceSlices: parts.viewOf('resource.{v}', 'resourceslices'),
    podCertificateRequests: parts.viewOf('certificates.{v}', 'podcertificaterequests'),
  };
  const volumes = needed('persistentvolumes');
  const whole = untilEnd(started, (signal) =>
    followGraph(graph, { pods, volumes }, logger, signal),
  );
  const rules = nodeRules(naming, gates);
  return { authorizer: nodeAuthorizer({ graph, views, rules, naming, gates }), whole };
}

const rbacGroup = 'rbac.authorization.{v}';
const rbacResources = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'];

function openRbac({ naming, roles }: ModeParts): OpenedMode {
  if (roles !== undefined) {
    return { authorizer: rbacAuthorizer(roles.policy, naming), whole: roles.whole };
  }
  const group = naming.resolve(rbacGroup);
  throw new FlagError(`--authorization-mode=RBAC needs ${group}, which is not served`);
}

/** undefined: they are not served. */
export function followRoles(base: Base, viewOf: ViewOf): FollowedRoles | undefined {
  const { logger, started } = base;
  const [roles, clusterRoles, roleBindings, clusterRoleBindings] = rbacResources.map((resource) =>
    viewOf(rbacGroup, resource),
  );
  if (!roles || !clusterRoles || !roleBindings || !clusterRoleBindings) return undefined;
  const policy = new RbacPolicy();
  const views = { roles, clusterRoles, roleBindings, clusterRoleBindings };
  const whole = untilEnd(started, (signal) => followPolicy(policy, views, logger, signal));
  return { policy, whole };
}

/** Follows until the server stops; resolves when what is followed is whole for the first time. */
function untilEnd(
  started: AsyncDisposableStack,
  begin: (signal: AbortSignal) => Following,
): Promise<void> {
  const closing = new AbortController();
  const { whole, ended } = begin(closing.signal);
  started.defer(async () => {
    closing.abort(new Error('the server stops'));
    await ended;
  });
  return whole;
}
