// Whether an object that a token is tied to is still the one it was: from memory at every request,
// so that its deletion revokes the token at once. Memory may lag behind the write that made the
// object: what it does not know is looked up once, at etcd's present state.
import { textAt } from '../../api/json-access.ts';
import type { WaitEnd } from '../../base/abort.ts';
import { limits } from '../../base/limits.ts';
import type { Item, ItemKey, ResourceView } from '../../cacher/resource-view.ts';

/** `unknown`: memory has no such object, or another one under its name. */
export type Liveness = 'live' | 'ended' | 'unknown';

export type ViewOf = (resource: TiedResource) => Pick<ResourceView, 'peek' | 'get' | 'epoch'>;
export type TiedResource = 'serviceaccounts' | 'pods' | 'secrets' | 'nodes';

export class LiveObject {
  readonly resource: TiedResource;
  readonly key: ItemKey;
  readonly #uid: string;
  readonly #view: ReturnType<ViewOf>;
  /** The version that was last found good: as long as it is current, nothing is decoded. */
  #goodRevision = 0;
  #goodHistory = 0;

  constructor(
    of: { readonly resource: TiedResource; readonly key: ItemKey; readonly uid: string },
    viewOf: ViewOf,
  ) {
    this.resource = of.resource;
    this.key = of.key;
    this.#uid = of.uid;
    this.#view = viewOf(of.resource);
  }

  /** As memory has it. */
  peek(): Item | undefined {
    return this.#view.peek(this.key);
  }

  now(nowMs: number): Liveness {
    const item = this.peek();
    const history = this.#view.epoch?.history ?? 0;
    if (item === undefined || item.corrupted) return 'unknown';
    if (item.revision === this.#goodRevision && history === this.#goodHistory) return 'live';
    const liveness = livenessOf(item, this.#uid, nowMs);
    if (liveness === 'live' && !isMarked(item)) {
      this.#goodRevision = item.revision;
      this.#goodHistory = history;
    }
    return liveness;
  }

  /** @throws StatusError when etcd does not answer */
  async look(nowMs: number, end: WaitEnd): Promise<Liveness> {
    const item = await this.#view.get(this.key, { mode: 'latest' }, end);
    if (item === undefined || item.corrupted) return 'ended';
    const liveness = livenessOf(item, this.#uid, nowMs);
    return liveness === 'unknown' ? 'ended' : liveness;
  }
}

const isMarked = (item: Item): boolean =>
  textAt(item.object().metadata, 'deletionTimestamp') !== '';

/** An object whose deletion has begun counts for as long as clocks may differ. */
function livenessOf(item: Item, uid: string, nowMs: number): Liveness {
  const { metadata } = item.object();
  if (textAt(metadata, 'uid') !== uid) return 'unknown';
  const deletion = textAt(metadata, 'deletionTimestamp');
  if (deletion === '') return 'live';
  return Date.parse(deletion) < nowMs - limits.tokenLeewayMs ? 'ended' : 'live';
}
