import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namingProfile } from '../../api/vendor.ts';
import { conditionEnvironment } from '../webhook/match-conditions.ts';
import { readAuthorizationConfiguration } from './configuration.ts';

const naming = namingProfile('svc');
const parts = { naming, environment: conditionEnvironment(naming) };
const folder = mkdtempSync(join(tmpdir(), 'authorization-'));
const kubeConfigFile = join(folder, 'kubeconfig');
writeFileSync(kubeConfigFile, '');
mkdirSync(join(folder, 'is-folder'));
afterAll(() => rmSync(folder, { recursive: true }));

const document = (authorizers: unknown, change: object = {}): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.svc.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers,
    ...change,
  });
const webhook = (change: object = {}, name = 'hook'): object => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '3s',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'Deny',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
    ...change,
  },
});
const read = (text: string) => readAuthorizationConfiguration(text, parts);
const rbac = { type: 'RBAC', name: 'rbac' };

describe('Authorization configuration file', () => {
  const config = {
    kubeconfigFile: kubeConfigFile,
    timeoutMs: 3_000,
    authorizedTtlMs: 300_000,
    unauthorizedTtlMs: 30_000,
    version: 'v1',
    failurePolicy: 'Deny',
    expressions: [],
  };
  test.each<[row: string, change: object, expected: object]>([
    ['webhook.authorizedTTL | default 5m0s', {}, { authorizedTtlMs: 300_000 }],
    ['webhook.unauthorizedTTL | default 30s', {}, { unauthorizedTtlMs: 30_000 }],
    [
      'webhook.authorizedTTL, webhook.unauthorizedTTL | cache time',
      { authorizedTTL: '1h', unauthorizedTTL: '1.5s' },
      { authorizedTtlMs: 3_600_000, unauthorizedTtlMs: 1_500 },
    ],
    ['0s is the default', { authorizedTTL: '0s', unauthorizedTTL: '0s' }, {}],
    [
      'webhook.cacheAuthorizedRequests | boolean',
      { cacheAuthorizedRequests: false },
      { authorizedTtlMs: 0 },
    ],
    [
      'webhook.cacheUnauthorizedRequests | boolean',
      { cacheUnauthorizedRequests: false },
      { unauthorizedTtlMs: 0 },
    ],
    [
      'webhook.cacheAuthorizedRequests, webhook.cacheUnauthorizedRequests | default true',
      { cacheAuthorizedRequests: true, cacheUnauthorizedRequests: true },
      {},
    ],
    ['webhook.timeout | at most 30 seconds', { timeout: '30s' }, { timeoutMs: 30_000 }],
    [
      'webhook.subjectAccessReviewVersion | v1 or v1beta1',
      { subjectAccessReviewVersion: 'v1beta1' },
      { version: 'v1beta1' },
    ],
    [
      'webhook.failurePolicy | NoOpinion or Deny',
      { failurePolicy: 'NoOpinion' },
      { failurePolicy: 'NoOpinion' },
    ],
    [
      'webhook.matchConditions[] | each expression (boolean)',
      { matchConditions: [{ expression: 'has(request.resourceAttributes)' }] },
      { expressions: ['has(request.resourceAttributes)'] },
    ],
  ])('%s: %j', (_row, change, expected) => {
    expect(read(document([webhook(change)]))).toEqual([
      { type: 'Webhook', name: 'hook', webhook: { ...config, ...expected } },
    ]);
  });
});

test.each(['v1', 'v1beta1', 'v1alpha1'])(
  'authorizers[] in evaluation order, in version %s',
  (version) => {
    const apiVersion = `apiserver.config.svc.io/${version}`;
    const authorizers = [
      webhook({}, 'first'),
      { type: 'Node', name: 'node' },
      rbac,
      webhook({}, 'last.of.all'),
    ];
    expect(read(document(authorizers, { apiVersion })).map(({ name }) => name)).toEqual([
      'first',
      'node',
      'rbac',
      'last.of.all',
    ]);
  },
);

test('YAML is read', () => {
  const text =
    'apiVersion: apiserver.config.svc.io/v1\nkind: AuthorizationConfiguration\n' +
    'authorizers:\n- type: RBAC\n  name: rbac\n';
  expect(read(text)).toEqual([rbac]);
});

const at = 'authorizers[0]';
const hook = `${at}.webhook`;
const infoType = `${hook}.connectionInfo.type`;
const infoFile = `${hook}.connectionInfo.kubeConfigFile`;
const fieldVersion = `${hook}.subjectAccessReviewVersion`;

test.each<[row: string, authorizers: unknown, message: string]>([
  [
    'authorizers[] in evaluation order',
    [],
    'authorizers: Required value: at least one authorization mode must be defined',
  ],
  ['authorizers[] in evaluation order', undefined, 'authorizers: Required value'],
  ['authorizers[].type', [{ name: 'a' }], `${at}.type: Required value`],
  [
    'authorizers[].type',
    [{ type: 'rbac', name: 'a' }],
    `${at}.type: Unsupported value: "rbac": supported values: "ABAC"`,
  ],
  [
    'authorizers[].type',
    [rbac, { type: 'RBAC', name: 'b' }],
    'authorizers[1].type: Duplicate value: "RBAC"',
  ],
  ['authorizers[].name (required label)', [{ type: 'RBAC' }], `${at}.name: Required value`],
  [
    'authorizers[].name, each once, in small letters',
    [{ type: 'RBAC', name: 'Big' }],
    `${at}.name: Invalid value: "Big": authorizer name is invalid: a lowercase RFC 1123 subdomain`,
  ],
  [
    'authorizers[].name, each once, in small letters',
    [webhook(), webhook()],
    'authorizers[1].name: Duplicate value: "hook"',
  ],
  [
    'authorizers[].name, each once, in small letters',
    [rbac, { type: 'Node', name: 'rbac' }],
    'authorizers[1].name: Duplicate value: "rbac"',
  ],
  [
    'authorizers[].webhook, of the type Webhook alone',
    [{ type: 'Webhook', name: 'a' }],
    `${hook}: Required value: required when type=Webhook`,
  ],
  [
    'authorizers[].webhook, of the type Webhook alone',
    [{ ...webhook(), type: 'RBAC' }],
    `${hook}: Invalid value: "non-null": may only be specified when type=Webhook`,
  ],
  [
    'webhook.timeout | required',
    [webhook({ timeout: undefined })],
    `${hook}.timeout: Required value`,
  ],
  ['webhook.timeout | required', [webhook({ timeout: '0s' })], `${hook}.timeout: Required value`],
  [
    'webhook.timeout | at most 30 seconds',
    [webhook({ timeout: '31s' })],
    `${hook}.timeout: Invalid value: "31s": must be > 0s and <= 30s`,
  ],
  [
    'webhook.timeout | at most 30 seconds',
    [webhook({ timeout: '-1s' })],
    `${hook}.timeout: Invalid value: "-1s": must be > 0s and`,
  ],
  [
    'webhook.authorizedTTL | a time',
    [webhook({ authorizedTTL: '-1m' })],
    `${hook}.authorizedTTL: Invalid value: "-1m0s": must be > 0s`,
  ],
  [
    'webhook.unauthorizedTTL | a time',
    [webhook({ unauthorizedTTL: '-1m' })],
    `${hook}.unauthorizedTTL: Invalid value: "-1m0s": must be > 0s`,
  ],
  [
    'webhook.subjectAccessReviewVersion | required',
    [webhook({ subjectAccessReviewVersion: '' })],
    `${fieldVersion}: Required value`,
  ],
  [
    'webhook.subjectAccessReviewVersion | v1 or v1beta1',
    [webhook({ subjectAccessReviewVersion: 'v2' })],
    `${fieldVersion}: Unsupported value: "v2": supported values: "v1", "v1beta1"`,
  ],
  [
    'webhook.matchConditionSubjectAccessReviewVersion | required',
    [webhook({ matchConditionSubjectAccessReviewVersion: undefined })],
    `${hook}.matchConditionSubjectAccessReviewVersion: Required value`,
  ],
  [
    'webhook.matchConditionSubjectAccessReviewVersion | v1',
    [webhook({ matchConditionSubjectAccessReviewVersion: 'v1beta1' })],
    `${hook}.matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1"`,
  ],
  [
    'webhook.failurePolicy | required',
    [webhook({ failurePolicy: undefined })],
    `${hook}.failurePolicy: Required value`,
  ],
  [
    'webhook.failurePolicy | NoOpinion or Deny',
    [webhook({ failurePolicy: 'Allow' })],
    `${hook}.failurePolicy: Unsupported value: "Allow": supported values: "NoOpinion", "Deny"`,
  ],
  [
    'webhook.connectionInfo.type | KubeConfigFile or InClusterConfig',
    [webhook({ connectionInfo: undefined })],
    `${infoType}: Required value`,
  ],
  [
    'webhook.connectionInfo.type | KubeConfigFile or InClusterConfig',
    [webhook({ connectionInfo: { type: 'Service' } })],
    `${infoType}: Unsupported value: "Service": supported values: "InClusterConfig"`,
  ],
  [
    'webhook.connectionInfo.type | InClusterConfig (the API server itself refuses this mode)',
    [webhook({ connectionInfo: { type: 'InClusterConfig' } })],
    `${infoType}: Invalid value: "InClusterConfig": it asks the reviews of the API ` +
      'server that the requests came to, which would ask itself',
  ],
  [
    'webhook.connectionInfo.type | InClusterConfig (the API server itself refuses this mode)',
    [webhook({ connectionInfo: { type: 'InClusterConfig', kubeConfigFile } })],
    `${infoFile}: Invalid value: "${kubeConfigFile}": can only be set`,
  ],
  [
    'webhook.connectionInfo.type | KubeConfigFile (uses kubeConfigFile path)',
    [webhook({ connectionInfo: { type: 'KubeConfigFile' } })],
    `${infoFile}: Required value`,
  ],
  [
    'webhook.connectionInfo.type | KubeConfigFile (uses kubeConfigFile path)',
    [webhook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'a' } })],
    `${infoFile}: Invalid value: "a": must be an absolute path`,
  ],
  [
    'webhook.connectionInfo.type | KubeConfigFile (uses kubeConfigFile path)',
    [webhook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/not/there' } })],
    `${infoFile}: Invalid value: "/not/there": error loading file: ENOENT`,
  ],
  [
    'webhook.connectionInfo.type | KubeConfigFile (uses kubeConfigFile path)',
    [
      webhook({
        connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: join(folder, 'is-folder') },
      }),
    ],
    'must be a regular file',
  ],
  [
    'webhook.matchConditions[] | at most 64',
    [webhook({ matchConditions: Array.from({ length: 65 }, () => ({ expression: 'true' })) })],
    `${hook}.matchConditions: Too many: 65: must have at most 64 items`,
  ],
  [
    'webhook.matchConditions[] | each expression (boolean)',
    [webhook({ matchConditions: [{ expression: ' ' }] })],
    `${hook}.matchConditions[0].expression: Required value`,
  ],
  [
    'webhook.matchConditions[] | each expression (boolean)',
    [webhook({ matchConditions: [{ expression: 'true' }, { expression: 'true' }] })],
    `${hook}.matchConditions[1].expression: Duplicate value: "true"`,
  ],
  [
    'webhook.matchConditions[] | each expression (boolean)',
    [webhook({ matchConditions: [{ expression: 'request.user' }] })],
    `${hook}.matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool ` +
      'but got string',
  ],
  [
    'webhook.matchConditions[] | each expression (boolean)',
    [webhook({ matchConditions: [{ expression: 'request.nothing == 1' }] })],
    'Invalid value: "request.nothing == 1": compilation failed: ERROR: <input>:1:8: undefined ' +
      "field 'nothing'",
  ],
])('%s: %j is refused with its field', (_row, authorizers, message) => {
  expect(() => read(document(authorizers))).toThrow(message);
});

test('everything that is wrong is told', () => {
  const authorizers = [webhook({ timeout: '1m', failurePolicy: '' }), rbac, rbac];
  expect(() => read(document(authorizers))).toThrow(
    `[${hook}.timeout: Invalid value: "1m0s": must be > 0s and <= 30s, ` +
      `${hook}.failurePolicy: Required value, authorizers[2].type: Duplicate value: "RBAC"]`,
  );
});

test.each<[text: string, message: string]>([
  ['authorizers: [', ''],
  ['[]', 'must hold an object'],
  [document([rbac], { kind: 'Other' }), 'must be of kind AuthorizationConfiguration'],
  [
    document([rbac], { apiVersion: 'apiserver.config.k8s.io/v1' }),
    'in version apiserver.config.svc.io/v1 or apiserver.config.svc.io/v1beta1 or',
  ],
  [document([rbac], { apiVersion: 'apiserver.config.svc.io/v2' }), 'it is of kind'],
  [document([rbac], { authorizer: [] }), 'strict decoding error: unknown field "authorizer"'],
  [document([{ ...rbac, webHook: {} }]), `unknown field "${at}.webHook"`],
  [
    document([webhook({ timeOut: '1s', matchConditions: [{ expresion: 'x' }] })]),
    `unknown field "${hook}.timeOut", unknown field "${hook}.matchConditions[0].expresion"`,
  ],
  [document({}), 'authorizers: must be a list'],
  [document(['RBAC']), `${at}: must be an object`],
  [document([webhook({ timeout: 3 })]), `${hook}.timeout: must be a text`],
  [document([webhook({ timeout: '3 s' })]), `${hook}.timeout: "3 s" is no duration`],
  [
    document([webhook({ cacheAuthorizedRequests: 'no' })]),
    `${hook}.cacheAuthorizedRequests: must be true or false`,
  ],
  [
    'apiVersion: apiserver.config.svc.io/v1\nkind: AuthorizationConfiguration\n' +
      'authorizers: []\nauthorizers: []\n',
    'strict decoding error: duplicate field "authorizers"',
  ],
])('decoding is strict: %s', (text, message) => {
  expect(() => read(text)).toThrow(message);
});
