import { describe, expect, test } from '@jest/globals';
import { parseKubeconfig } from './kubeconfig.ts';

type Fields = Readonly<Record<string, unknown>>;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const server = 'https://hook.example.com/authorize';

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
    });
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
    ['proxy-url is not supported', { cluster: { server, 'proxy-url': 'http://p' } }],
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
    ['exec is not supported', { user: { exec: { command: 'x' } } }],
    ['auth-provider is not supported', { user: { 'auth-provider': { name: 'x' } } }],
    ['as is not supported', { user: { as: 'admin' } }],
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
