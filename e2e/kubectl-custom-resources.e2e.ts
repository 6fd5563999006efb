// What operators and their users do with custom resources by stock kubectl, against one replica.
// Skipped where there is no kubectl.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import {
  listOf,
  operatorCategory,
  objectVersions,
  operatorDefinitions,
  operatorGroup,
  operatorKinds,
  operatorObjects,
} from './operator-manifests.ts';
import {
  hasKubectl,
  KubectlCluster,
  kubectlEnvironment,
  runKubectl,
  verdictsOf,
} from './run-kubectl.ts';
import type { KubectlResult } from './run-kubectl.ts';

const plurals = operatorKinds.map(({ plural }) => plural);
const names = plurals.map((plural) => `${plural}.${operatorGroup}`);
const crds = names.map((name) => `crd/${name}`);
/** What an annotation may hold, in which `apply` keeps what it sent. */
const annotationBytesMax = 256 * 1024;
let kube: KubectlCluster;

const told = (...args: readonly string[]): string => kube.told(...args);
const kubectl = (...args: readonly string[]): KubectlResult => kube.run(...args);

const definitionsFile = (name: string, bytesMax = Infinity): string =>
  kube.file(
    name,
    listOf(operatorDefinitions().filter((one) => JSON.stringify(one).length < bytesMax)),
  );

/** What a `get -w` prints until all of it was seen, while `work` goes on. */
async function watched(
  args: readonly string[],
  { begun, work, seen }: { begun: RegExp; work: () => void; seen: RegExp },
): Promise<string> {
  const child = spawn('kubectl', ['get', '-w', ...args], { env: kubectlEnvironment(kube.home) });
  let out = '';
  const until = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (pattern.test(out)) resolve();
      };
      child.stdout.on('data', look);
      child.once('close', () => reject(new Error(`ended before ${String(pattern)}: ${out}`)));
      look();
    });
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
  const closed = new Promise((resolve) => child.once('close', resolve));
  const giveUp = setTimeout(() => child.kill('SIGINT'), 30_000);
  try {
    await until(begun);
    work();
    await until(seen);
  } finally {
    clearTimeout(giveUp);
    child.kill('SIGINT');
    await closed;
  }
  return out;
}

(hasKubectl ? describe : describe.skip)('stock kubectl with custom resources', () => {
  beforeAll(async () => {
    kube = await KubectlCluster.start();
  });
  afterAll(() => kube.stop());

  const inOne = ['-n', 'one'];
  const collector = ['collectors/o0', ...inOne];
  const shown = (path: string): string => told('get', ...collector, '-o', `jsonpath={${path}}`);

  test('applies the definitions of an operator on the server, twice as once', () => {
    const file = definitionsFile('definitions');
    const sizes = operatorDefinitions().map((one) => JSON.stringify(one).length);
    expect(Math.max(...sizes)).toBeGreaterThan(780_000);
    told('apply', '--server-side', '-f', file);
    told('wait', '--for=condition=established', '--timeout=60s', ...crds);
    const versions = ['get', ...crds, '-o', 'jsonpath={.items[*].metadata.resourceVersion}'];
    const before = told(...versions);
    told('apply', '--server-side', '-f', file);
    expect(told(...versions)).toBe(before);
    expect(told('diff', '--server-side', '-f', file)).toBe('');
  });

  test('applies them on the client where they fit into its annotation', () => {
    const file = definitionsFile('small', annotationBytesMax);
    const first = kubectl('apply', '-f', file);
    expect([first.code, verdictsOf(first.out.trim())]).toEqual([0, ['configured']]);
    expect(verdictsOf(told('apply', '-f', file))).toEqual(['unchanged']);
    expect(told('diff', '-f', file)).toBe('');
    const tooLong = kubectl('apply', '-f', definitionsFile('all'));
    expect([tooLong.code, tooLong.err]).toEqual([
      1,
      expect.stringContaining('metadata.annotations: Too long: may not be more than 262144 bytes'),
    ]);
  });

  test('applies objects of all kinds, twice as once, in both ways', () => {
    for (const [namespace, mode] of [
      ['one', []],
      ['two', ['--server-side']],
    ] as const) {
      told('create', 'namespace', namespace);
      const file = kube.file(namespace, listOf(operatorObjects(namespace, 3)));
      const apply = ['apply', ...mode, '--validate=strict', '-f', file];
      const [made, again] = mode.length === 0 ? ['created', 'unchanged'] : [];
      expect(verdictsOf(told(...apply))).toEqual([made ?? 'serverside-applied']);
      const versions = told(...objectVersions(namespace));
      expect(versions.split('\n')).toHaveLength(3 * plurals.length);
      expect(verdictsOf(told(...apply))).toEqual([again ?? 'serverside-applied']);
      expect(told(...objectVersions(namespace))).toBe(versions);
      expect(told('diff', ...mode, '-f', file)).toBe('');
    }
  });

  test('explains them from both documents', () => {
    const all = told('explain', 'collectors', '--recursive');
    expect(all).toMatch(/^ {2}spec\t<Object> -required-$/m);
    expect(all).toMatch(/^ {4}step55\t<Object>$/m);
    expect(all).toMatch(/^ {4}mode\t<string>\n {4}enum: Active, Passive$/m);
    const field = told('explain', 'col.spec.containers.ports.protocol');
    expect(field).toContain('FIELD: protocol <string>');
    expect(field).toContain('container.protocol says how this part of the workload is made.');
    const old = told('explain', '--output=plaintext-openapiv2', 'notifier.spec.containers');
    expect(old).toMatch(/livenessProbe\t<Object>/);
  });

  test('prints the columns of their definitions, wide ones only when asked', () => {
    const status = { status: { conditions: [{ type: 'Available', status: 'True' }] } };
    told(
      ...['patch', ...collector, '--subresource=status', '--type=merge', '-p'],
      JSON.stringify(status),
    );
    const row = (...more: readonly string[]): string =>
      told('get', ...collector, ...more).replaceAll(/ {2,}/g, '|');
    expect(row()).toMatch(/^NAME\|VERSION\|DESIRED\|AVAILABLE\|AGE\no0\|1\.2\.3\|2\|True\|\d+s$/);
    expect(row('-o', 'wide')).toMatch(/\|AGE\|MODE\no0\|1\.2\.3\|2\|True\|\d+s\|Active$/);
    told('wait', ...collector, '--for=condition=Available', '--timeout=10s');
    expect(told('get', 'rulegroups', ...inOne).split('\n')[0]).toMatch(
      /^NAME +VERSION +AVAILABLE +AGE$/,
    );
    expect(told('describe', ...collector)).toMatch(/^ {2}Mode: +Active$/m);
  });

  test('finds them by short names, by their category and among all resources', () => {
    expect(told('get', 'col', 'o1', ...inOne, '-o', 'name')).toBe(`collector.${operatorGroup}/o1`);
    const resources = told('api-resources', `--api-group=${operatorGroup}`, '--no-headers');
    expect(resources.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual(
      operatorKinds
        .map(
          ({ plural, shortName, kind }) =>
            `${plural} ${shortName} ${operatorGroup}/v1 true ${kind}`,
        )
        .sort(),
    );
    expect(told('api-resources', `--categories=${operatorCategory}`, '-o', 'name')).toBe(
      [...names].sort().join('\n'),
    );
    expect(told('get', operatorCategory, '-A', '-o', 'name').split('\n')).toHaveLength(
      2 * 3 * plurals.length,
    );
  });

  test('selects them by fields of their own', () => {
    const mode = { spec: { mode: 'Passive' } };
    told('patch', 'collectors/o1', ...inOne, '--type=merge', '-p', JSON.stringify(mode));
    const select = (selector: string): string =>
      told('get', 'collectors', ...inOne, `--field-selector=${selector}`, '-o', 'name');
    expect(select('spec.mode=Passive')).toBe(`collector.${operatorGroup}/o1`);
    expect(select('spec.mode!=Passive,metadata.name=o2')).toBe(`collector.${operatorGroup}/o2`);
    expect(select('spec.version=9')).toBe('');
    expect(
      kubectl('get', 'collectors', ...inOne, '--field-selector=spec.interval=1m'),
    ).toMatchObject({
      code: 1,
      err: expect.stringContaining('field label not supported: spec.interval'),
    });
  });

  test('watches them, and those that begin to match a field', async () => {
    const change = (name: string, spec: object): string =>
      told('patch', `notifiers/${name}`, ...inOne, '--type=merge', '-p', JSON.stringify({ spec }));
    const events = await watched(
      ['notifiers', ...inOne, '--output-watch-events', '--field-selector=spec.version!=9'],
      {
        begun: /(ADDED[^\n]*\n){3}/,
        work: () => {
          change('o0', { replicas: 7 });
          change('o1', { version: '9' });
          change('o1', { version: '10' });
        },
        // Not an age of 10 s, as the first line of the object may show.
        seen: /ADDED +o1 +10 /,
      },
    );
    const rows = events.trim().split('\n').slice(4);
    expect(rows.map((row) => row.split(/ +/).slice(0, 4).join(' '))).toEqual([
      'MODIFIED o0 1.2.3 7',
      'DELETED o1 1.2.3 2',
      'ADDED o1 10 2',
    ]);
  });

  test('edits, labels, annotates and scales them', () => {
    const edit = kube.editor('version', 's/version: 1.2.3/version: 1.2.4/');
    expect(runKubectl(kube.home, ['edit', ...collector], edit)).toMatchObject({ code: 0, err: '' });
    expect(shown('.spec.version')).toBe('1.2.4');
    const wrong = kube.editor('wrong', 's/mode: Active/mode: Sleeping/');
    const refused = runKubectl(kube.home, ['edit', ...collector], wrong);
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining(`collectors.${operatorGroup} "o0" is invalid`),
    ]);
    told('label', ...collector, 'tier=one');
    expect(told('label', ...collector, 'tier=one')).toContain('not labeled');
    told('annotate', ...collector, 'why=not');
    const before = shown('.metadata.generation');
    expect(told('scale', ...collector, '--replicas=7')).toContain('scaled');
    expect(shown('.spec.replicas')).toBe('7');
    expect(Number(shown('.metadata.generation'))).toBe(Number(before) + 1);
    expect(kubectl('scale', ...collector, '--replicas=8', '--current-replicas=3').code).toBe(1);
    expect(kubectl('scale', 'rulegroups/o0', ...inOne, '--replicas=2').code).toBe(1);
  });

  test('patches them in two ways, and the third is refused with its text', () => {
    const patch = (type: string, body: unknown): KubectlResult =>
      kubectl('patch', ...collector, `--type=${type}`, '-p', JSON.stringify(body));
    const path = '/spec/replicas';
    expect(patch('json', [{ op: 'replace', path, value: 2 }]).out).toMatch(/patched$/m);
    expect(patch('json', [{ op: 'test', path, value: 9 }]).code).toBe(1);
    expect(patch('merge', { spec: { replicas: 2 } }).out).toContain('patched (no change)');
    const containers = [{ name: 'main', image: 'registry.example/main:2' }];
    expect(patch('merge', { spec: { containers } }).code).toBe(0);
    expect(patch('strategic', { spec: { replicas: 3 } })).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `application/strategic-merge-patch+json is not supported by ${operatorGroup}/v1, ` +
          'Kind=Collector: the body of the request was in an unknown format - accepted media ' +
          'types include: application/json-patch+json, application/merge-patch+json, ' +
          'application/apply-patch+yaml',
      ),
    });
    expect(patch('merge', { spec: { mode: 'Passive', paused: true } })).toMatchObject({
      code: 1,
      err: expect.stringContaining('what is passive cannot be paused'),
    });
  });

  test('shows what an apply would change, merges by keys, and tells of conflicts', () => {
    const [object] = operatorObjects('two', 1) as [{ spec: Record<string, unknown> }];
    const endpoints = [{ name: 'http', port: 9090 }];
    const file = kube.file('mine', { ...object, spec: { version: '2', endpoints } });
    const apply = ['apply', '--server-side', '--field-manager=mine', '-f', file];
    expect(kubectl('diff', ...apply.slice(1), '--force-conflicts')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^- {2}version: 1\.2\.3\n\+ {2}version: "2"$/m),
    });
    expect(kubectl(...apply).err).toContain(
      'Apply failed with 2 conflicts: conflicts with "kubectl":\n' +
        '- .spec.version\n- .spec.endpoints[name="http"].port',
    );
    told(...apply, '--force-conflicts');
    const at = ['get', 'collectors/o0', '-n', 'two', '-o'];
    expect(told(...at, 'jsonpath={.spec.endpoints[*].port}')).toBe('9090 dns');
  });

  test.each([[[]], [['--server-side']]])('refuses unknown fields: apply %j', (mode) => {
    const [object] = operatorObjects('one', 1) as [{ spec: object }];
    const spec = { ...object.spec, wrong: 1 };
    const file = kube.file('unknown', { ...object, spec });
    const apply = (level: string): KubectlResult =>
      kubectl('apply', ...mode, '--dry-run=server', `--validate=${level}`, '-f', file);
    expect(apply('strict')).toMatchObject({ code: 1, err: expect.stringContaining('spec.wrong') });
    const warned = 'Warning: unknown field "spec.wrong"';
    const force = mode.length === 0 ? [] : ['--force-conflicts'];
    expect(
      kubectl('apply', ...mode, ...force, '--dry-run=server', '--validate=warn', '-f', file),
    ).toMatchObject({ code: 0, err: expect.stringContaining(warned) });
  });

  test('deletes a namespace with custom objects in it', () => {
    told('delete', 'namespace', 'two', '--timeout=60s');
    expect(told('get', operatorCategory, '-A', '-o', 'name')).not.toBe('');
    expect(kubectl('get', operatorCategory, '-n', 'two', '-o', 'name').out).toBe('');
  });

  test('deletes definitions with their objects; made again, they are empty', () => {
    const held = { metadata: { finalizers: ['example.com/hold'] } };
    told('patch', 'rulers/o0', ...inOne, '--type=merge', '-p', JSON.stringify(held));
    told('delete', '--wait=false', ...crds);
    told('get', 'rulers/o0', ...inOne);
    const release = JSON.stringify({ metadata: { finalizers: null } });
    told('patch', 'rulers/o0', ...inOne, '--type=merge', '-p', release);
    told('wait', '--for=delete', '--timeout=60s', ...crds);
    expect(kubectl('get', 'collectors', '-A')).toMatchObject({
      code: 1,
      err: expect.stringContaining('the server could not find the requested resource'),
    });
    told('apply', '--server-side', '-f', definitionsFile('definitions'));
    told('wait', '--for=condition=established', '--timeout=60s', ...crds);
    expect(kubectl('get', operatorCategory, '-A')).toMatchObject({ code: 0, out: '' });
    told('delete', '--timeout=60s', ...crds);
  });
});
