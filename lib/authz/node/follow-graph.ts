// Keeps the graph as this replica's views have pods and volumes, each from the moment that its
// event arrives. What could not be followed for a while keeps its last state until the next one is
// whole; an object that cannot be read gives nothing to any node.
import type { Logger } from '../../base/log.ts';
import { FollowedObjects, followObjects } from '../../cacher/followed-objects.ts';
import type { Following } from '../../cacher/followed-objects.ts';
import type { ResourceView } from '../../cacher/resource-view.ts';
import { namesTheSame } from './same-names.ts';
import type { NodeGraph } from './node-graph.ts';

export interface GraphViews {
  readonly pods: ResourceView;
  readonly volumes: ResourceView;
}

export const followGraph = (
  graph: NodeGraph,
  { pods, volumes }: GraphViews,
  log: Logger,
  signal: AbortSignal,
): Following =>
  followObjects(
    [
      { view: pods, objects: podFollower(graph) },
      { view: volumes, objects: volumeFollower(graph) },
    ],
    log,
    signal,
  );

export const podFollower = (graph: NodeGraph): FollowedObjects =>
  new FollowedObjects({
    set(item, key, object, previous) {
      const isKnown = previous !== undefined && graph.hasRead(key);
      if (isKnown && namesTheSame(item.json(), previous.json())) return;
      graph.setPod(key, item.field('spec.nodeName'), object);
    },
    remove: (key) => graph.removePod(key),
  });

export const volumeFollower = (graph: NodeGraph): FollowedObjects =>
  new FollowedObjects({
    set: (_item, key, object) => graph.setVolume(key, object()),
    remove: (key) => graph.removeVolume(key),
  });
