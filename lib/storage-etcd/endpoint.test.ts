import { expect, test } from '@jest/globals';
import { endpoints } from '../config/flag-kinds.ts';
import { Endpoint, parseEndpoint } from './endpoint.ts';

test.each([
  ['http://127.0.0.1:2379', '127.0.0.1:2379', false],
  ['https://etcd-0.example.com:2379', 'etcd-0.example.com:2379', true],
  ['https://etcd-0.example.com/', 'etcd-0.example.com:2379', true],
  ['[::1]:2379', '[::1]:2379', false],
  ['localhost', 'localhost:2379', false],
])('%s is the target %s', (url, target, isSecure) => {
  expect(parseEndpoint(url)).toEqual({ target, isSecure });
});

test.each(['', 'ftp://a:1', 'http://a:1/path', 'http://', 'a:b', 'unix:///tmp/x'])(
  '%j is refused',
  (url) => {
    expect(() => parseEndpoint(url)).toThrow('is no address of an etcd member');
  },
);

test.each([
  'http://127.0.0.1:2379',
  'https://[::1]:2379/',
  'https://etcd-0.example.com',
  'http://a_b:1',
])('%s is taken by the flag, and so it is here', (url) => {
  expect(endpoints.parse(url)).toEqual([url]);
  expect(parseEndpoint(url).isSecure).toBe(url.startsWith('https:'));
});

test('half a client certificate is refused', () => {
  const open = (): Endpoint =>
    new Endpoint(
      'https://127.0.0.1:1',
      { certFile: 'a' },
      { transport: 'http2', keepaliveMs: 10_000, onLost: () => undefined },
    );
  expect(open).toThrow('both the certificate and the key file');
});
