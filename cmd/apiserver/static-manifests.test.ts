// Configurations of admission in files: which are taken, which refuse the start, and what a change
// of the files does.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pluginTable } from '../../lib/admission/plugin-table.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { createLogger } from '../../lib/base/log.ts';
import { ManualClock } from '../../lib/base/testing/manual-clock.ts';
import { featureGates } from '../../lib/config/gates.ts';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { chosenPlugins } from './chosen-plugins.ts';
import { openStaticManifests } from './static-manifests.ts';

const root = mkdtempSync(join(tmpdir(), 'static-manifests-'));
const folder = join(root, 'files');
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
});

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const version = naming.resolve('admissionregistration.{v}/v1');
const file = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const named = (name: string): string => naming.resolve(`${name}.static.{v}`);

const policy = (name: string, more = ''): string => `
apiVersion: ${version}
kind: MutatingAdmissionPolicy
metadata: {name: ${name}}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  mutations:
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{}"}}
${more}`;
const binding = (name: string, policyName: string, more = ''): string => `
apiVersion: ${version}
kind: MutatingAdmissionPolicyBinding
metadata: {name: ${name}}
spec: {policyName: ${policyName}${more}}
`;
const webhook = (clientConfig: string): string => `
apiVersion: ${version}
kind: ValidatingWebhookConfiguration
metadata: {name: ${named('w')}}
webhooks:
- name: w.example.com
  clientConfig: ${clientConfig}
  sideEffects: None
  admissionReviewVersions: [v1]
`;

interface Options {
  readonly plugin?: string;
  readonly kind?: string;
  readonly path?: string;
  readonly gate?: boolean;
}

/** As a server starts with it; what was started is ended at once. */
async function opened(options: Options = {}, metrics = testMetrics()) {
  const { plugin = 'MutatingAdmissionPolicy', gate = true, path = folder } = options;
  const { kind = `${plugin}Configuration` } = options;
  const configuration = join(root, 'admission.yaml');
  writeFileSync(
    configuration,
    `apiVersion: ${naming.resolve('apiserver.config.{v}/v1')}
kind: AdmissionConfiguration
plugins:
- name: ${plugin}
  configuration:
    apiVersion: ${naming.resolve('apiserver.config.{v}/v1')}
    kind: ${kind}
    staticManifestsDir: ${path}
`,
  );
  const { flags } = parseFlags([
    `--admission-control-config-file=${configuration}`,
    `--feature-gates=ManifestBasedAdmissionControlConfig=${String(gate)}`,
  ]);
  const clock = new ManualClock();
  const started = new AsyncDisposableStack();
  const manifests = await openStaticManifests({
    flags,
    naming,
    scheme,
    clock,
    metrics,
    started,
    gates: featureGates(flags['feature-gates']),
    plugins: {
      ...chosenPlugins(flags, naming),
      rows: pluginTable.filter(({ name }) => name === plugin),
    },
    logger: createLogger('error'),
    address: '192.0.2.1',
  });
  return { manifests, clock, started };
}

async function namesIn(resource: string, options?: Options): Promise<readonly string[]> {
  const { manifests, started } = await opened(options);
  await started.disposeAsync();
  return manifests.of(resource).map(({ name }) => name);
}

/** What the start is refused for. */
async function refusal(options?: Options): Promise<string> {
  try {
    const { started } = await opened(options);
    await started.disposeAsync();
  } catch (error) {
    return (error as Error).message;
  }
  return 'it starts';
}

const flagged = '--admission-control-config-file: MutatingAdmissionPolicy: ';

test('s.gate: without its gate no folder is taken', async () => {
  expect(await refusal({ gate: false })).toBe(
    `${flagged}staticManifestsDir: Forbidden: staticManifestsDir requires the ` +
      'ManifestBasedAdmissionControlConfig feature gate to be enabled',
  );
});

test.each([
  ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyConfiguration'],
  ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyConfiguration'],
  ['ValidatingAdmissionWebhook', 'WebhookAdmissionConfiguration'],
  ['MutatingAdmissionWebhook', 'WebhookAdmissionConfiguration'],
])('f.kinds: the document of %s is a %s', async (plugin, kind) => {
  expect(await refusal({ plugin, kind, path: 'relative' })).toContain('absolute file path');
  expect(await refusal({ plugin, kind: 'Other' })).toContain(`must be of kind ${kind}`);
});

describe('s.folder: what is read of it', () => {
  test('files in byte order, documents, lists; no other files, no folders below', async () => {
    file('b.yaml', `${policy(named('b'))}---${binding(named('y'), named('b'))}`);
    file('B.yml', policy(named('a')));
    file('c.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [] }));
    file('d.txt', 'no manifest');
    file('e.yaml', '');
    file('f.yaml', '---\n# nothing\n---\n');
    mkdirSync(join(folder, 'g.yaml'));
    expect(await namesIn('mutatingadmissionpolicies')).toEqual([named('a'), named('b')]);
    expect(await namesIn('mutatingadmissionpolicybindings')).toEqual([named('y')]);
  });

  test('items of a list are objects', async () => {
    const indented = policy(named('a')).trim().replaceAll('\n', '\n  ');
    file('a.yaml', `apiVersion: v1\nkind: List\nitems:\n- ${indented}`);
    expect(await namesIn('mutatingadmissionpolicies')).toEqual([named('a')]);
  });

  test('what they leave out has its default', async () => {
    file('a.yaml', policy(named('a')));
    const { manifests, started } = await opened();
    await started.disposeAsync();
    const [first] = manifests.of('mutatingadmissionpolicies');
    expect(first?.object()).toMatchObject({
      apiVersion: version,
      kind: 'MutatingAdmissionPolicy',
      spec: { failurePolicy: 'Fail', matchConstraints: { matchPolicy: 'Equivalent' } },
    });
  });

  test.each<[string, string, string]>([
    ['another kind', 'kind: Pod\napiVersion: v1', 'unsupported resource type v1, Kind=Pod'],
    ['another version', policy('a').replace('/v1', '/v1beta1'), 'unsupported resource type '],
    ['a kind of another plugin', webhook('{url: "https://a"}'), 'unsupported resource type '],
    ['no object', '- 1', 'must hold an object'],
    ['a field that is not there', policy(named('a'), '  bogus: 1'), 'unknown field "spec.bogus"'],
    ['a field twice', policy(named('a'), '  mutations: []'), 'duplicate field "spec.mutations"'],
    ['an invalid object', policy(named('a')).replace('Never', 'No'), 'spec.reinvocationPolicy'],
    [
      'an expression',
      policy(named('a')).replace('Object{}', 'Objec'),
      '.expression: Invalid value',
    ],
    ['an invalid name', policy(named('A_')), 'metadata.name: Invalid value'],
    ['text that is no YAML', '{', 'a.yaml: '],
  ])('%s refuses the start, and file and field are named', async (_claim, text, wanted) => {
    file('a.yaml', text);
    const message = await refusal();
    expect(message.startsWith(`${flagged}${join(folder, 'a.yaml')}: `)).toBe(true);
    expect(message).toContain(wanted);
  });

  test.each([
    ['a relative path', 'files', 'must be an absolute file path'],
    ['one that is not there', join(root, 'none'), 'none: '],
    ['one that is no folder', join(root, 'admission.yaml'), 'admission.yaml: '],
  ])('%s refuses the start', async (_claim, path, wanted) => {
    const message = await refusal({ path });
    expect(message.startsWith(`${flagged}staticManifestsDir: `)).toBe(true);
    expect(message).toContain(wanted);
  });
});

describe('s.names: what objects of files may be', () => {
  test.each<[string, string, string]>([
    ['a name of the API', policy('a'), 'metadata.name must end with'],
    ['a name twice', `${policy(named('a'))}---${policy(named('a'))}`, 'that of another'],
    [
      'parameters',
      policy(named('a'), '  paramKind: {apiVersion: v1, kind: Pod}'),
      'spec.paramKind',
    ],
    [
      'a reference to parameters',
      `${policy(named('a'))}---${binding(named('b'), named('a'), ', paramRef: {name: x}')}`,
      'spec.paramRef',
    ],
    ['a binding without its policy', binding(named('b'), named('a')), 'does not exist'],
  ])('%s refuses the start', async (_claim, text, wanted) => {
    file('a.yaml', text);
    expect(await refusal()).toContain(wanted);
  });

  test('webhooks are called by url only', async () => {
    const of = { plugin: 'ValidatingAdmissionWebhook', kind: 'WebhookAdmissionConfiguration' };
    file('a.yaml', webhook('{service: {namespace: a, name: b}}'));
    expect(await refusal(of)).toContain('webhooks[0].clientConfig');
    file('a.yaml', webhook('{url: "https://a.example.com"}'));
    expect(await refusal(of)).toBe('it starts');
  });
});

test('s.load, s.metrics: changes act at once, and an error keeps the last set', async () => {
  file('a.yaml', policy(named('a')));
  const metrics = testMetrics();
  const { manifests, clock, started } = await opened({}, metrics);
  const names = (): readonly string[] =>
    manifests.of('mutatingadmissionpolicies').map(({ name }) => name);
  const before = manifests.of('mutatingadmissionpolicies');
  expect(manifests.of('mutatingadmissionpolicies')).toBe(before);
  file('b.yaml', policy(named('b')));
  await passes(clock, () => names().length === 2);
  expect(names()).toEqual([named('a'), named('b')]);
  file('c.yaml', policy('c'));
  await passes(clock, () => shows(metrics, '_automatic_reloads_total{', 'failure"} 1'));
  expect(names()).toEqual([named('a'), named('b')]);
  const controller = 'apiserver_manifest_admission_config_controller';
  const { body } = await metrics.text();
  const id = 'apiserver_id_hash="sha256:[0-9a-f]{64}"';
  const of = 'plugin="MutatingAdmissionPolicy"';
  for (const line of [
    `automatic_reloads_total{${id},${of},status="success"} 2`,
    `automatic_reloads_total{${id},${of},status="failure"} 1`,
    `automatic_reload_last_timestamp_seconds{${id},${of},status="failure"} \\d`,
    `last_config_info{${id},hash="sha256:[0-9a-f]{64}",${of}} 1`,
  ]) {
    expect(body).toMatch(new RegExp(`^${controller}_${line}`, 'm'));
  }
  await started.disposeAsync();
});

const shows = async (
  metrics: ReturnType<typeof testMetrics>,
  ...texts: readonly string[]
): Promise<boolean> => {
  const { body } = await metrics.text();
  return body.split('\n').some((line) => texts.every((text) => line.includes(text)));
};

/** A minute of the clock after the other, until it is so: files are looked at each minute. */
async function passes(clock: ManualClock, isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    clock.pass(60_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
