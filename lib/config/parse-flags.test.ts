import { describe, expect, test } from '@jest/globals';
import { absentFlags } from './absent-flags.ts';
import { flagTable } from './flags.ts';
import { helpText, parseFlags, swallowedFlags } from './parse-flags.ts';

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
    [[], 'workers', 1],
    [['--workers=2'], 'workers', 2],
    [['--workers=auto'], 'workers', 'auto'],
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
    [['--version'], 'version', 'true'],
    [['--version=raw'], 'version', 'raw'],
    [['--bind-address=::'], 'bind-address', '::'],
    [['--advertise-address=10.0.0.9'], 'advertise-address', '10.0.0.9'],
    [
      ['--service-cluster-ip-range=10.0.0.0/12,fd00::/108'],
      'service-cluster-ip-range',
      ['10.0.0.0/12', 'fd00::/108'],
    ],
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
    [['--x=1'], /unknown flag --x: see --help/],
    [['--port=1'], /unknown flag --port: did you mean --secure-port\?/],
    [['--etcd-server=x'], /unknown flag --etcd-server: did you mean --etcd-servers\?/],
    [['--bindaddress=x'], /unknown flag --bindaddress: did you mean --bind-address\?/],
    [
      ['--tls-private-key=x'],
      /unknown flag --tls-private-key: did you mean --tls-private-key-file/,
    ],
    [['--autorisation-mode=x'], /did you mean --authorization-mode\?/],
    [['--constructor=1'], /unknown flag --constructor/],
    [['stray'], /unexpected argument "stray"/],
    [['--anonymous-auth', 'false'], /unexpected argument "false"/],
    [['--secure-port'], /--secure-port needs a value \(int\)/],
    [['--secure-port=x'], /--secure-port=x: must be a whole number from 0 to 65535/],
    [['--workers=0'], /--workers=0: must be auto or a whole number from 1 to 128/],
    [['--workers=all'], /--workers=all: must be auto or/],
    [['--secure-port=65536'], /--secure-port=65536: must be/],
    [['--secure-port=1', '--secure-port=2'], /--secure-port is given 2 times/],
    [['--anonymous-auth=maybe'], /--anonymous-auth=maybe: must be true or false/],
    [['--runtime-config=a/v1=true,b/v1=maybe'], /: b\/v1 must be true or false/],
    [['--naming=other'], /--naming=other: must be one of svc, kubernetes/],
    [['--request-timeout=0s'], /--request-timeout=0s: must be longer than 0/],
    [['--request-timeout=5'], /--request-timeout=5: must be a duration/],
    [['--event-ttl=-5s'], /--event-ttl=-5s: must be a duration/],
    [['--goaway-chance=0.5'], /--goaway-chance=0.5: must be a number from 0 to 0.02/],
    [['--data-dir='], /--data-dir=: must name a file/],
    [['--bind-address=foo'], /--bind-address=foo: must be an IP address such as 10.0.0.9 or ::1/],
    [['--bind-address=[::1]'], /--bind-address=\[::1\]: must be an IP address/],
    [['--bind-address='], /--bind-address=: must be an IP address/],
    [['--advertise-address=fe80::1%eth0'], /--advertise-address=fe80::1%eth0: must be an IP/],
    [['--service-node-port-range=32767-30000'], /must be ports such as 30000-32767/],
    [['--service-node-port-range=0-100'], /must be ports such as 30000-32767/],
    [['--service-node-port-range=65535+1'], /must be ports such as 30000-32767/],
    [['--service-cluster-ip-range=10.0.0.0'], /"10.0.0.0" must be a network such as/],
    [['--service-cluster-ip-range=10.0.0.0/33'], /"10.0.0.0\/33" must be a network/],
    [['--service-cluster-ip-range=fd00::/x'], /"fd00::\/x" must be a network/],
    [['--service-cluster-ip-range=10.0.0.0/8,11.0.0.0/8'], /one network, or one of IPv4 and one/],
    [['--kubernetes-service-node-port=65536'], /must be a whole number from 0 to 65535/],
    [
      ['--endpoint-reconciler-type=master-count'],
      /--endpoint-reconciler-type=master-count: is gone: lease does the same/,
    ],
    [['--endpoint-reconciler-type=x'], /must be one of lease, none/],
    [['--version=1.36'], /--version=1.36: must be one of true, false, raw/],
    [['--etcd-servers='], /--etcd-servers=: must name at least one URL/],
    [['--etcd-servers=http://u:p@a:1'], /"http:\/\/u:p@a:1" must be a URL/],
    [['--etcd-servers=http://a:1?x'], /must be a URL/],
    [['--etcd-servers=http://a:99999'], /must be a URL/],
    [['--etcd-servers=https://a:1, https://b:1'], /" https:\/\/b:1" must be a URL/],
    [['--etcd-servers=127.0.0.1:2379'], /--etcd-servers=.*must be a URL/],
    [['--feature-gates==true'], /--feature-gates==true: .* has no key/],
    [['--etcd-prefix=registry'], /--etcd-prefix=registry: must be a path/],
    [['--etcd-prefix=/a//b'], /--etcd-prefix=/],
    [['--etcd-prefix=/a/'], /--etcd-prefix=/],
    [['--tls-cert-file=a'], /--tls-cert-file needs --tls-private-key-file too/],
    [['--tls-private-key-file=a'], /--tls-private-key-file needs --tls-cert-file too/],
    [['--etcd-certfile=a', '--etcd-servers=https://a:1'], /--etcd-certfile needs --etcd-keyfile/],
    [['--etcd-cafile=a'], /--etcd-cafile is for an external etcd/],
    [
      ['--etcd-cafile=a', '--etcd-servers=https://a:1,http://b:1'],
      /--etcd-cafile is for TLS, and http:\/\/b:1 in --etcd-servers is without: write https:\/\//,
    ],
    [['--authorization-mode=RBAC,Foo'], /=RBAC,Foo: "Foo" is no mode; there are AlwaysAllow, /],
    [['--authorization-mode='], /--authorization-mode=: "" is no mode/],
    [['--authorization-mode=RBAC,Node,RBAC'], /names RBAC twice/],
    [['--authorization-mode=ABAC'], /ABAC needs --authorization-policy-file/],
    [['--authorization-mode=Webhook'], /Webhook needs --authorization-webhook-config-file/],
    [['--authorization-policy-file=a'], /--authorization-policy-file is for the mode ABAC/],
    [['--authorization-webhook-config-file=a'], /-config-file is for the mode Webhook/],
    [['--authorization-webhook-version=v2'], /must be one of v1beta1, v1/],
  ])('%j is refused in words that name the flag', (argv, message) => {
    expect(() => parse(...argv)).toThrow(message);
  });

  test.each([
    ['authorization-mode', 'Node,RBAC'],
    ['authorization-webhook-config-file', 'b'],
    ['authorization-webhook-version', 'v1'],
    ['authorization-webhook-cache-authorized-ttl', '5m0s'],
    ['authorization-webhook-cache-unauthorized-ttl', '30s'],
  ])('configures not both, the authorization configuration file and --%s', (name, value) => {
    expect(() => parse('--authorization-config=a', `--${name}=${value}`)).toThrow(
      `--authorization-config says who decides, all of them: leave out --${name}`,
    );
  });
});

/** As of release 1.36, in the order of the tool that writes it. */
const staticPodFlags = [
  '--advertise-address=10.0.0.9',
  '--allow-privileged=true',
  '--authorization-mode=Node,RBAC',
  '--client-ca-file=/pki/ca.crt',
  '--enable-admission-plugins=NodeRestriction',
  '--enable-bootstrap-token-auth=true',
  '--etcd-cafile=/pki/etcd/ca.crt',
  '--etcd-certfile=/pki/apiserver-etcd-client.crt',
  '--etcd-keyfile=/pki/apiserver-etcd-client.key',
  '--etcd-servers=https://127.0.0.1:2379',
  '--kubelet-client-certificate=/pki/apiserver-kubelet-client.crt',
  '--kubelet-client-key=/pki/apiserver-kubelet-client.key',
  '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
  '--proxy-client-cert-file=/pki/front-proxy-client.crt',
  '--proxy-client-key-file=/pki/front-proxy-client.key',
  '--requestheader-allowed-names=front-proxy-client',
  '--requestheader-client-ca-file=/pki/front-proxy-ca.crt',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-username-headers=X-Remote-User',
  '--secure-port=6443',
  '--service-account-issuer=https://cluster.example',
  '--service-account-key-file=/pki/sa.pub',
  '--service-account-signing-key-file=/pki/sa.key',
  '--service-cluster-ip-range=10.96.0.0/12',
  '--tls-cert-file=/pki/apiserver.crt',
  '--tls-private-key-file=/pki/apiserver.key',
];

describe('--oidc-* (specification 3, OpenID Connect flags)', () => {
  const both = ['--oidc-issuer-url=https://a.tests', '--oidc-client-id=c'];

  test('have their defaults', () => {
    const flags = parse(...both);
    expect(flags['oidc-username-claim']).toBe('sub');
    expect(flags['oidc-signing-algs']).toEqual(['RS256']);
    expect(flags['oidc-required-claim'].size).toBe(0);
  });

  test('--oidc-required-claim: key=value, repeatable', () => {
    const given = ['--oidc-required-claim=a=b=c', '--oidc-required-claim=d=e'];
    expect([...parse(...both, ...given)['oidc-required-claim']]).toEqual([
      ['a', 'b=c'],
      ['d', 'e'],
    ]);
  });

  test.each<[argv: readonly string[], message: RegExp]>([
    [['--oidc-issuer-url=https://a.tests'], /must be specified together/],
    [['--oidc-client-id=c'], /must be specified together/],
    [['--oidc-groups-claim=g'], /--oidc-groups-claim needs --oidc-issuer-url/],
    [[...both, '--oidc-signing-algs=none'], /unsupported signing alg: "none"/],
    [[...both, '--oidc-signing-algs=HS256'], /unsupported signing alg: "HS256"/],
    [[...both, '--oidc-required-claim=a'], /"a" must be a claim and its value/],
  ])('%j are refused', (argv, message) => {
    expect(() => parse(...argv)).toThrow(message);
  });

  test.each([
    ...both,
    ...['--oidc-username-claim=sub', '--oidc-username-prefix=-', '--oidc-groups-claim=g'],
    ...['--oidc-groups-prefix=g', '--oidc-required-claim=a=b', '--oidc-ca-file=f'],
    '--oidc-signing-algs=RS256',
  ])('--authentication-config cannot be combined with any --oidc-* flag: %s', (flag) => {
    const given = ['--authentication-config=f', flag];
    expect(() => parse(...given)).toThrow(/cannot be combined.*mutually exclusive/);
  });
});

describe("kube-apiserver's flags that this server does not have", () => {
  test('a static pod of a control plane starts, with a warning for each of them', () => {
    const { warnings } = parseFlags(staticPodFlags);
    const warned = warnings.map((warning) => /^--([a-z-]+)=/.exec(warning)?.[1]);
    const silent = ['allow-privileged']; // what it asks for is so
    const absent = staticPodFlags
      .map((flag) => /^--([a-z-]+)=/.exec(flag)?.[1] ?? '')
      .filter((name) => Object.hasOwn(absentFlags, name) && !silent.includes(name));
    expect(warned).toEqual(absent);
  });

  test.each([
    [['--tls-min-version=VersionTLS12'], []],
    [['--profiling=false', '--allow-privileged', '--storage-backend=etcd3'], []],
    [
      ['--admission-control=AlwaysAdmit'],
      [/^flag --admission-control is deprecated: use --enable/],
    ],
    [['--shutdown-watch-termination-grace-period=0s'], []],
    [['--tls-min-version=VersionTLS10'], [/TLS 1.2 is the oldest/]],
    [['-v=2'], [/^--v=2 has no effect: .*--log-level/]],
    [
      ['--v', '4', '--contention-profiling'],
      [/--v=4/, /--contention-profiling=true/],
    ],
    [['--anonymous-auth=false', '--goaway-chance=0.01', '--event-ttl=1h'], []],
  ])('%j: warnings %j', (argv, warnings) => {
    const found = parseFlags(argv).warnings;
    expect(found).toHaveLength(warnings.length);
    warnings.forEach((warning, index) => expect(found[index]).toMatch(warning));
  });

  test.each([
    [['--encryption-provider-config=a'], /secrets too, would lie in etcd as they are/],
    [['--admission-control=a', '--enable-admission-plugins=b'], /leave out --enable-admission/],
    [['--admission-control=', '--disable-admission-plugins=b'], /leave out --disable-admission/],
    [['--allow-privileged=false'], /privileged containers are always allowed/],
    [['--tls-min-version=VersionTLS13'], /TLS 1.2 is the oldest version/],
    [['--tls-cipher-suites=TLS_AES_128_GCM_SHA256'], /cipher suites of Node/],
    [['--storage-backend=etcd2'], /etcd, with version 3 of its API/],
    [['--emulated-version=1.35'], /this server speaks 1.36 alone/],
    [['--max-requests-inflight=many'], /--max-requests-inflight=many: must be a whole number/],
    [
      ['--audit-webhook-initial-backoff=1'],
      /--audit-webhook-initial-backoff=1: must be a duration/,
    ],
    [['--audit-policy-file'], /--audit-policy-file needs a value/],
  ])('%j does not start', (argv, message) => {
    expect(() => parse(...argv)).toThrow(message);
  });

  test('are in one table only, and each says what is in force instead', () => {
    for (const [name, { instead }] of Object.entries(absentFlags)) {
      expect(Object.keys(flagTable)).not.toContain(name);
      expect(instead).toMatch(/^[^A-Z]|^HTTP|^TLS/);
      expect(instead).not.toMatch(/\.$/);
    }
  });
});

test('--help shows every flag with its default', () => {
  const help = helpText();
  for (const [name, flag] of Object.entries(flagTable)) {
    expect(help).toContain(`  --${name}`);
    if (flag.fallback !== undefined && flag.fallback !== '') {
      const shown = RegExp.escape(`(default ${flag.fallback})`);
      expect(help).toMatch(new RegExp(`--${name}.*${shown}`));
    }
  }
});

test.each([
  [{ npm_config_secure_port: '1' }, /--secure-port=1.*npm start -- --secure-port=1/],
  [{ npm_config_anonymous_auth: 'true' }, /npm start -- --anonymous-auth$/],
  [{ npm_config_audit_log_path: '-' }, /npm start -- --audit-log-path=-$/],
  [{ npm_config_loglevel: 'warn', npm_config_naming: '' }, undefined],
  [{}, undefined],
])('flags that npm kept are seen in %j', (environment, message) => {
  const text = swallowedFlags(environment);
  if (message === undefined) expect(text).toBeUndefined();
  else expect(text).toMatch(message);
});
