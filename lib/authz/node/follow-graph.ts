// Keeps the graph as this replica's views have pods and volumes, each from the moment that its
// event arrives. What could not be followed for a while keeps its last state until the next one is
// whole.
import type { Logger } from '../../base/log.ts';
import { follow } from '../../cacher/follow.ts';
import type { Follower } from '../../cacher/follow.ts';
import type { Item, ItemKey, ResourceView, Selection } from '../../cacher/resource-view.ts';
import type { NodeGraph } from './node-graph.ts';

export interface GraphViews {
  readonly pods: ResourceView;
  readonly volumes: ResourceView;
}

export interface FollowedGraph {
  /** Resolves when the graph is whole for the first time. */
  readonly whole: Promise<void>;
  /** Resolves when the signal has ended it. */
  readonly ended: Promise<void>;
}

export function followGraph(
  graph: NodeGraph,
  { pods, volumes }: GraphViews,
  log: Logger,
  signal: AbortSignal,
): FollowedGraph {
  const ofPods = podFollower(graph);
  const ofVolumes = volumeFollower(graph);
  const ended = [
    follow(ofPods, { view: pods, select, log }, signal),
    follow(ofVolumes, { view: volumes, select, log }, signal),
  ];
  return {
    whole: Promise.all([ofPods.whole, ofVolumes.whole]).then(() => undefined),
    ended: Promise.all(ended).then(() => undefined),
  };
}

/** An object that cannot be read gives nothing to any node, and holds up no other. */
const select: Selection = { showsUnreadable: true };

export const podFollower = (graph: NodeGraph): GraphFollower =>
  new GraphFollower({
    set: (key, item) => graph.setPod(key, item.field('spec.nodeName'), () => item.object()),
    remove: (key) => graph.removePod(key),
    held: () => graph.podKeys,
  });

export const volumeFollower = (graph: NodeGraph): GraphFollower =>
  new GraphFollower({
    set: (key, item) => graph.setVolume(key, item.object()),
    remove: (key) => graph.removeVolume(key),
    held: () => graph.volumeKeys,
  });

interface Kept {
  set(key: string, item: Item): void;
  remove(key: string): void;
  held(): Iterable<string>;
}

/** One resource: after a restart, what does not come again is removed. */
class GraphFollower implements Follower {
  readonly whole: Promise<void>;
  readonly #kept: Kept;
  /** What came since a restart; undefined: the state is whole. */
  #came: Set<string> | undefined;
  #isWhole: () => void = () => undefined;

  constructor(kept: Kept) {
    this.#kept = kept;
    this.whole = new Promise((resolve) => (this.#isWhole = resolve));
  }

  restarted(): void {
    this.#came = new Set();
  }

  present(item: Item): void {
    const key = keyOf(item);
    this.#came?.add(key);
    if (item.corrupted) this.#kept.remove(key);
    else this.#kept.set(key, item);
  }

  absent(item: Item): void {
    this.#kept.remove(keyOf(item));
  }

  synced(): void {
    if (this.#came !== undefined) {
      for (const key of this.#kept.held()) if (!this.#came.has(key)) this.#kept.remove(key);
      this.#came = undefined;
    }
    this.#isWhole();
  }
}

const keyOf = ({ namespace, name }: ItemKey): string =>
  namespace === '' ? name : `${namespace}/${name}`;
