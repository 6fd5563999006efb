// Keeps roles and bindings as this replica's views have them, each from the moment that its event
// arrives. What could not be followed for a while keeps its last state until the next one is whole;
// an object that cannot be read grants nothing.
import type { Logger } from '../../base/log.ts';
import { FollowedObjects, followObjects } from '../../cacher/followed-objects.ts';
import type { Following } from '../../cacher/followed-objects.ts';
import type { ResourceView } from '../../cacher/resource-view.ts';
import type { RbacPolicy } from './policy.ts';

export interface RbacViews {
  readonly roles: ResourceView;
  readonly clusterRoles: ResourceView;
  readonly roleBindings: ResourceView;
  readonly clusterRoleBindings: ResourceView;
}

export const followPolicy = (
  policy: RbacPolicy,
  views: RbacViews,
  log: Logger,
  signal: AbortSignal,
): Following =>
  followObjects(
    [
      { view: views.roles, objects: roleFollower(policy) },
      { view: views.clusterRoles, objects: roleFollower(policy) },
      { view: views.roleBindings, objects: bindingFollower(policy) },
      { view: views.clusterRoleBindings, objects: bindingFollower(policy) },
    ],
    log,
    signal,
  );

export const roleFollower = (policy: RbacPolicy): FollowedObjects =>
  new FollowedObjects({
    set: (item, _key, object) => policy.setRole(item, object()),
    remove: (key) => policy.removeRole(key),
  });

export const bindingFollower = (policy: RbacPolicy): FollowedObjects =>
  new FollowedObjects({
    set: (item, _key, object) => policy.setBinding(item, object()),
    remove: (key) => policy.removeBinding(key),
  });
