import { describe, expect, test } from '@jest/globals';
import { parseFlags } from './parse-flags.ts';

const flagsOf = (...argv: string[]) => parseFlags(argv).flags;

test('flags of service accounts are read as kube-apiserver reads them', () => {
  const flags = flagsOf(
    '--service-account-issuer=https://a.example.com',
    '--service-account-issuer=b',
    '--service-account-key-file=one.pem',
    '--service-account-key-file=two.pem',
    '--api-audiences=a,b',
    '--service-account-max-token-expiration=24h',
    '--service-account-extend-token-expiration=false',
    '--service-account-jwks-uri=https://a.example.com/keys',
    '--service-account-lookup=false',
  );
  expect(flags).toMatchObject({
    'service-account-issuer': ['https://a.example.com', 'b'],
    'service-account-key-file': ['one.pem', 'two.pem'],
    'api-audiences': ['a', 'b'],
    'service-account-max-token-expiration': 86_400_000,
    'service-account-extend-token-expiration': false,
    'service-account-jwks-uri': 'https://a.example.com/keys',
    'service-account-lookup': false,
  });
  expect(flagsOf()).toMatchObject({
    'service-account-max-token-expiration': 0,
    'service-account-extend-token-expiration': true,
    'service-account-lookup': true,
  });
});

describe('a start is refused', () => {
  test.each([
    ['--service-account-issuer=', 'must name an issuer'],
    ['--service-account-issuer=a,b,a', '"a" is given twice'],
    ['--service-account-issuer=https://', '"https://" has a colon and is no URL'],
    ['--service-account-jwks-uri=http://a.example.com', 'must be a URL that begins with https://'],
    ['--service-account-jwks-uri=x', 'must be a URL that begins with https://'],
    ['--service-account-max-token-expiration=59m', 'must be from 1h to 2^32 seconds, or 0'],
    ['--service-account-max-token-expiration=1193047h', 'must be from 1h to 2^32 seconds, or 0'],
    ['--service-account-lookup=maybe', 'true or false'],
    ['--service-account-signing-endpoint=/run/x', '--service-account-signing-key-file signs'],
  ])('for %s', (flag, message) => {
    expect(() => flagsOf(flag)).toThrow(message);
    expect(() => flagsOf(flag)).toThrow(flag.split('=')[0]);
  });
});
