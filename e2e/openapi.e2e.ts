// Clients that learn the API from its OpenAPI documents: kubectl explains kinds and checks what it
// sends. Needs kubectl on the machine; replicas of one release answer with the same bytes.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestCluster } from './harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'apiserver-openapi-'));
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start({ replicaCount: 2, naming: 'kubernetes' });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number;
  readonly output: string;
}

function kubectl(...flags: string[]): Promise<Outcome> {
  const environment = {
    ...process.env,
    HOME: folder,
    KUBECONFIG: cluster.replica(0).kubeconfig,
  };
  return new Promise((resolve) => {
    execFile('kubectl', flags, { env: environment, timeout: 30_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, output: stdout + stderr });
    });
  });
}

function manifest(name: string, object: object): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(object));
  return file;
}

test('replicas answer with the same documents', async () => {
  for (const path of ['/openapi/v2', '/openapi/v3', '/openapi/v3/apis/apps/v1']) {
    const [one, two] = await Promise.all(
      cluster.replicas.map((replica) => replica.request('GET', path)),
    );
    expect(one?.status).toBe(200);
    expect(one?.headers.etag).toBe(two?.headers.etag);
    expect(one?.text === two?.text).toBe(true);
  }
});

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

(hasKubectl ? describe : describe.skip)('kubectl', () => {
  test('explains a kind and everything below it', async () => {
    const { code, output } = await kubectl('explain', 'pod.spec.containers', '--recursive');
    expect([code, output]).toEqual([0, expect.stringContaining('FIELD: containers <[]Container>')]);
    expect(output).toMatch(/Containers that run side by side/);
    expect(output).toMatch(/^ {2}livenessProbe\t<Probe>\n(.*\n)*? {6}command\t<\[\]string>$/m);
    expect(output).toMatch(/^ {2}name\t<string> -required-$/m);
  });

  test.each([
    ['deployment.spec.strategy.type', /ENUM:\n +Recreate\n +RollingUpdate\n/],
    ['customresourcedefinition.spec.versions.schema', /VERSION: {4}v1/],
    ['--output=plaintext-openapiv2 configmap', /binaryData\t<map\[string\]string>/],
  ])('explains %s', async (what, expected) => {
    const { code, output } = await kubectl('explain', ...what.split(' '));
    expect([code, output]).toEqual([0, expect.stringMatching(expected)]);
  });

  test('creates what is strictly valid, and only that', async () => {
    const metadata = { name: 'strict' };
    const good = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'value' } };
    const bad = manifest('bad', { ...good, dat: { key: 'value' } });
    const refused = await kubectl('create', '--validate=strict', '-f', bad);
    expect(refused.code).toBe(1);
    expect(refused.output).toMatch(/unknown field "dat"/);
    const dry = ['create', '--validate=strict', '--dry-run=server', '-f', manifest('good', good)];
    expect(await kubectl(...dry)).toMatchObject({
      code: 0,
      output: 'configmap/strict created (server dry run)\n',
    });
    const created = await kubectl('create', '--validate=strict', '-f', manifest('good', good));
    expect(created).toMatchObject({ code: 0, output: 'configmap/strict created\n' });
  });

  test('explains custom kinds, and sends of them what is strictly valid', async () => {
    const word = (name: string): string => `x-kubernetes-${name}`;
    const spec = {
      type: 'object',
      required: ['color'],
      properties: {
        color: { type: 'string', enum: ['blue', 'red'], description: 'Its color.' },
        note: { type: 'string', nullable: true },
        loose: { type: 'object', [word('preserve-unknown-fields')]: true },
        port: { [word('int-or-string')]: true },
        template: {
          type: 'object',
          [word('embedded-resource')]: true,
          [word('preserve-unknown-fields')]: true,
        },
      },
    };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    expect((await kubectl('apply', '-f', manifest('definition', definition))).code).toBe(0);
    const wait = ['wait', '--for=condition=established', 'crd/widgets.example.com'];
    expect((await kubectl(...wait, '--timeout=30s')).code).toBe(0);
    const { output } = await kubectl('explain', 'widget', '--recursive');
    expect(output).toMatch(/^ {4}color\t<string> -required-\n {4}enum: blue, red$/m);
    expect(output).toMatch(/^ {4}template\t<Object>\n {6}apiVersion\t<string> -required-$/m);
    const old = await kubectl('explain', '--output=plaintext-openapiv2', 'widget.spec.color');
    expect(old.output).toMatch(/Its color\./);
    const widget = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'strict' },
      spec: {
        ...{ color: 'red', note: null, loose: { a: [1] }, port: 'http' },
        template: { apiVersion: 'v1', kind: 'Other', metadata: { name: 'x' }, data: { a: 1 } },
      },
    };
    const strict = ['create', '--validate=strict', '-f'];
    const bad = { ...widget, spec: { ...widget.spec, wrong: 1 } };
    const refused = await kubectl(...strict, manifest('bad-widget', bad));
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining('unknown field "spec.wrong"'),
    ]);
    expect(await kubectl(...strict, manifest('widget', widget))).toMatchObject({
      code: 0,
      output: 'widget.example.com/strict created\n',
    });
  });
});
