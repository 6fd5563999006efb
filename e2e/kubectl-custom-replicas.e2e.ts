// Stock kubectl with the custom resources of an operator, each command through another one of three
// replicas: they are one API. Skipped where there is no kubectl.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminToken } from './harness.ts';
import type { Replica } from './harness.ts';
import {
  listOf,
  objectVersions,
  operatorCategory,
  operatorDefinitions,
  operatorGroup,
  operatorKinds,
  operatorObjects,
} from './operator-manifests.ts';
import { hasKubectl, KubectlCluster, startKubectl, verdictsOf } from './run-kubectl.ts';
import type { KubectlHome } from './run-kubectl.ts';
import { TcpProxy } from './tcp-proxy.ts';

const crds = operatorKinds.map(({ plural }) => `crd/${plural}.${operatorGroup}`);
let kube: KubectlCluster;

/** kubectl's configuration for what listens at `url` with the certificates of these replicas. */
function homeAt(url: string, replicas: readonly Replica[]): KubectlHome {
  const authorities = replicas.map(({ caFile }) => readFileSync(caFile)).join('\n');
  const cluster = {
    server: url,
    'certificate-authority-data': Buffer.from(authorities).toString('base64'),
  };
  const kubeconfig = join(kube.folder, 'balanced.kubeconfig');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: adminToken } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    }),
  );
  return { kubeconfig, home: kube.folder };
}

(hasKubectl ? describe : describe.skip)('stock kubectl through three replicas', () => {
  let balancer: TcpProxy;
  let home: KubectlHome;
  beforeAll(async () => {
    kube = await KubectlCluster.start({ replicaCount: 3 });
    const { replicas } = kube.cluster;
    const [first, ...others] = replicas.map(({ url }) => url);
    balancer = await TcpProxy.start(first ?? '', ...others);
    home = homeAt(balancer.url, replicas);
  });
  afterAll(async () => {
    await balancer.close();
    await kube.stop();
  });

  test('a definition is used by each next command as soon as it is established', async () => {
    const edited = kube.editor('balanced', 's/version: 1.2.3/version: 1.2.4/');
    /** Beside this process, in which the balancer runs. */
    const through = async (...args: readonly string[]): Promise<string> => {
      const { code, out, err } = await startKubectl(home, args, edited);
      expect([args.join(' '), code, err]).toEqual([args.join(' '), 0, '']);
      return out.trim();
    };
    const versions = (): Promise<string> => through(...objectVersions('one'));
    const definitions = kube.file('definitions', listOf(operatorDefinitions()));
    await through('create', 'namespace', 'one');
    await through('apply', '--server-side', '-f', definitions);
    await through('wait', '--for=condition=established', '--timeout=60s', ...crds);
    const objects = kube.file('objects', listOf(operatorObjects('one', 2)));
    expect(verdictsOf(await through('apply', '-f', objects))).toEqual(['created']);
    const before = await versions();
    expect(verdictsOf(await through('apply', '-f', objects))).toEqual(['unchanged']);
    expect(await versions()).toBe(before);
    expect(await through('diff', '-f', objects)).toBe('');
    await through('edit', 'collectors/o0', '-n', 'one');
    const at = ['collectors/o0', '-n', 'one'];
    await through('scale', ...at, '--replicas=4');
    await through('label', ...at, 'tier=one');
    const patch = JSON.stringify({ spec: { mode: 'Passive' } });
    await through('patch', ...at, '--type=merge', '-p', patch);
    const passive = ['-l', 'tier=one', '-o', 'jsonpath={.items[*].spec.replicas}'];
    expect(await through('get', 'col', '-A', ...passive)).toBe('4');
    expect(
      await through('get', 'col', '-n', 'one', '--field-selector=spec.mode=Passive', '-o', 'name'),
    ).toBe(`collector.${operatorGroup}/o0`);
    expect(await through('explain', 'collectors.spec.mode')).toContain('mode <string>');
    expect(await through('get', operatorCategory, '-A', '-o', 'wide')).toContain('Passive');
    await through('delete', '--timeout=60s', ...crds);
    await through('delete', 'namespace', 'one', '--timeout=60s');
  });
});
