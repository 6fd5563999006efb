// The graph follows pods and volumes of a real store: bound, changed, deleted, and after its watch
// was lost.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import { createLogger } from '../../base/log.ts';
import type { Cache } from '../../cacher/cache.ts';
import type { ResourceView } from '../../cacher/resource-view.ts';
import { CacheFixture } from '../../cacher/testing/cache-fixture.ts';
import { schemeTranscoder } from '../../cacher/transcoder.ts';
import { createStoredMedia } from '../../codec/stored-media.ts';
import { encodeStored } from '../../codec/stored-form.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { builtInScheme } from '../../kinds/built-in-kinds.ts';
import { EtcdCluster } from '../../storage-etcd/testing/etcd-process.ts';
import { eventually } from '../../storage-etcd/testing/events.ts';
import { followGraph } from './follow-graph.ts';
import { NodeGraph } from './node-graph.ts';

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const stored = (resource: string): ResourceInfo => {
  const found = scheme.storedResources.find((one) => one.resource === resource);
  if (found === undefined) throw new Error(`no resource ${resource}`);
  return found;
};
const podResource = stored('pods');
const volumeResource = stored('persistentvolumes');

let cluster: EtcdCluster;
let fixture: CacheFixture;
let cache: Cache;
let graph: NodeGraph;
let ending: AbortController;
let ended: Promise<void>;

beforeAll(async () => {
  cluster = await EtcdCluster.start();
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  fixture = new CacheFixture(cluster);
  cache = await fixture.started({
    resources: [{ resource: podResource }, { resource: volumeResource }],
    transcoder: schemeTranscoder(scheme, createStoredMedia('json', naming)),
  });
  graph = new NodeGraph(naming);
  ending = new AbortController();
});
afterEach(async () => {
  ending.abort(new Error('the test is over'));
  await ended;
  await fixture.close();
});

function start(pods: ResourceView = cache.view(podResource)): Promise<void> {
  const volumes = cache.view(volumeResource);
  const log = createLogger('error', () => undefined);
  const followed = followGraph(graph, { pods, volumes }, log, ending.signal);
  ended = followed.ended;
  return followed.whole;
}

const put = (resource: ResourceInfo, path: string, object: ApiObject): Promise<number> =>
  fixture.putRaw(`${resource.storagePrefix}/${path}`, encodeStored(object, resource).value);

/** A pod that mounts a secret and a claim. */
const putPod = (name: string, nodeName: string, secretName: string): Promise<number> =>
  put(podResource, `ns/${name}`, {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { namespace: 'ns', name, uid: name },
    spec: {
      ...(nodeName === '' ? {} : { nodeName }),
      volumes: [
        { name: 's', secret: { secretName } },
        { name: 'v', persistentVolumeClaim: { claimName: 'data' } },
      ],
    },
  });

async function remove(resource: ResourceInfo, path: string): Promise<void> {
  const key = `${fixture.prefix}${resource.storagePrefix}/${path}`;
  const { item } = await fixture.storage.get(key, fixture.signal);
  const expected = item?.modRevision ?? 0;
  const result = await fixture.storage.delete(key, { expected }, fixture.signal);
  if (!result.ok) throw new Error(`${key} was not deleted`);
}

const needs = (node: string, name: string): boolean =>
  graph.needs(node, 'secret', { namespace: 'ns', name });
const becomes = (read: () => unknown, value: unknown): Promise<void> =>
  eventually(() => {
    expect(read()).toEqual(value);
  });

test('a pod counts from its binding to its deletion', async () => {
  await putPod('p', '', 'a');
  await start();
  expect(needs('n1', 'a')).toBe(false);
  await putPod('p', 'n1', 'a');
  await becomes(() => needs('n1', 'a'), true);
  await putPod('other', 'n1', 'a');
  await putPod('other', 'n1', 'b');
  await becomes(() => needs('n1', 'b'), true);
  await remove(podResource, 'ns/p');
  await becomes(() => needs('n1', 'a'), false);
  await remove(podResource, 'ns/other');
  await becomes(() => graph.isEmpty, true);
});

test('a volume counts while it says that it is bound to a claim of a pod', async () => {
  const putVolume = (name: string): Promise<number> =>
    put(volumeResource, 'pv', {
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: { name: 'pv' },
      spec: {
        claimRef: { namespace: 'ns', name },
        csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: { namespace: 'x', name: 's' } },
      },
    });
  const stage = { namespace: 'x', name: 's' };
  const state = (): boolean[] => [
    graph.needsVolume('n1', 'pv'),
    graph.needs('n1', 'secret', stage),
  ];
  await putPod('p', 'n1', 'a');
  await putVolume('data');
  await start();
  await becomes(state, [true, true]);
  await putVolume('other');
  await becomes(state, [false, false]);
  await putVolume('data');
  await becomes(state, [true, true]);
  await remove(volumeResource, 'pv');
  await becomes(state, [false, false]);
});

test('a pod that cannot be read gives nothing, and holds up no other', async () => {
  const key = `${podResource.storagePrefix}/ns/broken`;
  await fixture.putRaw(key, Buffer.from('nonsense'));
  await putPod('p', 'n1', 'a');
  await start();
  await becomes(() => needs('n1', 'a'), true);
  await putPod('broken', 'n1', 'b');
  await becomes(() => needs('n1', 'b'), true);
  await fixture.putRaw(key, Buffer.from('nonsense again'));
  await becomes(() => needs('n1', 'b'), false);
  await putPod('q', 'n1', 'c');
  await becomes(() => [needs('n1', 'a'), needs('n1', 'c')], [true, true]);
});

test('after its watch failed, what was deleted meanwhile counts no more', async () => {
  const real = cache.view(podResource);
  let isCut = false;
  // Breaks the first stream after its state; everything else is the real view.
  const view = Object.assign(Object.create(real) as ResourceView, {
    name: real.name,
    watch: async (...args: Parameters<ResourceView['watch']>) => {
      const cursor = await real.watch(...args);
      if (isCut) return cursor;
      isCut = true;
      let calls = 0;
      return Object.assign(Object.create(cursor) as typeof cursor, {
        next: async (signal: AbortSignal) => {
          if (++calls === 1) return cursor.next(signal);
          await remove(podResource, 'ns/gone');
          await real.list({}, { mode: 'latest' }, { limitCount: 0 }, signal);
          throw new Error('cut');
        },
        close: () => {
          cursor.close();
        },
      });
    },
  });
  await putPod('gone', 'n1', 'a');
  await putPod('stays', 'n1', 'b');
  await start(view);
  await becomes(() => [needs('n1', 'a'), needs('n1', 'b')], [false, true]);
});
