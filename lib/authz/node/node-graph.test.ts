// When pods are read: no earlier than somebody asks about their node, and once.
import { beforeEach, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { internalError } from '../../base/status.ts';
import { NodeGraph } from './node-graph.ts';

let graph: NodeGraph;
/** The pods that were read, in order. */
let read: string[];
beforeEach(() => {
  graph = new NodeGraph(namingProfile('svc'));
  read = [];
});

const podOf =
  (name: string, secretName: string): (() => JsonObject) =>
  () => {
    read.push(name);
    return {
      metadata: { namespace: 'ns', name },
      spec: { volumes: [{ name: 's', secret: { secretName } }] },
    };
  };

const needs = (node: string, name: string): boolean =>
  graph.needs(node, 'secret', { namespace: 'ns', name });

test('a pod is read when its node is asked about, once', () => {
  graph.setPod('ns/a', 'n1', podOf('a', 'one'));
  graph.setPod('ns/b', 'n2', podOf('b', 'two'));
  expect(read).toEqual([]);
  expect([needs('n1', 'one'), needs('n1', 'two'), needs('n3', 'one')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(read).toEqual(['a']);
  graph.needsVolume('n2', 'pv');
  expect(read).toEqual(['a']);
  expect(needs('n2', 'two')).toBe(true);
  expect(read).toEqual(['a', 'b']);
});

test('a question about a bound volume reads the pods of the node', () => {
  graph.setVolume('/pv', { spec: { claimRef: { namespace: 'ns', name: 'data' } } });
  graph.setPod('ns/a', 'n1', () => ({
    metadata: { namespace: 'ns', name: 'a' },
    spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
  }));
  expect([graph.needsVolume('n1', 'pv'), graph.needsVolume('n2', 'pv')]).toEqual([true, false]);
});

test('of a pod that changes before anybody asks, the last state alone is read', () => {
  graph.setPod('ns/a', 'n1', podOf('first', 'one'));
  graph.setPod('ns/a', 'n1', podOf('second', 'two'));
  expect([needs('n1', 'one'), needs('n1', 'two')]).toEqual([false, true]);
  expect(read).toEqual(['second']);
});

test('what was read counts no longer once the pod has another state', () => {
  graph.setPod('ns/a', 'n1', podOf('first', 'one'));
  expect([needs('n1', 'one'), graph.hasRead('ns/a')]).toEqual([true, true]);
  graph.setPod('ns/a', 'n1', podOf('second', 'two'));
  expect(graph.hasRead('ns/a')).toBe(false);
  expect([needs('n1', 'one'), needs('n1', 'two')]).toEqual([false, true]);
});

test('a pod that goes unread leaves nothing, nor does one that comes to another node', () => {
  graph.setPod('ns/a', 'n1', podOf('a', 'one'));
  graph.removePod('ns/a');
  graph.setPod('ns/b', 'n1', podOf('b', 'one'));
  graph.setPod('ns/b', 'n2', podOf('b', 'one'));
  expect([needs('n1', 'one'), needs('n2', 'one')]).toEqual([false, true]);
  graph.removePod('ns/b');
  expect([needs('n2', 'one'), graph.isEmpty]).toEqual([false, true]);
});

test('a pod that cannot be read names nothing, and hides no other pod of its node', () => {
  graph.setPod('ns/broken', 'n1', () => {
    throw internalError('the stored object cannot be read');
  });
  graph.setPod('ns/a', 'n1', podOf('a', 'one'));
  expect(needs('n1', 'one')).toBe(true);
  graph.removePod('ns/broken');
  graph.removePod('ns/a');
  expect(graph.isEmpty).toBe(true);
});
