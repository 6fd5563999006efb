// Keeps roles and bindings as this replica's views have them, each from the moment that its event
// arrives. What could not be followed for a while keeps its last state until the next one is whole;
// an object that cannot be read grants nothing, and hinders no other.
import type { Logger } from '../../base/log.ts';
import { follow } from '../../cacher/follow.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import { FollowedObjects } from './followed-objects.ts';
import type { ObjectKey } from './followed-objects.ts';
import type { RbacPolicy } from './policy.ts';

export interface RbacViews {
  readonly roles: ResourceView;
  readonly clusterRoles: ResourceView;
  readonly roleBindings: ResourceView;
  readonly clusterRoleBindings: ResourceView;
}

export interface FollowedPolicy {
  /** Resolves when the policy is whole for the first time. */
  readonly whole: Promise<void>;
  /** Resolves when the signal has ended it. */
  readonly ended: Promise<void>;
}

export function followPolicy(
  policy: RbacPolicy,
  views: RbacViews,
  log: Logger,
  signal: AbortSignal,
): FollowedPolicy {
  const setRole = (item: Item): void => policy.setRole(item, item.object());
  const setBinding = (item: Item): void => policy.setBinding(item, item.object());
  const removeRole = (item: ObjectKey): void => policy.removeRole(item);
  const removeBinding = (item: ObjectKey): void => policy.removeBinding(item);
  const followed = [
    { view: views.roles, of: new FollowedObjects(setRole, removeRole) },
    { view: views.clusterRoles, of: new FollowedObjects(setRole, removeRole) },
    { view: views.roleBindings, of: new FollowedObjects(setBinding, removeBinding) },
    { view: views.clusterRoleBindings, of: new FollowedObjects(setBinding, removeBinding) },
  ];
  const select = { showsUnreadable: true };
  const ended = followed.map(({ view, of }) => follow(of, { view, select, log }, signal));
  return {
    whole: Promise.all(followed.map(({ of }) => of.whole)).then(() => undefined),
    ended: Promise.all(ended).then(() => undefined),
  };
}
