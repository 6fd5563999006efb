// Stock kubectl and the kinds of admission: every verb on each, what it prints of refusals and
// warnings by policies and webhooks, and dry runs beside each kind of side effect.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestCa } from '../lib/base/testing/certificates.ts';
import { EtcdStorage } from '../lib/storage-etcd/etcd-storage.ts';
import { ReviewServer } from './ecosystem/review-server.ts';
import { rewriteStored } from './rewrite-stored.ts';
import {
  hasKubectl,
  KubectlCluster,
  kubectlLines,
  runKubectl,
  startKubectl,
} from './run-kubectl.ts';
import type { KubectlResult } from './run-kubectl.ts';

const group = 'admissionregistration.k8s.io';
const apiVersion = `${group}/v1`;
let kubectl: KubectlCluster;
let hook: ReviewServer;
let caBundle: string;
let etcd: EtcdStorage;

beforeAll(async () => {
  if (!hasKubectl) return;
  const ca = await createTestCa('reviews-ca');
  caBundle = Buffer.from(ca.cert).toString('base64');
  const pair = await ca.issue({ use: 'serverAuth', commonName: 'reviews' });
  hook = await ReviewServer.start(
    {
      '/allow': () => ({ allowed: true }),
      '/warn': () => ({ allowed: true, warnings: ['mind the gap', 'second "thought"'] }),
      '/deny': () => ({
        allowed: false,
        warnings: ['you were warned'],
        status: { code: 418, reason: 'Teapot', message: 'short and stout' },
      }),
    },
    pair,
  );
  kubectl = await KubectlCluster.start();
  etcd = new EtcdStorage(kubectl.cluster.etcd.connection);
}, 60_000);
afterAll(async () => {
  etcd?.close();
  await hook?.stop();
  await kubectl?.stop();
});

const kubectlTests = hasKubectl ? describe : describe.skip;
const rowsOf = (out: string): string[] =>
  out.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, '  '));
const rules = (resource: string, groups = ['']): object[] => [
  {
    apiGroups: groups,
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources: [resource],
  },
];
const constraints = (resource: string): object => ({ resourceRules: rules(resource) });
const webhooks = (path: string, resource: string, change: object = {}): object => ({
  webhooks: [
    {
      name: 'w.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url: `https://127.0.0.1:${String(hook.port)}${path}`, caBundle },
      rules: rules(resource),
      ...change,
    },
  ],
});
const manifest = (kind: string, name: string, content: object): object => ({
  apiVersion,
  kind,
  metadata: { name },
  ...content,
});
/** Makes objects for the time of a test. */
async function withObjects(objects: readonly object[], run: () => unknown): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  const file = kubectl.file('objects', list);
  const made = kubectl.run('create', '-f', file);
  expect([made.code, made.err]).toEqual([0, '']);
  try {
    await run();
  } finally {
    kubectl.told('delete', '-f', file);
  }
}

kubectlTests('every verb', () => {
  const nothing = 'nothings';
  const mutation = {
    patchType: 'ApplyConfiguration',
    applyConfiguration: { expression: 'Object{}' },
  };
  test.each<readonly [string, () => object, string, string]>([
    [
      'ValidatingAdmissionPolicy',
      () => ({
        spec: { matchConstraints: constraints(nothing), validations: [{ expression: 'true' }] },
      }),
      'NAME  VALIDATIONS  PARAMKIND  AGE',
      'x  1  <unset>',
    ],
    [
      'ValidatingAdmissionPolicyBinding',
      () => ({ spec: { policyName: 'none', validationActions: ['Deny'] } }),
      'NAME  POLICYNAME  PARAMREF  AGE',
      'x  none  <unset>',
    ],
    [
      'MutatingAdmissionPolicy',
      () => ({
        spec: {
          matchConstraints: constraints(nothing),
          reinvocationPolicy: 'Never',
          mutations: [mutation],
        },
      }),
      'NAME  MUTATIONS  PARAMKIND  AGE',
      'x  1  <unset>',
    ],
    [
      'MutatingAdmissionPolicyBinding',
      () => ({ spec: { policyName: 'none' } }),
      'NAME  POLICYNAME  PARAMREF  AGE',
      'x  none  <unset>',
    ],
    [
      'ValidatingWebhookConfiguration',
      () => webhooks('/allow', nothing),
      'NAME  WEBHOOKS  AGE',
      'x  1',
    ],
    [
      'MutatingWebhookConfiguration',
      () => webhooks('/allow', nothing),
      'NAME  WEBHOOKS  AGE',
      'x  1',
    ],
  ])('of a %s', async (kind, content, head, row) => {
    const type = kind.toLowerCase();
    const of = `${type}.${group}/x`;
    const one = kubectl.file(type, manifest(kind, 'x', content()));
    expect(kubectl.told('create', '-f', one, '--dry-run=server')).toBe(
      `${of} created (server dry run)`,
    );
    expect(kubectl.told('create', '-f', one, '--save-config')).toBe(`${of} created`);
    const again = kubectl.run('create', '-f', one);
    expect(again.err).toMatch(/^Error from server \(AlreadyExists\): .*"x" already exists\n$/s);
    const [columns, values] = rowsOf(kubectl.told('get', type));
    expect([columns, values?.startsWith(row)]).toEqual([head, true]);
    expect(rowsOf(kubectl.told('describe', type, 'x'))).toContain(`Kind:  ${kind}`);
    expect(kubectl.told('get', type, 'x', '-o', 'name')).toBe(of);

    const print = 'jsonpath={.type} {.object.metadata.labels.a}{"\\n"}';
    const watch = ['get', type, 'x', '--watch', '--output-watch-events', '-o', print];
    const lines = kubectlLines(kubectl.home, watch);
    expect((await lines.next()).value).toBe('ADDED ');
    const label = ['--type=merge', '-p', '{"metadata":{"labels":{"a":"1"}}}'];
    expect(kubectl.told('patch', type, 'x', ...label)).toBe(`${of} patched`);
    const editor = kubectl.editor(type, 's/^    a: "1"$/    a: "2"/');
    const edited = runKubectl(kubectl.home, ['edit', type, 'x'], editor);
    expect([edited.out, edited.err]).toEqual([`${of} edited\n`, '']);
    const labelled = { metadata: { name: 'x', labels: { a: '3' } } };
    const other = { apiVersion, kind, ...content(), ...labelled };
    expect(kubectl.told('replace', '-f', kubectl.file(`${type}-3`, other))).toBe(`${of} replaced`);
    const applied = { ...other, metadata: { name: 'x', labels: { a: '4' } } };
    const file = kubectl.file(`${type}-4`, applied);
    expect(kubectl.told('apply', '--server-side', '--force-conflicts', '-f', file)).toBe(
      `${of} serverside-applied`,
    );
    expect(kubectl.told('delete', type, 'x')).toBe(`${type}.${group} "x" deleted`);
    expect(kubectl.run('get', type, 'x').err).toMatch(/^Error from server \(NotFound\): /);
    const seen = new Set<string>(); // the status of a policy may be written meanwhile
    for await (const line of lines) {
      seen.add(line);
      if (line.startsWith('DELETED')) break;
    }
    seen.delete('MODIFIED ');
    const changes = ['1', '2', '3', '4'].map((value) => `MODIFIED ${value}`);
    expect([...seen]).toEqual([...changes, 'DELETED 4']);
  });

  test.each<readonly [string, () => object, string]>([
    [
      'MutatingWebhookConfiguration',
      () => webhooks('/allow', nothing, { sideEffects: 'Some' }),
      'webhooks[0].sideEffects: Unsupported value: "Some": ' +
        'supported values: "None", "NoneOnDryRun"',
    ],
    [
      'ValidatingAdmissionPolicyBinding',
      () => ({ spec: { policyName: 'none', validationActions: ['Deny', 'Warn'] } }),
      'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny ' +
        'and Warn (repeating the same validation failure information in the API response ' +
        'and headers serves no purpose)',
    ],
  ])('a wrong %s is refused, as a dry run, too', (kind, content, cause) => {
    const file = kubectl.file('wrong', manifest(kind, 'wrong', content()));
    for (const dry of [[], ['--dry-run=server']]) {
      const { code, err } = kubectl.run('create', '-f', file, ...dry);
      expect([code, err]).toEqual([1, `The ${kind} "wrong" is invalid: ${cause}\n`]);
    }
  });

  test('a policy that does not compile is refused, with the place', () => {
    const validations = [{ expression: 'object.metadata.name ==' }];
    const spec = { matchConstraints: constraints(nothing), validations };
    const file = kubectl.file('wrong', manifest('ValidatingAdmissionPolicy', 'wrong', { spec }));
    expect(kubectl.run('apply', '-f', file).err).toMatch(
      /is invalid: spec\.validations\[0\]\.expression: .*: ERROR: <input>:1:24: Syntax error/,
    );
  });
});

kubectlTests('a policy', () => {
  const policy = (actions: readonly string[]): object[] => [
    manifest('ValidatingAdmissionPolicy', 'p', {
      spec: {
        matchConstraints: constraints('configmaps'),
        validations: [
          {
            expression: "object.metadata.name != 'bad'",
            messageExpression: "object.metadata.name + ' is a bad name'",
            reason: 'Invalid',
          },
          { expression: "!has(object.data) || !('x' in object.data)" },
        ],
      },
    }),
    manifest('ValidatingAdmissionPolicyBinding', 'p', {
      spec: { policyName: 'p', validationActions: actions },
    }),
  ];
  const denied = "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: ";

  test('that denies is told with its message, or with its expression', () =>
    withObjects(policy(['Deny', 'Audit']), () => {
      for (const dry of [[], ['--dry-run=server']]) {
        expect(kubectl.run('create', 'configmap', 'bad', ...dry).err).toBe(
          'error: failed to create configmap: configmaps "bad" is forbidden: ' +
            `${denied}bad is a bad name\n`,
        );
      }
      kubectl.told('create', 'configmap', 'good', '--from-literal=a=1');
      const written = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'good' } };
      const file = kubectl.file('good', { ...written, data: { x: '1' } });
      const why = `The configmaps "good" is invalid: : ${denied}failed expression: !has(`;
      const refused = (...args: readonly string[]): void => {
        const { code, err } = kubectl.run(...args);
        expect([code, err]).toEqual([1, expect.stringContaining(why)]);
      };
      refused('replace', '-f', file);
      refused('apply', '--server-side', '-f', file);
      refused('patch', 'configmap', 'good', '-p', '{"data":{"x":"1"}}');
      const editor = kubectl.editor('x', 's/^  a: "1"$/  x: "1"/');
      const environment = { ...editor, TMPDIR: kubectl.folder };
      const edited = runKubectl(kubectl.home, ['edit', 'configmap', 'good'], environment);
      expect([edited.code, edited.err]).toEqual([
        1,
        expect.stringContaining('error: configmaps "good" is invalid'),
      ]);
      expect(kubectl.told('get', 'cm', 'good', '-o', 'jsonpath={.data}')).toBe('{"a":"1"}');
      kubectl.told('delete', 'configmap', 'good');
    }));

  test('that warns lets the write through with a line for each violation', () =>
    withObjects(policy(['Warn']), () => {
      const { code, out, err } = kubectl.run('create', 'cm', 'bad', '--from-literal=x=1');
      expect([code, out]).toEqual([0, 'configmap/bad created\n']);
      const warning =
        "Warning: Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p'";
      expect(err.trim().split('\n')).toEqual([
        `${warning}: bad is a bad name`,
        `${warning}: failed expression: !has(object.data) || !('x' in object.data)`,
      ]);
      const strict = kubectl.run('label', 'cm', 'bad', 'a=b', '--warnings-as-errors');
      expect([strict.code, strict.err]).toEqual([1, expect.stringMatching(/2 warnings received/)]);
      kubectl.told('delete', 'configmap', 'bad');
    }));

  test('that mutates is seen in what kubectl prints, also of a dry run', () => {
    const spec = {
      matchConstraints: constraints('configmaps'),
      reinvocationPolicy: 'Never',
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: {
            expression: "Object{metadata: Object.metadata{labels: {'made': 'so'}}}",
          },
        },
        {
          patchType: 'JSONPatch',
          jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/data', value: {'k': 'v'}}]" },
        },
      ],
    };
    const objects = [
      manifest('MutatingAdmissionPolicy', 'm', { spec }),
      manifest('MutatingAdmissionPolicyBinding', 'm', { spec: { policyName: 'm' } }),
    ];
    return withObjects(objects, () => {
      const print = ['-o', 'jsonpath={.metadata.labels.made} {.data.k}'];
      expect(kubectl.told('create', 'cm', 'made', '--dry-run=server', ...print)).toBe('so v');
      expect(kubectl.told('create', 'cm', 'made', ...print)).toBe('so v');
      kubectl.told('delete', 'cm', 'made');
    });
  });
});

kubectlTests('a webhook', () => {
  const configured = (path: string, change: object = {}): object[] => [
    manifest('ValidatingWebhookConfiguration', 'w', webhooks(path, 'secrets', change)),
  ];
  const create = (...more: readonly string[]): Promise<KubectlResult> =>
    startKubectl(kubectl.home, ['create', 'secret', 'generic', 's', ...more]);

  test('that warns and denies is told with its words', async () => {
    await withObjects(configured('/warn'), async () => {
      expect(await create('--dry-run=server')).toEqual({
        code: 0,
        out: 'secret/s created (server dry run)\n',
        err: 'Warning: mind the gap\nWarning: second "thought"\n',
      });
    });
    await withObjects(configured('/deny'), async () => {
      expect(await create()).toEqual({
        code: 1,
        out: '',
        err:
          'Warning: you were warned\nerror: failed to create secret ' +
          'admission webhook "w.example.com" denied the request: short and stout\n',
      });
    });
  });

  test('that is not there is told with its name and address', async () => {
    const clientConfig = { url: 'https://127.0.0.1:1/x' };
    await withObjects(configured('', { clientConfig }), async () => {
      const { code, err } = await create();
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(
          /^error: .* failed calling webhook "w\.example\.com": .*:1: .*connection refused/,
        ),
      ]);
    });
  });

  test('that fails closed on what its own service needs is taken with a warning', () => {
    const service = { namespace: 'hooks', name: 'hook' };
    const block = webhooks('', 'pods', { clientConfig: { service } });
    const file = kubectl.file('block', manifest('MutatingWebhookConfiguration', 'b', block));
    const { code, out, err } = kubectl.run('create', '-f', file);
    expect([code, out]).toEqual([0, `mutatingwebhookconfiguration.${group}/b created\n`]);
    expect(err).toMatch(/^Warning: webhooks\[0\]: fails closed on the pods of namespace "hooks"/);
    expect(err).toContain('"key":"kubernetes.io/metadata.name","operator":"NotIn"');
    kubectl.told('delete', 'mutatingwebhookconfiguration', 'b');
  });

  /** As configurations of a version that is gone have it: spaces keep the length. */
  async function storeSideEffects(value: string): Promise<void> {
    const to = `"${value}"`.padEnd('"NoneOnDryRun"'.length);
    await rewriteStored(etcd, 'validatingwebhookconfigurations/w', { from: '"NoneOnDryRun"', to });
    const print = ['-o', 'jsonpath={.webhooks[0].sideEffects}'];
    expect(kubectl.told('get', 'validatingwebhookconfiguration', 'w', ...print)).toBe(value);
  }
  test.each([
    ['None', true],
    ['NoneOnDryRun', true],
    ['Some', false],
    ['Unknown', false],
  ])('h.dry-run: with sideEffects %s lets a dry run through: %s', async (sideEffects, isAsked) => {
    const isOld = !isAsked;
    const change = { sideEffects: isOld ? 'NoneOnDryRun' : sideEffects };
    await withObjects(configured('/allow', change), async () => {
      if (isOld) await storeSideEffects(sideEffects);
      hook.requests.length = 0;
      const { code, err } = await create('--dry-run=server');
      const refusal =
        'error: failed to create secret ' +
        'admission webhook "w.example.com" does not support dry run\n';
      expect([code, err]).toEqual(isAsked ? [0, ''] : [1, refusal]);
      expect(hook.requests.map(({ dryRun }) => dryRun)).toEqual(isAsked ? [true] : []);
      expect((await create()).code).toBe(0);
      expect(hook.requests.at(-1)?.dryRun).toBe(false);
      kubectl.told('delete', 'secret', 's');
    });
  });
});
