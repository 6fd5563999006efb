import { describe, expect, test } from '@jest/globals';
import { flagTable, helpText, parseFlags, swallowedFlags } from './flags.ts';

const parse = (...argv: string[]) => parseFlags(argv).flags;

test('defaults are those of the table', () => {
  const { flags, given, warnings } = parseFlags([]);
  expect(flags).toMatchObject({
    naming: 'svc',
    'data-dir': '.svc',
    'secure-port': 6443,
    'etcd-prefix': '/registry',
    'etcd-compaction-interval': 300_000,
    'request-timeout': 60_000,
    'anonymous-auth': true,
    'service-cluster-ip-range': ['10.96.0.0/16'],
  });
  expect(flags['etcd-servers']).toBeUndefined();
  expect([given.size, warnings]).toEqual([0, []]);
});

describe('a command line', () => {
  test.each([
    [['--secure-port=1'], 'secure-port', 1],
    [['--secure-port', '1'], 'secure-port', 1],
    [['-secure-port=1'], 'secure-port', 1],
    [['--secure_port=1'], 'secure-port', 1],
    [['--anonymous-auth=false'], 'anonymous-auth', false],
    [['--anonymous-auth'], 'anonymous-auth', true],
    [['--naming=kubernetes'], 'naming', 'kubernetes'],
    [['--request-timeout=1m30.5s'], 'request-timeout', 90_500],
    [['--event-ttl=1h'], 'event-ttl', 3_600_000],
    [['--event-ttl=500us'], 'event-ttl', 0.5],
    [['--etcd-compaction-interval=0'], 'etcd-compaction-interval', 0],
    [['--goaway-chance=0.02'], 'goaway-chance', 0.02],
    [['--etcd-prefix=/a'], 'etcd-prefix', '/a'],
    [['--etcd-servers=http://a:1,https://b:2'], 'etcd-servers', ['http://a:1', 'https://b:2']],
    [
      ['--etcd-servers=http://a:1', '--etcd-servers=http://b:2'],
      'etcd-servers',
      ['http://a:1', 'http://b:2'],
    ],
    [
      ['--feature-gates=A=true,B=false'],
      'feature-gates',
      new Map([
        ['A', 'true'],
        ['B', 'false'],
      ]),
    ],
    [
      ['--runtime-config=api/all', '--runtime-config=a/v1=false'],
      'runtime-config',
      new Map([
        ['api/all', true],
        ['a/v1', false],
      ]),
    ],
  ] as const)('%j sets %s', (argv, name, value) => {
    expect(parse(...argv)[name]).toEqual(value);
  });

  test.each([
    [['--no-such-flag=1'], /unknown flag --no-such-flag: see --help/],
    [['--port=1'], /unknown flag --port: did you mean --secure-port\?/],
    [['--constructor=1'], /unknown flag --constructor/],
    [['stray'], /unexpected argument "stray"/],
    [['--anonymous-auth', 'false'], /unexpected argument "false"/],
    [['--secure-port'], /--secure-port needs a value \(int\)/],
    [['--secure-port=x'], /--secure-port=x: must be a whole number from 0 to 65535/],
    [['--secure-port=65536'], /--secure-port=65536: must be/],
    [['--secure-port=1', '--secure-port=2'], /--secure-port is given 2 times/],
    [['--anonymous-auth=maybe'], /--anonymous-auth=maybe: must be true or false/],
    [['--naming=other'], /--naming=other: must be one of svc, kubernetes/],
    [['--request-timeout=0s'], /--request-timeout=0s: must be longer than 0/],
    [['--request-timeout=5'], /--request-timeout=5: must be a duration/],
    [['--event-ttl=-5s'], /--event-ttl=-5s: must be a duration/],
    [['--goaway-chance=0.5'], /--goaway-chance=0.5: must be a number from 0 to 0.02/],
    [['--data-dir='], /--data-dir=: must name a file/],
    [['--etcd-servers=127.0.0.1:2379'], /--etcd-servers=.*must be a URL/],
    [['--feature-gates==true'], /--feature-gates==true: .* has no key/],
    [['--etcd-prefix=registry'], /--etcd-prefix=registry: must be a path/],
    [['--etcd-prefix=/a//b'], /--etcd-prefix=/],
    [['--etcd-prefix=/a/'], /--etcd-prefix=/],
    [['--tls-cert-file=a'], /--tls-cert-file needs --tls-private-key-file too/],
    [['--tls-private-key-file=a'], /--tls-private-key-file needs --tls-cert-file too/],
    [['--etcd-certfile=a', '--etcd-servers=https://a:1'], /--etcd-certfile needs --etcd-keyfile/],
    [['--etcd-cafile=a'], /--etcd-cafile is for an external etcd/],
  ])('%j is refused in words that name the flag', (argv, message) => {
    expect(() => parse(...argv)).toThrow(message);
  });
});

test('--help shows every flag with its default', () => {
  const help = helpText();
  for (const [name, flag] of Object.entries(flagTable)) {
    expect(help).toContain(`  --${name}`);
    if (flag.fallback !== undefined && flag.fallback !== '') {
      expect(help).toMatch(
        new RegExp(`--${name}.*\\(default ${flag.fallback.replaceAll('.', '\\.')}\\)`),
      );
    }
  }
});

test.each([
  [{ npm_config_secure_port: '1' }, /--secure-port=1.*npm start -- --secure-port=1/],
  [{ npm_config_anonymous_auth: 'true' }, /npm start -- --anonymous-auth$/],
  [{ npm_config_loglevel: 'warn', npm_config_naming: '' }, undefined],
  [{}, undefined],
])('flags that npm kept are seen in %j', (environment, message) => {
  const text = swallowedFlags(environment);
  if (message === undefined) expect(text).toBeUndefined();
  else expect(text).toMatch(message);
});
