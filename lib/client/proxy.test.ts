// Which calls go through a proxy of the environment, and what a proxy is read from.
import { describe, expect, test } from '@jest/globals';
import { environmentProxies, parseProxy } from './proxy.ts';

const HTTPS_PROXY = 'http://proxy.tests:3128';
const isProxied = (noProxy: string, url: string): boolean =>
  environmentProxies({ HTTPS_PROXY, NO_PROXY: noProxy })(url) !== undefined;

describe('NO_PROXY', () => {
  test.each<[noProxy: string, host: string, isProxied: boolean]>([
    ['', 'a.tests', true],
    ['', 'localhost', false],
    ['', 'localhost:8443', false],
    ['', '127.0.0.1', false],
    ['', '127.8.9.1:99', false],
    ['', '[::1]', false],
    ['', 'x.localhost', true],
    ['*', 'a.tests', false],
    ['b.tests, *', '10.0.0.1', false],
    ['a.tests', 'a.tests', false],
    ['a.tests', 'A.tests', false],
    ['A.Tests', 'x.a.tests', false],
    ['a.tests', 'ba.tests', true],
    ['.a.tests', 'a.tests', true],
    ['.a.tests', 'x.a.tests', false],
    ['*.a.tests', 'x.y.a.tests', false],
    ['*.a.tests', 'a.tests', true],
    ['*.', 'a.tests', true],
    ['a.tests:8443', 'a.tests:8443', false],
    ['a.tests:8443', 'a.tests', true],
    ['a.tests:443', 'x.a.tests', false],
    [' b , a.tests ', 'a.tests', false],
    [',,', 'a.tests', true],
    [':443', 'a.tests', true],
    ['10.0.0.1', '10.0.0.1', false],
    ['10.0.0.1:443', '10.0.0.1', false],
    ['10.0.0.1:443', '10.0.0.1:8443', true],
    ['10.0.0.0/8', '10.255.1.2', false],
    ['10.0.0.0/8', '11.0.0.1', true],
    ['10.0.0.0/8', '10.in.tests', true],
    ['10.0.0.0/33', '10.0.0.1', true],
    ['fd00::/8', '[fd12::1]', false],
    ['fd12::1', '[fd12::1]:8443', false],
    ['[fd12::1]:443', '[fd12::1]', false],
    ['[fd12::1]:443', '[fd12::1]:8443', true],
    ['bücher.tests', 'bücher.tests', false],
    ['xn--bcher-kva.tests', 'x.bücher.tests', false],
  ])('%j: is %s called through it: %s', (noProxy, host, expected) => {
    expect(isProxied(noProxy, `https://${host}/path`)).toBe(expected);
  });
});

describe('the environment', () => {
  test.each<[claim: string, environment: Record<string, string>, url: string | undefined]>([
    ['has none', {}, undefined],
    ['has one for other URLs', { HTTP_PROXY: HTTPS_PROXY, http_proxy: 'http://p' }, undefined],
    ['has one', { HTTPS_PROXY }, HTTPS_PROXY],
    ['has one in lower case', { https_proxy: HTTPS_PROXY }, HTTPS_PROXY],
    ['has both', { HTTPS_PROXY, https_proxy: 'http://other' }, HTTPS_PROXY],
    ['has an empty one beside', { HTTPS_PROXY: '', https_proxy: HTTPS_PROXY }, HTTPS_PROXY],
    ['has exceptions in lower case', { HTTPS_PROXY, no_proxy: 'a.tests' }, undefined],
    ['names no scheme', { HTTPS_PROXY: 'proxy.tests:3128' }, HTTPS_PROXY],
    ['names SOCKS', { HTTPS_PROXY: 'socks5h://p:1' }, 'socks5://p:1'],
  ])('%s', (_claim, environment, url) => {
    expect(environmentProxies(environment)('https://a.tests/')?.url).toBe(url);
  });

  test('that names what nobody can use is told of where it is needed', () => {
    const proxyFor = environmentProxies({ HTTPS_PROXY: 'ftp://u:secret@p', NO_PROXY: 'b.tests' });
    expect(proxyFor('https://b.tests/')).toBeUndefined();
    expect(() => proxyFor('https://a.tests/')).toThrow(
      'HTTPS_PROXY of the environment has the scheme "ftp", it must be http, https or socks5',
    );
  });
});

test.each([
  ['http://p', { scheme: 'http', host: 'p', port: 80, url: 'http://p' }],
  ['https://p', { scheme: 'https', host: 'p', port: 443, url: 'https://p' }],
  ['socks5://[::1]', { scheme: 'socks5', host: '::1', port: 1080, url: 'socks5://[::1]' }],
  [
    'http://u%40x:p%3A@p:3128',
    { host: 'p', port: 3128, user: { name: 'u@x', password: 'p:' }, url: 'http://p:3128' },
  ],
])('%s is read', (text, expected) => {
  expect(parseProxy(text, 'proxy-url')).toMatchObject(expected);
});
