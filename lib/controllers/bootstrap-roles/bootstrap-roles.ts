// Sees at a start that every default role and binding is there and has what it should have. What
// cannot be written is tried again until it can; replicas that start together do the same work, and
// whoever comes second finds it done.
import type { NamingProfile } from '../../api/vendor.ts';
import { sleep } from '../../base/abort.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import { StatusError } from '../../base/status.ts';
import { isLongTurn, ownTurn } from '../../base/turn.ts';
import { serverUser } from '../../base/user.ts';
import type { Item, ItemKey } from '../../cacher/resource-view.ts';
import { cloneAlike } from '../../api/json-value.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { GateCheck } from '../../kinds/strategy.ts';
import { internalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { clusterBindings, namespacedBindings, namespacedRoles } from './bindings.ts';
import { systemRoles, userRoles } from './cluster-roles.ts';
import { controllerRoles } from './controller-roles.ts';
import { reconciled } from './reconcile.ts';
import { bindingObject, roleObject } from './role-spec.ts';
import type { RoleSpec } from './role-spec.ts';

export interface RoleBootstrapOptions {
  /** Of the stable version, by resource; undefined: it is not served. */
  readonly store: (resource: string) => ResourceStore | undefined;
  readonly naming: NamingProfile;
  readonly isOn: GateCheck;
  readonly log: Logger;
}

export class RoleBootstrap {
  readonly #options: RoleBootstrapOptions;
  #failure: string | undefined = 'not finished';

  constructor(options: RoleBootstrapOptions) {
    this.#options = options;
  }

  /** Why the roles are not all there; undefined: they are. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /**
   * One try of each object, in views that are filled; the namespaces are there.
   * @returns the rest of the work: resolves when all is done or the signal fires.
   */
  async begin(signal: AbortSignal): Promise<{ readonly ended: Promise<void> }> {
    const { naming, isOn } = this.#options;
    const left = await this.#reconcileAll(defaultObjects(naming, isOn), signal);
    return { ended: this.#goOn(left, signal) };
  }

  async #goOn(left: readonly ApiObject[], signal: AbortSignal): Promise<void> {
    let rest = left;
    try {
      while (rest.length > 0) {
        await sleep(limits.roleBootstrapRetryMs, signal);
        rest = await this.#reconcileAll(rest, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** @returns what could not be written. */
  async #reconcileAll(objects: readonly ApiObject[], signal: AbortSignal): Promise<ApiObject[]> {
    const { log } = this.#options;
    const failed: ApiObject[] = [];
    const waiting = objects.values();
    const work = async (): Promise<void> => {
      for (const object of waiting) {
        // Comparing rules is long where there is nothing to write, and so nothing to wait for.
        if (isLongTurn(limits.workSliceMs)) await ownTurn();
        try {
          await this.#reconcile(object, signal);
        } catch (error) {
          signal.throwIfAborted();
          failed.push(object);
          const name = `${String(object.kind)} ${String(object.metadata?.name)}`;
          this.#failure = `${name}: ${error instanceof Error ? error.message : String(error)}`;
          log.warn('a default role cannot be written', { name, error });
        }
      }
    };
    await Promise.all(Array.from({ length: limits.controllerWorkers }, work));
    if (failed.length === 0) this.#failure = undefined;
    return failed;
  }

  async #reconcile(expected: ApiObject, signal: AbortSignal): Promise<void> {
    const store = this.#options.store(`${String(expected.kind).toLowerCase()}s`);
    if (store === undefined) return;
    const { name = '', namespace = '' } = expected.metadata ?? {};
    const key = { namespace, name };
    let stored = store.view.peek(key);
    for (let lostCount = 0; ; lostCount += 1) {
      try {
        await this.#write(store, key, stored, expected, signal);
        return;
      } catch (error) {
        if (!isLostRace(error) || lostCount >= limits.roleBootstrapRacesMax) throw error;
      }
      stored = await store.view.get(key, { mode: 'latest' }, signal);
    }
  }

  /** @throws StatusError 404 or 409 when somebody else was faster. */
  async #write(
    store: ResourceStore,
    key: ItemKey,
    stored: Item | undefined,
    expected: ApiObject,
    signal: AbortSignal,
  ): Promise<void> {
    const { naming } = this.#options;
    const client = internalClient(serverUser);
    const create = (): Promise<Item> =>
      client.create(store, { namespace: key.namespace, object: cloneAlike(expected) }, signal);
    if (stored === undefined) {
      await create();
      return;
    }
    if (stored.corrupted) return; // The server says so elsewhere; who repairs it starts again.
    const result = reconciled(stored.object(), expected, naming);
    if (result.action === 'keep') return;
    const path = { ...key, subresource: '' };
    if (result.action === 'update') {
      const object = cloneAlike(result.object) as ApiObject;
      object.metadata = { ...object.metadata, resourceVersion: String(stored.revision) };
      await client.update(store, { path, object }, signal);
      return;
    }
    const uid = stored.object().metadata?.uid;
    const preconditions = { uid, resourceVersion: undefined };
    await client.delete(store, { path, options: { preconditions } }, signal);
    await create();
  }
}

const isLostRace = (error: unknown): boolean =>
  error instanceof StatusError && (error.code === 409 || error.code === 404);

/** Roles before the bindings that refer to them. */
export function defaultObjects(naming: NamingProfile, isOn: GateCheck): readonly ApiObject[] {
  const ofControllers = controllerRoles.map((spec): RoleSpec => ({
    ...spec,
    name: `system:controller:${spec.name}`,
  }));
  const roles = [...userRoles, ...systemRoles, ...ofControllers, ...namespacedRoles];
  const bindings = [
    ...clusterBindings,
    ...controllerRoles.map(({ name }) => ({
      role: `system:controller:${name}`,
      subjects: [`account ${name}`],
    })),
    ...namespacedBindings,
  ];
  return [
    ...roles
      .filter(({ gate }) => gate === undefined || isOn(gate))
      .map((spec) => roleObject(spec, naming, isOn)),
    ...bindings.map((spec) => bindingObject(spec, naming)),
  ];
}
