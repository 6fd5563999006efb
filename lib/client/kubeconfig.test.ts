import { describe, expect, test } from '@jest/globals';
import { parseKubeconfig } from './kubeconfig.ts';

type Fields = Readonly<Record<string, unknown>>;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const server = 'https://hook.example.com/authorize';
const exec = {
  apiVersion: 'client.authentication.k8s.io/v1',
  command: 'plugin',
  interactiveMode: 'Never',
};

function file(parts: { cluster?: Fields; user?: Fields; more?: Fields } = {}): Fields {
  const { cluster = { server }, user = {}, more = {} } = parts;
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'other', cluster: { server: 'https://other/' } },
      { name: 'hook', cluster },
    ],
    users: [{ name: 'api', user }],
    contexts: [{ name: 'c', context: { cluster: 'hook', user: 'api' } }],
    'current-context': 'c',
    ...more,
  };
}
const parsed = (parts: Parameters<typeof file>[0]): ReturnType<typeof parseKubeconfig> =>
  parseKubeconfig(file(parts), '/etc/hook');

describe('a client configuration file', () => {
  test('may hold everything', () => {
    const cluster = { server, 'certificate-authority-data': base64('CA'), 'tls-server-name': 'n' };
    const user = {
      'client-certificate-data': base64('CERT'),
      'client-key-data': base64('KEY'),
      token: 't',
    };
    expect(parsed({ cluster, user })).toEqual({
      server,
      serverName: 'n',
      isServerUnchecked: false,
      ca: { text: 'CA' },
      clientCertificate: { cert: { text: 'CERT' }, key: { text: 'KEY' } },
      token: { text: 't' },
      basic: undefined,
      proxy: undefined,
      impersonation: undefined,
      exec: undefined,
    });
  });

  test('may name a proxy, and whom its user acts as', () => {
    const user = {
      as: 'Zoë',
      'as-uid': 'u-1',
      'as-groups': ['a', 'b'],
      'as-user-extra': { 'example.com/Scope %': ['x', 'y'], none: [] },
    };
    const { proxy, impersonation } = parsed({
      cluster: { server, 'proxy-url': 'http://u:p@proxy:3128', 'disable-compression': true },
      user,
    });
    expect(proxy).toMatchObject({ host: 'proxy', port: 3128, user: { name: 'u', password: 'p' } });
    expect(impersonation).toEqual({
      'impersonate-user': Buffer.from('Zoë').toString('latin1'),
      'impersonate-uid': 'u-1',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-example.com%2FScope%20%25': ['x', 'y'],
    });
  });

  test('may name a program, relative to its own folder, unless a token says who calls', () => {
    const extensions = [{ name: 'client.authentication.svc.io/exec', extension: { a: 1 } }];
    const user = { exec: { ...exec, command: 'bin/plugin', env: [{ name: 'A', value: 'b' }] } };
    expect(parsed({ cluster: { server, extensions }, user }).exec).toEqual({
      apiVersion: exec.apiVersion,
      command: '/etc/hook/bin/plugin',
      args: [],
      env: { A: 'b' },
      installHint: '',
      providesClusterInfo: false,
      clusterConfig: { a: 1 },
    });
    expect(parsed({ user: { exec } }).exec?.command).toBe('plugin');
    expect(parsed({ user: { exec, token: 't' } }).exec).toBeUndefined();
    const beta = { ...exec, apiVersion: 'client.authentication.svc.io/v1beta1' };
    const { interactiveMode: _, ...noMode } = beta;
    expect(parsed({ user: { exec: noMode } }).exec?.apiVersion).toBe(beta.apiVersion);
  });

  test('may name other files, relative to its own folder', () => {
    const cluster = { server, 'certificate-authority': 'ca.crt' };
    const user = {
      'client-certificate': '../api.crt',
      'client-key': '/keys/api.key',
      tokenFile: 'token',
    };
    expect(parsed({ cluster, user })).toMatchObject({
      ca: { path: '/etc/hook/ca.crt' },
      clientCertificate: { cert: { path: '/etc/api.crt' }, key: { path: '/keys/api.key' } },
      token: { path: '/etc/hook/token' },
    });
  });

  test('prefers data to paths, and the file of a token to the token', () => {
    const cluster = {
      server,
      'certificate-authority': 'x',
      'certificate-authority-data': base64('CA'),
    };
    expect(parsed({ cluster, user: { token: 't', tokenFile: 'f' } })).toMatchObject({
      ca: { text: 'CA' },
      token: { path: '/etc/hook/f' },
    });
  });

  test('may name a user by password, or nobody', () => {
    const basic = { username: 'u', password: 'p' };
    expect(parsed({ user: basic }).basic).toEqual(basic);
    const nobody = { contexts: [{ name: 'c', context: { cluster: 'hook' } }], users: null };
    expect(parsed({ more: nobody })).toMatchObject({ token: undefined, basic: undefined });
  });

  test.each<[problem: string, parts: Parameters<typeof file>[0]]>([
    ['current-context is missing', { more: { 'current-context': '' } }],
    ['contexts has no entry "d"', { more: { 'current-context': 'd' } }],
    ['clusters has no entry "hook"', { more: { clusters: [] } }],
    ['users has no entry "api"', { more: { users: [] } }],
    ['the context "c" names no cluster', { more: { contexts: [{ name: 'c', context: {} }] } }],
    ['clusters must be a list', { more: { clusters: {} } }],
    ['an entry of clusters must hold named fields', { more: { clusters: ['x'] } }],
    ['server of the cluster is missing', { cluster: {} }],
    ['server must be text', { cluster: { server: 7 } }],
    ['proxy-url is not a URL', { cluster: { server, 'proxy-url': 'p' } }],
    [
      'proxy-url has the scheme "ftp", it must be http, https or socks5',
      { cluster: { server, 'proxy-url': 'ftp://u:secret@p' } },
    ],
    [
      'disable-compression must be true or false',
      { cluster: { server, 'disable-compression': 1 } },
    ],
    [
      'insecure-skip-tls-verify must be true or false',
      { cluster: { server, 'insecure-skip-tls-verify': 'true' } },
    ],
    [
      'insecure-skip-tls-verify and certificate-authority exclude each other',
      { cluster: { server, 'insecure-skip-tls-verify': true, 'certificate-authority': 'x' } },
    ],
    [
      'certificate-authority-data is not base64',
      { cluster: { server, 'certificate-authority-data': '-----BEGIN' } },
    ],
    [
      'exec.apiVersion must be one of client.authentication.k8s.io/v1, ' +
        'client.authentication.k8s.io/v1beta1, client.authentication.svc.io/v1, ' +
        'client.authentication.svc.io/v1beta1',
      { user: { exec: { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' } } },
    ],
    ['exec must hold named fields', { user: { exec: 'x' } }],
    ['exec.command is missing', { user: { exec: { ...exec, command: '' } } }],
    ['exec.args must be a list of texts', { user: { exec: { ...exec, args: [1] } } }],
    ['exec.args must be a list', { user: { exec: { ...exec, args: 'a' } } }],
    ['an entry of exec.env has no name', { user: { exec: { ...exec, env: [{ value: 'x' }] } } }],
    [
      'exec.interactiveMode must be Never or IfAvailable',
      { user: { exec: { ...exec, interactiveMode: undefined } } },
    ],
    [
      'exec.interactiveMode: Always is not supported, nobody sits at the server',
      { user: { exec: { ...exec, interactiveMode: 'Always' } } },
    ],
    [
      'exec.provideClusterInfo must be true or false',
      { user: { exec: { ...exec, provideClusterInfo: 'yes' } } },
    ],
    [
      'auth-provider is not supported: use exec',
      { user: { 'auth-provider': { name: 'x' }, token: 't' } },
    ],
    ['as-uid, as-groups and as-user-extra need as', { user: { 'as-uid': 'u' } }],
    ['as must be text', { user: { as: ['u'] } }],
    ['as has characters that no header may have', { user: { as: 'u\r\nx: y' } }],
    ['as-groups must be a list of texts', { user: { as: 'u', 'as-groups': 'g' } }],
    ['as-user-extra must hold named lists', { user: { as: 'u', 'as-user-extra': 'x' } }],
    ['client-certificate and client-key need each other', { user: { 'client-key': 'x' } }],
    ['token and username exclude each other', { user: { token: 'x', username: 'u' } }],
  ])('is refused: %s', (problem, parts) => {
    expect(() => parsed(parts)).toThrow(
      expect.objectContaining({ name: 'SettingsError', message: problem }),
    );
  });

  test.each([[null], ['text'], [[]], [7]])('is not %j', (data) => {
    expect(() => parseKubeconfig(data, '/')).toThrow('the file must hold named fields');
  });
});
