// What stock kubectl makes of patches and of both kinds of apply, against a replica in the
// kubernetes profile. Skipped where there is no kubectl.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasKubectl, KubectlCluster, runKubectl, toldBy, verdictsOf } from './run-kubectl.ts';
import type { KubectlHome, KubectlResult } from './run-kubectl.ts';
import { shopManifests } from './shop-manifests.ts';

const every = 'configmaps,deployments,services,roles,statefulsets';
const note = 'kubectl.kubernetes.io/last-applied-configuration';
const manifests = fileURLToPath(new URL('../../shared/manifests', import.meta.url));
const hasManifests = existsSync(manifests);
let kube: KubectlCluster;

const kubectl = (...args: readonly string[]): KubectlResult => kube.run(...args);

const told = (...args: readonly string[]): string => kube.told(...args);

/** With a namespace for what names none; a flag would refuse what names another one. */
function homeIn(namespace: string): KubectlHome {
  const home = { ...kube.home, kubeconfig: join(kube.folder, `${namespace}.kubeconfig`) };
  copyFileSync(kube.home.kubeconfig, home.kubeconfig);
  toldBy(home, 'config', 'set-context', '--current', `--namespace=${namespace}`);
  return home;
}

interface ShopFiles {
  readonly place: string;
  readonly first: string;
  readonly second: string;
}

/** The two states of the shop in a namespace of its own, which is applied. */
function shopIn(name: string): ShopFiles {
  const { namespace, first, second } = shopManifests(name);
  const place = kube.file(`${name}-0`, namespace);
  told('apply', '-f', place);
  return { place, first: kube.file(`${name}-1`, first), second: kube.file(`${name}-2`, second) };
}

/** But for what every namespace has. */
const contentOf = (namespace: string, ...output: readonly string[]): string =>
  told(
    ...['get', every, '-n', namespace, '--ignore-not-found', ...output],
    '--field-selector=metadata.name!=kube-root-ca.crt',
  );

const versionsIn = (namespace: string): string =>
  contentOf(
    namespace,
    ...['--no-headers', '-o'],
    'custom-columns=K:.kind,N:.metadata.name,V:.metadata.resourceVersion',
  );

const shown = (namespace: string, object: string, path: string): string =>
  told('get', object, '-n', namespace, '-o', `jsonpath={${path}}`);

/** `manager operation subresource` of each owner. */
const ownersIn = (namespace: string, object: string): string[] =>
  told(
    ...['get', object, '-n', namespace, '--show-managed-fields', '-o'],
    'jsonpath={range .metadata.managedFields[*]}{.manager} {.operation} {.subresource}{"\\n"}{end}',
  )
    .split('\n')
    .map((line) => line.trim())
    .sort();

/** Those beside the checkout whose kinds are built in, in a namespace. */
function manifestsFor(namespace: string): string {
  const files = readdirSync(manifests, { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((file) => file.endsWith('.yaml') && !file.includes('setup'))
    .map((file) => readFileSync(join(manifests, file), 'utf8'))
    .filter((text) => !text.includes('apiVersion: monitoring.coreos.com'))
    .map((text) => text.replaceAll('namespace: monitoring', `namespace: ${namespace}`));
  const path = join(kube.folder, `${namespace}.yaml`);
  writeFileSync(path, texts.join('\n---\n'));
  return path;
}

(hasKubectl ? describe : describe.skip)('stock kubectl', () => {
  beforeAll(async () => {
    kube = await KubectlCluster.start();
  });
  afterAll(() => kube.stop());

  test('applies on the client: creates, leaves alone, changes and removes', () => {
    const { place, first, second } = shopIn('client');
    expect(told('apply', '-f', place)).toBe('namespace/client unchanged');
    expect(kubectl('diff', '-f', first).code).toBe(1);
    expect(contentOf('client')).toBe('');
    expect(verdictsOf(told('apply', '-f', first))).toEqual(['created']);
    const versions = versionsIn('client');
    expect(verdictsOf(told('apply', '-f', first))).toEqual(['unchanged']);
    expect(told('diff', '-f', first)).toBe('');
    expect(kubectl('diff', '-f', second)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^- {2}replicas: 3\n\+ {2}replicas: 5$/m),
    });
    const dryRun = told('apply', '--dry-run=server', '-f', second);
    expect(dryRun).toContain('configmap/settings configured (server dry run)');
    expect(versionsIn('client')).toBe(versions);
    expect(verdictsOf(told('apply', '-f', second)).sort()).toEqual(['configured', 'unchanged']);
    expect(shown('client', 'configmap/settings', '.data')).toBe('{"a":"9","c":"3"}');
    const containers = '.spec.template.spec.containers';
    expect(shown('client', 'deployment/front', `${containers}[*].name`)).toBe('web');
    expect(shown('client', 'deployment/front', `${containers}[0].env[*].name`)).toBe('A');
    expect(shown('client', 'service/front', '.spec.ports[*].port')).toBe('80 5353');
    expect(verdictsOf(told('apply', '-f', second))).toEqual(['unchanged']);
    expect(told('diff', '-f', second)).toBe('');
  });

  test('applies on the server, twice as once, and tells of conflicts', () => {
    const { first, second } = shopIn('server');
    const apply = (...more: readonly string[]): KubectlResult =>
      kubectl('apply', '--server-side', ...more);
    expect(kubectl('diff', '--server-side', '-f', first).code).toBe(1);
    expect(apply('--dry-run=server', '-f', first).code).toBe(0);
    expect(contentOf('server')).toBe('');
    expect(apply('-f', first)).toMatchObject({ code: 0, err: '' });
    const versions = versionsIn('server');
    expect(apply('-f', first)).toMatchObject({ code: 0, err: '' });
    expect(told('diff', '--server-side', '-f', first)).toBe('');
    expect(kubectl('diff', '--server-side', '-f', second).code).toBe(1);
    expect(versionsIn('server')).toBe(versions);
    const refused = apply('-f', second, '--field-manager=other');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      'Apply failed with 2 conflicts: conflicts with "kubectl":\n' +
        '- .spec.replicas\n- .spec.template.spec.containers[name="web"].image\n',
    );
    expect(refused.err).toContain('Apply failed with 1 conflict: conflict with "kubectl": .data.a');
    expect(apply('-f', second, '--field-manager=other', '--force-conflicts').code).toBe(0);
    expect(shown('server', 'configmap/settings', '.data')).toBe('{"a":"9","b":"2","c":"3"}');
    expect(ownersIn('server', 'configmap/settings')).toEqual(['kubectl Apply', 'other Apply']);
    expect(apply('-f', second)).toMatchObject({ code: 0, err: '' });
    expect(shown('server', 'configmap/settings', '.data')).toBe('{"a":"9","c":"3"}');
    expect(shown('server', 'service/front', '.spec.ports[*].port')).toBe('80 5353');
    expect(told('diff', '--server-side', '-f', second)).toBe('');
  });

  test('goes over from applying on the client to the server, and back', () => {
    const { first, second } = shopIn('both');
    const onServer = ['apply', '--server-side', '-f'];
    told('apply', '-f', first);
    told(...onServer, second);
    expect(ownersIn('both', 'deployment/front')).toEqual([
      'kubectl Apply',
      'kubectl-last-applied Apply',
    ]);
    expect(shown('both', 'configmap/settings', '.data')).toBe('{"a":"9","c":"3"}');
    expect(told('apply', 'view-last-applied', 'configmap/settings', '-n', 'both')).toContain('c: ');
    const versions = versionsIn('both');
    told(...onServer, second);
    expect(versionsIn('both')).toBe(versions);
    told('apply', '-f', first);
    expect(shown('both', 'configmap/settings', '.data')).toBe('{"a":"1","b":"2"}');
    expect(told('diff', '-f', first)).toBe('');
    told(...onServer, first);
    expect(told('diff', '--server-side', '-f', first)).toBe('');
    expect(ownersIn('both', 'configmap/settings')).not.toContain(
      'kubectl-client-side-apply Update',
    );
  });

  test('reads and writes what was last applied', () => {
    const { first, second } = shopIn('last');
    const inLast = ['-n', 'last'];
    told('create', '--save-config', '-f', first);
    expect(verdictsOf(told('apply', '-f', first))).toEqual(['unchanged']);
    told('apply', 'set-last-applied', '-f', second);
    const view = ['apply', 'view-last-applied', 'configmap/settings', ...inLast];
    expect(told(...view, '-o', 'json')).toContain('"c": "3"');
    const edit = ['apply', 'edit-last-applied', 'configmap/settings', ...inLast];
    const edited = runKubectl(kube.home, edit, kube.editor('last', 's/c: "3"/d: "4"/'));
    expect(edited).toMatchObject({ code: 0, err: '' });
    expect(told(...view)).toContain('d: "4"');
    told('replace', '-f', second);
    expect(shown('last', 'configmap/settings', '.metadata.annotations')).toBe('');
    const without = kubectl('apply', '-f', second);
    expect([without.code, without.err]).toEqual([
      0,
      expect.stringContaining(`missing the ${note}`),
    ]);
  });

  test('edits, labels, annotates, scales and sets', () => {
    told('apply', '-f', shopIn('change').first);
    const front = ['deployment/front', '-n', 'change'];
    const edit = kube.editor('edit', 's/replicas: 3/replicas: 4/');
    expect(runKubectl(kube.home, ['edit', ...front], edit)).toMatchObject({ code: 0, err: '' });
    expect(runKubectl(kube.home, ['edit', ...front], edit).err).toContain('no changes made');
    told('label', ...front, 'tier=web');
    expect(told('label', ...front, 'tier=web')).toContain('not labeled');
    told('annotate', ...front, 'why=not', '--field-manager=me');
    told('scale', ...front, '--replicas=7');
    expect(kubectl('scale', ...front, '--replicas=8', '--current-replicas=3').code).toBe(1);
    told('set', 'image', ...front, 'web=registry.example/web:2');
    told('set', 'env', ...front, 'C=3', 'A-');
    told('rollout', 'restart', ...front);
    expect(shown('change', 'deployment/front', '.spec.replicas')).toBe('7');
    const web = '.spec.template.spec.containers[0]';
    expect(shown('change', 'deployment/front', `${web}.image`)).toBe('registry.example/web:2');
    expect(ownersIn('change', 'deployment/front')).toEqual([
      'kubectl Update scale',
      'kubectl-client-side-apply Update',
      'kubectl-label Update',
      'kubectl-rollout Update',
      'kubectl-set Update',
      'me Update',
    ]);
  });

  test('patches in three ways and through subresources', () => {
    told('apply', '-f', shopIn('patches').first);
    const patch = (type: string, body: unknown, ...more: readonly string[]): KubectlResult =>
      kubectl(
        ...['patch', 'deployment', 'front', '-n', 'patches', `--type=${type}`],
        ...['-p', JSON.stringify(body), ...more],
      );
    const replicas = '/spec/replicas';
    expect(patch('json', [{ op: 'replace', path: replicas, value: 2 }]).code).toBe(0);
    expect(patch('json', [{ op: 'test', path: replicas, value: 9 }])).toMatchObject({
      code: 1,
      err: expect.stringContaining('operation 0 (test "/spec/replicas")'),
    });
    expect(patch('merge', { spec: { replicas: 2 } }).out).toContain('patched (no change)');
    const containers = [{ name: 'web', image: 'registry.example/web:3' }];
    expect(patch('strategic', { spec: { template: { spec: { containers } } } }).code).toBe(0);
    const images = '.spec.template.spec.containers[*].image';
    expect(shown('patches', 'deployment/front', images)).toBe(
      'registry.example/web:3 registry.example/side:1',
    );
    expect(patch('merge', { spec: { replicas: 6 } }, '--subresource=scale').code).toBe(0);
    const conditions = [{ type: 'Available', status: 'True' }];
    const status = { spec: { replicas: 9 }, status: { replicas: 6, readyReplicas: 1, conditions } };
    expect(patch('strategic', status, '--subresource=status').code).toBe(0);
    expect(shown('patches', 'deployment/front', '.spec.replicas')).toBe('6');
    expect(ownersIn('patches', 'deployment/front')).toEqual([
      'kubectl-client-side-apply Update',
      'kubectl-patch Update',
      'kubectl-patch Update scale',
      'kubectl-patch Update status',
    ]);
    const wait = ['wait', 'deployment/front', '-n', 'patches', '--timeout=10s'];
    told(...wait, '--for=jsonpath={.status.readyReplicas}=1');
    told(...wait, '--for=condition=Available');
  });

  test('rolls a deployment back to what its replica sets remember', () => {
    told('apply', '-f', shopIn('undo').first);
    const uid = shown('undo', 'deployment/front', '.metadata.uid');
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'front', uid };
    const items = ['1', '2'].map((revision) => {
      const labels = { app: 'front', 'pod-template-hash': revision };
      const containers = [{ name: 'web', image: `registry.example/old:${revision}` }];
      return {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: {
          name: `front-${revision}`,
          namespace: 'undo',
          labels,
          annotations: { 'deployment.kubernetes.io/revision': revision },
          ownerReferences: [{ ...owner, controller: true }],
        },
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers } },
        },
      };
    });
    told('create', '-f', kube.file('sets', { apiVersion: 'v1', kind: 'List', items }));
    told('rollout', 'undo', 'deployment/front', '-n', 'undo');
    const images = '.spec.template.spec.containers[*].image';
    expect(shown('undo', 'deployment/front', images)).toBe('registry.example/old:1');
  });

  test('prunes by label and by set', () => {
    told('create', 'namespace', 'prune');
    const metadata = { namespace: 'prune', labels: { set: 'x' } };
    const items = ['one', 'two'].map((name) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...metadata, name },
    }));
    const list = { apiVersion: 'v1', kind: 'List' };
    const both = kube.file('both', { ...list, items });
    const one = kube.file('one', { ...list, items: items.slice(0, 1) });
    const names = (): string => told('get', 'configmaps', '-n', 'prune', '-l', 'set', '-o', 'name');
    const byLabel = ['apply', '-n', 'prune', '--prune', '-l', 'set=x'];
    const onlyMaps = '--prune-allowlist=core/v1/ConfigMap';
    told(...byLabel, onlyMaps, '-f', both);
    expect(told(...byLabel, onlyMaps, '-f', one)).toContain('configmap/two pruned');
    expect(names()).toBe('configmap/one');
    const bySet = ['apply', '--server-side', '-n', 'prune', '--prune', '--applyset=set', '-f'];
    const alpha = { KUBECTL_APPLYSET: 'true' };
    expect(runKubectl(kube.home, [...bySet, both], alpha)).toMatchObject({ code: 0, err: '' });
    expect(runKubectl(kube.home, [...bySet, one], alpha).out).toContain('configmap/two pruned');
    expect(names()).toBe('configmap/one');
  });

  test.each([[[]], [['--server-side']]])('refuses unknown fields: apply %j', (mode) => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `field${mode.length}` } };
    const file = kube.file('unknown', { ...map, nope: 1 });
    const apply = (level: string): KubectlResult =>
      kubectl('apply', ...mode, `--validate=${level}`, '-f', file);
    const text = 'unknown field "nope"';
    expect(apply('strict')).toMatchObject({ code: 1, err: expect.stringContaining(text) });
    expect(apply('warn')).toMatchObject({ code: 0, err: `Warning: ${text}\n` });
    expect(apply('ignore')).toMatchObject({ code: 0, err: '' });
  });

  // kubectl says `configured` where a manifest leaves a default of a list's element open, though
  // nothing is written.
  (hasManifests ? test : test.skip).each([
    ['the client', 'monitoring', []],
    ['the server', 'on-server', ['--server-side']],
  ])('writes nothing on %s when it applies again what others made', (_where, namespace, mode) => {
    const file = manifestsFor(namespace);
    told('create', 'namespace', namespace);
    const there = homeIn(namespace);
    const versions = (): string =>
      toldBy(
        there,
        ...['get', '-f', file, '-o'],
        'custom-columns=N:.metadata.name,V:.metadata.resourceVersion',
      );
    toldBy(there, 'apply', ...mode, '-f', file);
    const before = versions();
    toldBy(there, 'apply', ...mode, '-f', file);
    expect(versions()).toBe(before);
    expect(toldBy(there, 'diff', ...mode, '-f', file)).toBe('');
  });
});
