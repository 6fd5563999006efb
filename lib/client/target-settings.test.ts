import { describe, expect, test } from '@jest/globals';
import { createTestCa } from '../base/testing/certificates.ts';
import { indicationFor, makeSettings } from './target-settings.ts';

describe('h.client-url: the URL', () => {
  test.each([
    ['https://hook.example.com', 'hook.example.com', 443, 'hook.example.com', '/'],
    [
      'https://Hook.example.com:8443/a/b',
      'hook.example.com',
      8443,
      'Hook.example.com:8443',
      '/a/b',
    ],
    ['https://hook.tests.svc:443/x', 'hook.tests.svc', 443, 'hook.tests.svc:443', '/x'],
    ['https://[::1]:8443/', '::1', 8443, '[::1]:8443', '/'],
  ])('%s', (url, host, port, authority, path) => {
    expect(makeSettings({ url })).toMatchObject({ url, host, port, authority, path });
  });

  test('names the server in TLS, unless it is an address', () => {
    expect(indicationFor('a.tests')).toBe('a.tests');
    expect(indicationFor('::1')).toBe('');
  });
});

describe('a CA bundle', () => {
  const url = 'https://a/';

  test('may hold several certificates and words between them', async () => {
    const [one, two] = await Promise.all([createTestCa('one'), createTestCa('two')]);
    const ca = `one:\r\n${one.cert.replaceAll('\n', '\r\n')}\ntwo:\n${two.cert}`;
    expect(() => makeSettings({ url, ca })).not.toThrow();
  });

  test.each<[claim: string, change: (pem: string) => string]>([
    ['empty', () => ''],
    ['something else', () => 'not PEM'],
    ['a certificate and half of another', (pem) => pem + pem.slice(0, 200)],
    ['a certificate without its beginning', (pem) => pem + pem.slice(40)],
    ['no certificate inside', (pem) => pem.replace(/\n[^-]+\n/, '\nbm90IG9uZQ==\n')],
    ['a key', (pem) => pem.replaceAll('CERTIFICATE', 'PRIVATE KEY')],
  ])('is refused: %s', async (_claim, change) => {
    const { cert } = await createTestCa('ca');
    expect(() => makeSettings({ url, ca: change(cert) })).toThrow(
      'the CA bundle is not one PEM certificate or more',
    );
  });
});

test.each([['Bearer '], ['Bearer a b'], ['Bearer a\r\nx: y'], ['Bearer ä']])(
  'no header is made of %j',
  (authorization) => {
    expect(() => makeSettings({ url: 'https://a/', authorization })).toThrow('the token holds');
  },
);
