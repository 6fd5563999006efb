import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namingProfile } from '../../lib/api/vendor.ts';
import { createLogger } from '../../lib/base/log.ts';
import { featureGates } from '../../lib/config/gates.ts';
import { FlagError } from '../../lib/config/flags.ts';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { readGivenAuthentication } from './given-authentication.ts';
import { readGivenFiles } from './given-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'given-authentication-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n';
const jwt = (url: string): string =>
  `jwt: [{issuer: {url: "${url}", audiences: [c]}, ` +
  `claimMappings: {username: {claim: sub, prefix: ""}}}]\n`;
const file = (body: string): string => {
  const path = join(folder, 'config.yaml');
  writeFileSync(path, body);
  return `--authentication-config=${path}`;
};

function read(...argv: readonly string[]) {
  const log: string[] = [];
  const { flags, given } = parseFlags(['--naming=kubernetes', ...argv]);
  const made = readGivenAuthentication({
    flags,
    givenFlags: given,
    files: readGivenFiles(flags),
    naming: namingProfile(flags.naming),
    gates: featureGates(flags['feature-gates']),
    logger: createLogger('warn', (line) => log.push(line)),
  });
  return { ...made, log, issuers: made.compile(made.contextOf([])).length };
}

const paths = ['/', '/livez', '/livez/ping', '/api'];
const conditions = 'anonymous: {enabled: true, conditions: [{path: /livez}]}\n';

test.each<[claim: string, argv: readonly string[], allowed: readonly string[]]>([
  ['without flags: all paths', [], paths],
  ['--anonymous-auth=false: none', ['--anonymous-auth=false'], []],
  ['a file that does not name them: all', [file(head)], paths],
  ['off where everything is allowed', ['--authorization-mode=RBAC,AlwaysAllow'], []],
])('anonymous requests, %s', (_claim, argv, allowed) => {
  const { allowsAnonymous } = read(...argv);
  expect(paths.filter(allowsAnonymous)).toEqual(allowed);
});

test.each<[claim: string, body: string, allowed: readonly string[]]>([
  ['enabled', 'anonymous: {enabled: true}\n', paths],
  ['not enabled', 'anonymous: {enabled: false}\n', []],
  ['enabled not said', 'anonymous: {}\n', []],
  ['conditions: the path itself', conditions, ['/livez']],
])('anonymous of the file: %s', (_claim, body, allowed) => {
  const { allowsAnonymous } = read(file(`${head}${body}`));
  expect(paths.filter(allowsAnonymous)).toEqual(allowed);
});

test('AlwaysAllow among the modes turns anonymous requests off, and a line says so', () => {
  expect(read('--authorization-mode=AlwaysAllow').log.join()).toContain('AlwaysAllow');
});

test.each(['v1', 'v1beta1', 'v1alpha1'])('a file of version %s is read', (version) => {
  const body = `${head.replace('/v1\n', `/${version}\n`)}${jwt('https://a.tests')}`;
  const { issuers, algorithms, followed } = read(file(body));
  expect(issuers).toBe(1);
  expect(algorithms).toContain('PS512');
  expect(followed?.text).toBe(body);
});

test('flags give one issuer, which nothing changes', () => {
  const given = read('--oidc-issuer-url=https://a.tests', '--oidc-client-id=c');
  expect(given).toMatchObject({ issuers: 1, followed: undefined, algorithms: ['RS256'] });
  expect(read()).toMatchObject({ issuers: 0, followed: undefined });
});

test.each<[claim: string, argv: () => readonly string[], message: RegExp]>([
  [
    'anonymous: not combinable with --anonymous-auth',
    () => ['--anonymous-auth=true', file(`${head}${conditions}`)],
    /--anonymous-auth cannot be set when anonymous is configured/,
  ],
  [
    'a file that is not there',
    () => ['--authentication-config=/none/such'],
    /--authentication-config=\/none\/such: there is no such file/,
  ],
  ['a file of another kind', () => [file('kind: Other\n')], /must be of kind Authentication/],
  [
    'a file in the other spelling',
    () => [file(head.replace('k8s.io', 'svc.io'))],
    /in version apiserver\.config\.k8s\.io\/v1 or .*, it is .* "apiserver\.config\.svc\.io\/v1"/,
  ],
  [
    'an issuer without TLS',
    () => [file(`${head}${jwt('http://a.tests')}`)],
    /config\.yaml: jwt\[0\]\.issuer\.url: Invalid value: "http:\/\/a\.tests"/,
  ],
  [
    'the issuer of service accounts',
    () => ['--service-account-issuer=https://a.tests', file(`${head}${jwt('https://a.tests')}`)],
    /URL must not overlap with disallowed issuers/,
  ],
  [
    'the issuer of service accounts by flags',
    () => [
      '--service-account-issuer=https://a.tests',
      '--oidc-issuer-url=https://a.tests',
      '--oidc-client-id=c',
    ],
    /--oidc-issuer-url: issuer\.url: .*URL must not overlap/,
  ],
  [
    '--oidc-issuer-url: https URL',
    () => ['--oidc-issuer-url=http://a.tests', '--oidc-client-id=c'],
    /--oidc-issuer-url: issuer\.url: .*URL scheme must be https/,
  ],
  [
    'a CA file without certificates',
    () => {
      const path = join(folder, 'ca.crt');
      writeFileSync(path, 'no certificate');
      return ['--oidc-issuer-url=https://a.tests', '--oidc-client-id=c', `--oidc-ca-file=${path}`];
    },
    /--oidc-ca-file=.*must hold certificates in PEM/,
  ],
])('does not start: %s', (_claim, argv, message) => {
  expect(() => read(...argv())).toThrow(message);
  expect(() => read(...argv())).toThrow(FlagError);
});
