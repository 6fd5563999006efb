// What is served of custom resources, at this replica: follows the definitions, and gives the map
// of resources the stores of each. A change costs what it changes.
import { convertObject } from '../api/convert.ts';
import type { Scheme } from '../api/scheme.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonObject } from '../api/type-info.ts';
import { abortable } from '../base/abort.ts';
import type { Logger } from '../base/log.ts';
import { serviceUnavailable } from '../base/status.ts';
import { FollowedObjects, followObjects, objectKey } from '../cacher/followed-objects.ts';
import type { Following, ObjectKeeper } from '../cacher/followed-objects.ts';
import type { Item, ResourceView } from '../cacher/resource-view.ts';
import type { ResourceMapHolder } from '../registry/resource-map.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { readDefinition, schemaIn } from './definition.ts';
import type { DefinitionStores, MakeStores, ReadAt } from './definition-stores.ts';

/*
 * The folder is read from here:
 *
 *   stored definition ─ definition.ts ──► Definition: what serving it needs, unchecked
 *     ─ records.ts ─────────────────────► a ResourceInfo a version; type and columns when asked for
 *     ─ conversion/converter.ts ────────► Converter: at once, or by calls of a webhook
 *     ─ definition-stores.ts ───────────► a store a served version, over one place in the cache
 *     ─ this file ──────────────────────► ResourceMap: where requests find them, as built-in kinds
 *
 * Whether a definition is right is lib/kinds/apiextensions; who has which names, and the end of a
 * definition, are lib/controllers/definitions; discovery and OpenAPI read the map.
 */

export interface ServedDefinitionsOptions {
  readonly scheme: Scheme;
  /** Of the definitions, as they are stored. */
  readonly view: ResourceView;
  readonly resources: ResourceMapHolder;
  readonly makeStores: MakeStores;
  readonly log: Logger;
}

interface Known extends ReadAt {
  readonly shape: string;
  /** undefined: nothing of it is served. */
  readonly stores: DefinitionStores | undefined;
}

export class ServedDefinitions implements ObjectKeeper {
  readonly #options: ServedDefinitionsOptions;
  readonly #apiVersion: string;
  readonly #known = new Map<string, Known>();
  readonly #ended = new AbortController();
  #isWhole = false;
  #proof: Promise<void> | undefined;
  #nextProof: Promise<void> | undefined;

  constructor(options: ServedDefinitionsOptions) {
    this.#options = options;
    const { profile } = options.scheme;
    this.#apiVersion = apiVersionOf({ group: profile.resolve('apiextensions.{v}'), version: 'v1' });
    options.resources.proveBy((signal) => this.proven(signal));
  }

  /** Follows the definitions until the signal fires. */
  run(signal: AbortSignal): Following {
    const { view, log } = this.#options;
    const following = followObjects([{ view, objects: new FollowedObjects(this) }], log, signal);
    signal.addEventListener('abort', () => this.#ended.abort(signal.reason), { once: true });
    void following.whole.then(() => (this.#isWhole = true));
    return following;
  }

  /** All definitions that there were at the start are served. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The store of a definition's objects in their storage version, served or not. */
  storeOf(name: string): ResourceStore | undefined {
    return this.#known.get(objectKey({ namespace: '', name }))?.stores?.stored;
  }

  /** A definition as it is stored now; an older one than is known changes nothing. */
  set(item: Item): void {
    const { name, revision } = item;
    const key = objectKey(item);
    const known = this.#known.get(key);
    const { scheme, view, resources, makeStores, log } = this.#options;
    const at = { revision, history: view.epoch?.history ?? 0 };
    if (known?.history === at.history && known.revision >= revision) return;
    try {
      const definition = readDefinition(this.#stable(item));
      const { shape } = definition;
      if (known?.shape === shape) {
        known.stores?.renew(at);
        this.#known.set(key, { ...known, ...at });
        return;
      }
      const schemaOf = (version: string): JsonObject | undefined =>
        schemaIn(this.#stable(item), version);
      const { group, names } = definition;
      // What the server has itself stays its own.
      const isTaken = scheme.storedResource(group, names.plural) !== undefined;
      const stores = isTaken
        ? undefined
        : makeStores(definition, { schemaOf, at, former: known?.stores });
      this.#known.set(key, { ...at, shape, stores });
      resources.set(ownerOf(name), stores?.served ?? []);
    } catch (error) {
      // What it was is over: writes under it would find that again and again.
      known?.stores?.end();
      this.#known.set(key, { ...at, shape: '', stores: undefined });
      resources.set(ownerOf(name), []);
      log.error('a definition of a custom resource cannot be served', { name, error });
    }
  }

  remove(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    this.#options.resources.set(ownerOf(key.slice(1)), []);
    known.stores?.end();
  }

  /**
   * Resolves once all that was stored when it was called is served. One read of etcd proves it for
   * all who wait. @throws StatusError 503 before the definitions were read for the first time.
   */
  async proven(signal: AbortSignal): Promise<void> {
    if (!this.#isWhole) {
      throw serviceUnavailable('the definitions of custom resources are being read', 1);
    }
    this.#nextProof ??= this.#begin();
    await abortable(this.#nextProof, signal);
  }

  /** A proof begins after all who wait for it have asked. */
  async #begin(): Promise<void> {
    await this.#proof?.catch(() => undefined);
    this.#proof = this.#nextProof;
    this.#nextProof = undefined;
    const { view } = this.#options;
    const everything = { limitCount: 0 };
    const select = { showsUnreadable: true };
    const { signal } = this.#ended;
    const list = await view.list(select, { mode: 'latest' }, everything, signal);
    const listed = new Set<string>();
    for (const item of list.items) {
      listed.add(objectKey(item));
      if (!item.corrupted) this.set(item);
    }
    for (const [key, { revision }] of this.#known) {
      if (!listed.has(key) && revision <= list.revision) this.remove(key);
    }
  }

  #stable(item: Item): JsonObject {
    return convertObject(item.object(), this.#apiVersion, this.#options.scheme);
  }
}

const ownerOf = (name: string): string => `definition ${name}`;
