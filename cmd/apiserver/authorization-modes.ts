// What decides in each authorization mode but Webhook, made once and shared by every configuration;
// and the roles and bindings that rules of writes look at, whatever the mode.
import type { ResourceInfo } from '../../lib/api/type-info.ts';
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
import type { ResourceView } from '../../lib/cacher/resource-view.ts';
import type { AuthorizationMode } from '../../lib/config/authorization-flags.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Base } from './base.ts';

/** What decides in one mode. */
export interface OpenedMode {
  readonly authorizer: Authorizer;
  /** Absent: it keeps nothing of the cluster. */
  readonly whole?: Promise<void>;
}

export interface ModeParts extends Base {
  readonly viewOf: (group: string, resource: string) => ResourceView;
  readonly viewIfServed: (group: string, resource: string) => ResourceView | undefined;
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
  const pods = parts.viewOf('', 'pods');
  const views = {
    pods,
    volumeAttachments: parts.viewIfServed('storage.{v}', 'volumeattachments'),
    resourceSlices: parts.viewIfServed('resource.{v}', 'resourceslices'),
    podCertificateRequests: parts.viewIfServed('certificates.{v}', 'podcertificaterequests'),
  };
  const closing = new AbortController();
  const volumes = parts.viewOf('', 'persistentvolumes');
  const { whole, ended } = followGraph(graph, { pods, volumes }, logger, closing.signal);
  started.defer(async () => {
    closing.abort(new Error('the server stops'));
    await ended;
  });
  const rules = nodeRules(naming, gates);
  return { authorizer: nodeAuthorizer({ graph, views, rules, naming, gates }), whole };
}

const rbacGroup = 'rbac.authorization.{v}';
const rbacResources = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'];

function openRbac({ naming, roles }: ModeParts): OpenedMode {
  if (roles !== undefined) return { authorizer: rbacAuthorizer(roles.policy, naming) };
  const group = naming.resolve(rbacGroup);
  throw new FlagError(`--authorization-mode=RBAC needs ${group}, which is not served`);
}

/** undefined: they are not served. */
export function followRoles(base: Base, viewOf: ModeParts['viewOf']): FollowedRoles | undefined {
  const { logger, started } = base;
  if (!rbacResources.every((resource) => storedOf(base, rbacGroup, resource))) return undefined;
  const policy = new RbacPolicy();
  const views = {
    roles: viewOf(rbacGroup, 'roles'),
    clusterRoles: viewOf(rbacGroup, 'clusterroles'),
    roleBindings: viewOf(rbacGroup, 'rolebindings'),
    clusterRoleBindings: viewOf(rbacGroup, 'clusterrolebindings'),
  };
  const closing = new AbortController();
  const { whole, ended } = followPolicy(policy, views, logger, closing.signal);
  started.defer(async () => {
    closing.abort(new Error('the server stops'));
    await ended;
  });
  return { policy, whole };
}

/** The group has placeholders. undefined: it is not served. */
export function storedOf(
  { scheme, naming }: Base,
  group: string,
  resource: string,
): ResourceInfo | undefined {
  const of = naming.resolve(group);
  return scheme.storedResources.find((one) => one.group === of && one.resource === resource);
}

/** @throws FlagError when it is not served. */
export function neededBy(base: Base, group: string, resource: string): ResourceInfo {
  const stored = storedOf(base, group, resource);
  if (stored !== undefined) return stored;
  const name = `${resource}.${base.naming.resolve(group)}`;
  throw new FlagError(`--authorization-mode needs ${name}, which is not served`);
}
