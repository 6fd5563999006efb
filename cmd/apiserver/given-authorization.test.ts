import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namingProfile } from '../../lib/api/vendor.ts';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { checkWebhookFiles, givenAuthorization } from './given-authorization.ts';
import type { GivenAuthorization } from './given-authorization.ts';

const naming = namingProfile('svc');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'given-authorization-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
const configuration = (...types: readonly string[]): string =>
  file(
    'authorization.json',
    JSON.stringify({
      apiVersion: 'apiserver.config.svc.io/v1',
      kind: 'AuthorizationConfiguration',
      authorizers: types.map((type) => ({ type, name: type.toLowerCase() })),
    }),
  );
const given = (...argv: readonly string[]): GivenAuthorization =>
  givenAuthorization(parseFlags(argv).flags, naming);

describe('modes of flags', () => {
  test('are Node and RBAC without any', () => {
    expect(given()).toMatchObject({
      authorizers: [
        { type: 'Node', name: 'node' },
        { type: 'RBAC', name: 'rbac' },
      ],
      file: undefined,
      policies: [],
      notes: [],
    });
  });

  test('with their files; old policies are noted', () => {
    const policies = file('policies', '{"user": "a"}\n{"user": "b"}\n');
    const config = file('kubeconfig', '{}');
    const { authorizers, notes, ...rest } = given(
      '--authorization-mode=ABAC,Webhook',
      `--authorization-policy-file=${policies}`,
      `--authorization-webhook-config-file=${config}`,
      '--authorization-webhook-cache-unauthorized-ttl=2s',
    );
    expect(authorizers).toEqual([
      { type: 'ABAC', name: 'abac' },
      {
        type: 'Webhook',
        name: 'default',
        webhook: {
          kubeconfigFile: config,
          timeoutMs: 30_000,
          authorizedTtlMs: 300_000,
          unauthorizedTtlMs: 2_000,
          version: 'v1beta1',
          failurePolicy: 'NoOpinion',
          expressions: [],
        },
      },
    ]);
    expect(rest.policies.map(({ user }) => user)).toEqual(['a', 'b']);
    expect(notes).toEqual([expect.stringContaining('2 lines have neither kind nor version')]);
  });

  test('a bad policy is refused with its file and line', () => {
    const policies = file('policies', '{"user": "a"}\n{"not": json\n');
    const flag = `--authorization-policy-file=${policies}`;
    expect(() => given('--authorization-mode=ABAC', flag)).toThrow(`${flag}: line 2: `);
  });

  test('a file that is not there is refused', () => {
    const flag = '--authorization-policy-file=/not/there';
    const message = `${flag}: there is no such file`;
    expect(() => given('--authorization-mode=ABAC', flag)).toThrow(message);
  });

  test('a webhook whose client configuration cannot be used is refused', async () => {
    const flag = `--authorization-webhook-config-file=${file('kubeconfig', '{}')}`;
    const webhook = given('--authorization-mode=Webhook', flag);
    await expect(checkWebhookFiles(webhook)).rejects.toThrow(`${flag}: current-context is missing`);
  });

  test.each([
    ['http://a.example.com/', 'is no https:// URL'],
    ['https://a.example.com/?a=b', 'must not have a query or a fragment'],
  ])('the cluster server is an https URL with no parameters: not %s', async (server, problem) => {
    const kubeconfig = JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a' } }],
      clusters: [{ name: 'a', cluster: { server } }],
    });
    const flag = `--authorization-webhook-config-file=${file('kubeconfig', kubeconfig)}`;
    await expect(checkWebhookFiles(given('--authorization-mode=Webhook', flag))).rejects.toThrow(
      `${flag}: the URL ${JSON.stringify(server)} ${problem}`,
    );
  });
});

describe('a configuration file', () => {
  test('is kept as text, to be followed', () => {
    const path = configuration('RBAC');
    expect(given(`--authorization-config=${path}`)).toMatchObject({
      authorizers: [{ type: 'RBAC', name: 'rbac' }],
      file: { path, text: expect.stringContaining('AuthorizationConfiguration') as unknown },
    });
  });

  test('that is bad is refused with all that is wrong', () => {
    const flag = `--authorization-config=${configuration('RBAC', 'RBAC', 'Rbac')}`;
    expect(() => given(flag)).toThrow(`${flag}: [authorizers[1].type: Duplicate value: "RBAC", `);
  });

  test('has ABAC together with its policies alone', () => {
    const policies = `--authorization-policy-file=${file('policies', '')}`;
    const withAbac = `--authorization-config=${configuration('ABAC')}`;
    expect(() => given(withAbac)).toThrow(/ABAC needs --authorization-policy-file/);
    expect(given(withAbac, policies).authorizers).toEqual([{ type: 'ABAC', name: 'abac' }]);
    const without = `--authorization-config=${configuration('RBAC')}`;
    expect(() => given(without, policies)).toThrow(/--authorization-policy-file is for the type/);
  });
});
