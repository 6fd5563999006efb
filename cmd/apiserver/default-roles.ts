// The default roles of this replica's start: made after the namespaces, watched by /readyz.
import { RoleBootstrap } from '../../lib/controllers/bootstrap-roles/bootstrap-roles.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { Base } from './base.ts';

export function roleBootstrap(base: Base, resources: ResourceMapHolder): RoleBootstrap {
  const { naming, gates, logger: log } = base;
  const group = naming.resolve('rbac.authorization.{v}');
  return new RoleBootstrap({
    store: (resource) => resources.current.find({ group, version: 'v1', resource }),
    isOn: (gate) => gates.isEnabled(gate),
    naming,
    log,
  });
}

/** @returns what ends the tries that are left. */
export async function beginRoles(
  roles: RoleBootstrap,
  starting: AbortSignal,
): Promise<() => Promise<void>> {
  const closing = new AbortController();
  const { ended } = await roles.begin(AbortSignal.any([starting, closing.signal]));
  return async () => {
    closing.abort(new Error('the server stops'));
    await ended;
  };
}
