// Stock kubectl deletes namespaces: what holds one can be read, and nothing below it stays in etcd.
// Skipped where there is no kubectl.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdStorage } from '../lib/storage-etcd/etcd-storage.ts';
import { hasKubectl, KubectlCluster } from './run-kubectl.ts';
import type { KubectlResult } from './run-kubectl.ts';
import { shopManifests } from './shop-manifests.ts';

let kube: KubectlCluster;

const kubectl = (...args: readonly string[]): KubectlResult => kube.run(...args);

function run(...args: readonly string[]): string {
  const { code, out, err } = kubectl(...args);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${err}`);
  return out;
}

function file(name: string, object: object): string {
  const path = join(kube.folder, name);
  writeFileSync(path, JSON.stringify(object));
  return path;
}

async function until(isTrue: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  while (!isTrue()) await sleep(100, undefined, { signal });
}

/** Keys in etcd that have the namespace as a part of their path. */
async function keysOf(namespace: string): Promise<string[]> {
  const storage = new EtcdStorage(kube.cluster.etcd.connection);
  try {
    const signal = AbortSignal.timeout(60_000);
    const keys: string[] = [];
    for (;;) {
      const afterKey = keys.at(-1);
      const after = afterKey === undefined ? {} : { afterKey };
      const range = { prefix: '/registry/', limitCount: 0, ...after };
      const { items, remainingCount } = await storage.list(range, signal);
      keys.push(...items.map(({ key }) => key));
      if (remainingCount === 0) return keys.filter((key) => key.split('/').includes(namespace));
    }
  } finally {
    storage.close();
  }
}

const describeWithKubectl = hasKubectl ? describe : describe.skip;
describeWithKubectl('a namespace that kubectl deletes', () => {
  beforeAll(async () => {
    kube = await KubectlCluster.start();
  });
  afterAll(() => kube.stop());

  test('has its service account and root certificates before', async () => {
    run('create', 'namespace', 'equipped');
    await until(() => kubectl('get', 'sa/default', '-n', 'equipped').code === 0);
    const name = 'configmap/kube-root-ca.crt';
    await until(() => kubectl('get', name, '-n', 'equipped').code === 0);
    const data = run('get', name, '-n', 'equipped', '-o', 'jsonpath={.data.ca\\.crt}');
    expect(data).toContain('BEGIN CERTIFICATE');
  });

  test('goes with all that is in it, and nothing stays in etcd', async () => {
    const { namespace, first } = shopManifests('shop');
    run('create', '-f', file('namespace.json', namespace));
    run('create', '-f', file('shop.json', first));
    run('create', 'secret', 'generic', 's', '-n', 'shop', '--from-literal=a=b');
    run('create', 'role', 'r', '-n', 'shop', '--verb=get', '--resource=pods');
    await until(() => kubectl('get', 'sa/default', '-n', 'shop').code === 0);
    expect((await keysOf('shop')).length).toBeGreaterThan(5);
    expect(run('delete', 'namespace', 'shop')).toContain('deleted'); // and has waited for it
    expect(kubectl('get', 'namespace', 'shop').err).toContain('NotFound');
    expect(await keysOf('shop')).toEqual([]);
  });

  test('tells in its conditions what a finalizer holds, and goes when that lets go', async () => {
    run('create', 'namespace', 'stuck');
    const held = { name: 'held', namespace: 'stuck', finalizers: ['example.com/stuck'] };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: held };
    run('create', '-f', file('held.json', object));
    run('create', 'configmap', 'free', '-n', 'stuck');
    run('delete', 'namespace', 'stuck', '--wait=false');
    const text = (): string => run('get', 'namespace', 'stuck', '-o', 'yaml');
    await until(() => text().includes('SomeFinalizersRemain'));
    const shown = text().replaceAll(/\n\s+/g, ' ');
    expect(shown).toContain('Some resources are remaining: configmaps. has 1 resource instances');
    expect(shown).toContain(
      'Some content in the namespace has finalizers remaining: ' +
        'example.com/stuck in 1 resource instances',
    );
    expect(shown).toContain('All content successfully deleted, may be waiting on finalization');
    expect(run('get', 'namespace', 'stuck')).toContain('Terminating');
    expect(run('get', 'configmaps', '-n', 'stuck', '-o', 'name').trim()).toBe('configmap/held');
    const free = '{"metadata":{"finalizers":null}}';
    run('patch', 'configmap', 'held', '-n', 'stuck', '--type=merge', '-p', free);
    run('wait', '--for=delete', 'namespace/stuck', '--timeout=60s');
    expect(await keysOf('stuck')).toEqual([]);
  });

  test('comes back when it is one of the system, and does not go where it may not', async () => {
    const uid = (): string =>
      kubectl('get', 'namespace', 'kube-node-lease', '-o', 'jsonpath={.metadata.uid}').out;
    const before = uid();
    run('delete', 'namespace', 'kube-node-lease');
    await until(() => uid() !== '' && uid() !== before);
    const refused = kubectl('delete', 'namespace', 'kube-system');
    expect(refused.err).toContain('forbidden');
  });
});
