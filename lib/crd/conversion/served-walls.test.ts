// Walls over a real etcd, served in versions that a real webhook converts, or strategy None: what a
// slow webhook holds up, one that calls back, and what the schemas of the versions make of objects.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mixedStores } from '../../registry/testing/mixed-store.ts';
import type { MixedStores, VersionName } from '../../registry/testing/mixed-store.ts';
import { wall } from '../../registry/testing/mixed-walls.ts';
import { RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../../registry/testing/registry-on-etcd.ts';
import {
  bytesOf,
  configMap,
  failure,
  fresh,
  namesOf,
  sent,
  VerbDriver,
} from '../../registry/testing/verb-driver.ts';
import { createKeyspace } from '../../storage-etcd/keys.ts';
import { ConversionMetrics } from './conversion-metrics.ts';
import type { ConversionWebhook } from './conversion-webhook.ts';
import { converterOf } from './converter.ts';
import { ConversionServer, converted } from './testing/conversion-server.ts';
import type { AskedReview } from './testing/conversion-server.ts';
import { metrics } from './testing/walls.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let generation = 0;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
});
afterAll(() => registry.stop());

function serve(
  resource: string,
  storage: VersionName,
  webhook: ConversionWebhook | undefined,
): MixedStores {
  return mixedStores(replica, {
    storage,
    resource,
    converter: (versions) =>
      converterOf({
        name: `${resource}.example.com`,
        versions,
        generation: String(++generation),
        webhook,
        metrics: new ConversionMetrics(metrics.series),
      }),
  });
}

describe('a webhook', () => {
  test('serves reads, lists, writes and watches in every version, one call a change', async () => {
    await using server = await ConversionServer.start();
    const webhook = server.webhook();
    const walls = serve('plainwalls', 'v1', webhook);
    const name = fresh();
    await verbs.create(walls.store('v2'), wall(name, { paint: 'red', size: 3 }));
    expect(await verbs.get(walls.store('v1'), name)).toMatchObject({
      spec: { color: 'red', size: 3 },
    });
    await verbs.patch(walls.store('v3'), name, { spec: { tint: 'blue' } });
    server.reviews.length = 0;
    const lists = await Promise.all(
      Array.from({ length: 100 }, () => verbs.list(walls.store('v2'))),
    );
    for (const { items } of lists) {
      expect(items.map(sent)).toMatchObject([{ spec: { paint: 'blue', size: 3 } }]);
    }
    expect(server.reviews).toHaveLength(1);
    webhook.close();
  });

  test('that hangs holds neither built-in requests nor those of the stored version', async () => {
    await using server = await ConversionServer.start();
    server.answer = () => undefined;
    const webhook = server.webhook({}, { timeoutMs: 3_000 });
    const walls = serve('slowwalls', 'v1', webhook);
    const name = fresh();
    await verbs.create(walls.store('v1'), wall(name, { color: 'red' }));
    let endedCount = 0;
    const held = Array.from({ length: 20 }, async () => {
      const { message } = await failure(verbs.get(walls.store('v2'), name));
      endedCount++;
      return message;
    });
    const configMaps = replica.store('configmaps');
    for (let count = 0; count < 10; count++) {
      await verbs.create(configMaps, configMap(fresh()));
      await verbs.patch(walls.store('v1'), name, { spec: { size: count } });
    }
    await verbs.list(configMaps);
    await verbs.remove(walls.store('v1'), name);
    expect(endedCount).toBe(0);
    const text = 'conversion webhook for example.com/v1, Kind=Wall failed: Post "';
    for (const message of await Promise.all(held)) expect(message).toContain(text);
    webhook.close();
  });

  test('may read its own kind in the version that is stored', async () => {
    await using server = await ConversionServer.start();
    const webhook = server.webhook();
    const walls = serve('readwalls', 'v1', webhook);
    const name = fresh();
    await verbs.create(walls.store('v1'), wall(name, { color: 'red' }));
    const seen: unknown[] = [];
    server.answer = async (review, exchange) => {
      seen.push((await verbs.get(walls.store('v1'), name))['spec']);
      return converted(review, exchange);
    };
    expect(await verbs.get(walls.store('v2'), name)).toMatchObject({ spec: { paint: 'red' } });
    expect(seen).toEqual([{ color: 'red', size: 1 }]);
    webhook.close();
  });

  test('that reads what it is to convert waits for itself, for its time alone', async () => {
    await using server = await ConversionServer.start();
    const webhook = server.webhook({}, { timeoutMs: 500 });
    const walls = serve('loopwalls', 'v1', webhook);
    const name = fresh();
    await verbs.create(walls.store('v1'), wall(name, { color: 'red' }));
    const inner: string[] = [];
    server.answer = async (review, exchange) => {
      const { message } = await failure(verbs.list(walls.store('v2')));
      inner.push(message);
      return converted(review, exchange);
    };
    const { message } = await failure(verbs.get(walls.store('v2'), name));
    expect(message).toContain('deadline exceeded while waiting for the answer');
    while (inner.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(inner).toEqual([message]);
    server.answer = converted;
    expect(await verbs.get(walls.store('v2'), name)).toMatchObject({ spec: { paint: 'red' } });
    expect(server.reviews).toHaveLength(2);
    webhook.close();
  });

  test('is sent a long list in few calls of a bounded size', async () => {
    await using server = await ConversionServer.start();
    const webhook = server.webhook();
    const walls = serve('longwalls', 'v1', webhook);
    const big = 'x'.repeat(200_000);
    for (let count = 0; count < 12; count++) {
      await verbs.create(walls.store('v1'), wall(fresh(), { color: big }));
    }
    const { items } = await verbs.list(walls.store('v2'));
    expect(new Set(items.map((item) => sent(item)['apiVersion']))).toEqual(
      new Set(['example.com/v2']),
    );
    const countOf = ({ request }: AskedReview): number => request.objects.length;
    expect(server.reviews.map(countOf).toSorted()).toEqual([2, 5, 5]);
    webhook.close();
  });
});

describe('strategy None', () => {
  const put = async (resource: string, object: object): Promise<void> => {
    const { name } = (object as { readonly metadata: { readonly name: string } }).metadata;
    const key = createKeyspace('/registry').key(`example.com/${resource}`, 'ns', name);
    const { signal } = new AbortController();
    await replica.storage.put(key, bytesOf(object), { expected: 0 }, signal);
  };

  test('shows what the version knows of what the stored version knows', async () => {
    const spec = { color: 'red', paint: 'blue', tint: 'gold' };
    const metadata = { name: 'old', namespace: 'ns', uid: 'u' };
    await put('nonewalls', { kind: 'Wall', apiVersion: 'example.com/v1', metadata, spec });
    const walls = serve('nonewalls', 'v2', undefined);
    const shown = async (version: VersionName): Promise<unknown> =>
      (await verbs.get(walls.store(version), 'old'))['spec'];
    // v1 knows color alone, which no other version has.
    expect(await shown('v2')).toEqual({ size: 1 });
    expect(await shown('v1')).toEqual({ size: 1 });
  });

  test('selects by fields that the version of the request has, after the conversion', async () => {
    const walls = serve('pickedwalls', 'v2', undefined);
    await verbs.create(walls.store('v2'), wall('a', { paint: 'red' }));
    await verbs.create(walls.store('v2'), wall('b', { paint: 'blue' }));
    const of = async (version: VersionName, selector: string): Promise<string[]> => {
      const query = `fieldSelector=${encodeURIComponent(selector)}`;
      return namesOf(await verbs.list(walls.store(version), query));
    };
    expect(await of('v2', 'spec.paint=red')).toEqual(['a']);
    expect(await of('v1', 'spec.color=red')).toEqual([]);
    expect(await of('v1', 'spec.color!=red')).toEqual(['a', 'b']);
  });
});
