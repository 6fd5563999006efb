// Who asks: time of the union of authenticators for each method, for a bad token, and for taking
// identity headers out of a request; and once a connection, the proof of its certificate.
// Run: node bench/micro/authn.bench.ts
import { X509Certificate } from 'node:crypto';
import { namingProfile } from '../../lib/api/vendor.ts';
import type { Credentials } from '../../lib/authn/authenticator.ts';
import { bootstrapTokenAuthenticator } from '../../lib/authn/bootstrap-token.ts';
import { CertificateBundle } from '../../lib/base/certificate-bundle.ts';
import { certificateProofs } from '../../lib/authn/certificate-proofs.ts';
import { clientCertificateAuthenticator } from '../../lib/authn/client-cert.ts';
import { identityStripper } from '../../lib/authn/identity-headers.ts';
import { requestHeaderAuthenticator } from '../../lib/authn/request-header.ts';
import { parseTokenFile, staticTokenAuthenticator } from '../../lib/authn/static-token.ts';
import { unionAuthenticator } from '../../lib/authn/union.ts';
import { createTestCa } from '../../lib/base/testing/certificates.ts';
import type { Item } from '../../lib/cacher/resource-view.ts';
import { median } from '../support/compare.ts';

const rounds = 9;
const perRound = 50_000;
const naming = namingProfile('svc');
const { signal } = new AbortController();
const nowMs = (): number => Date.now();

const [users, fronts] = [await createTestCa('users'), await createTestCa('fronts')];
const mid = await users.intermediate('mid');
const client = { use: 'clientAuth', commonName: 'jane', organizations: ['a', 'b'] } as const;
const shown = new X509Certificate((await users.issue(client)).cert);
const below = new X509Certificate((await mid.issue(client)).cert);
const proxy = new X509Certificate((await fronts.issue(client)).cert);
const userBundle = new CertificateBundle(users.cert);
const frontBundle = new CertificateBundle(fronts.cert);

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const secret = {
  type: naming.resolve('bootstrap.{kubernetes}.io/token'),
  data: {
    'token-id': encoded('abcde1'),
    'token-secret': encoded('0123456789abcdef'),
    'usage-bootstrap-authentication': encoded('true'),
  },
};
// Only what the authenticator reads of it.
const item = {
  name: 'bootstrap-token-abcde1',
  corrupted: false,
  object: () => secret,
} as unknown as Item;

const headers = {
  username: ['x-remote-user'],
  uid: ['x-remote-uid'],
  groups: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
};
const lines = Array.from({ length: 1_000 }, (_, n) => `token-${String(n)},user-${String(n)},1,"g"`);
const union = unionAuthenticator([
  requestHeaderAuthenticator({
    proofs: certificateProofs(() => frontBundle, nowMs),
    allowedNames: [],
    headers,
  }),
  clientCertificateAuthenticator({
    proofs: certificateProofs(() => userBundle, nowMs),
    naming,
    hasUid: true,
    nowMs,
  }),
  staticTokenAuthenticator(parseTokenFile(lines.join('\n'))),
  bootstrapTokenAuthenticator({ secrets: { peek: () => item }, naming, nowMs }),
]);

const usual = ['Host', 'a', 'User-Agent', 'kubectl', 'Accept', 'application/json', 'X-Trace', 'b'];
const connected = (certificate: X509Certificate): Credentials['connection'] => ({
  remoteAddress: '192.0.2.1',
  certificate,
  intermediates: [],
});
const asking = (given: Partial<Credentials>): Credentials => ({
  token: undefined,
  connection: undefined,
  rawHeaders: usual,
  audiences: [],
  ...given,
});
const strip = identityStripper(headers);
const parsed = { host: 'a', 'user-agent': 'kubectl', accept: 'application/json', 'x-trace': 'b' };

const authenticate = (credentials: Credentials) => (): unknown =>
  union.authenticate({ ...credentials }, { signal } as never); // those of a request are its own
const proxied = [...usual, 'X-Remote-User', 'fido', 'X-Remote-Group', 'dogs'];

const sides: readonly [name: string, run: () => unknown, count?: number][] = [
  ['client certificate', authenticate(asking({ connection: connected(shown) }))],
  ['static token', authenticate(asking({ token: 'token-500' }))],
  ['bootstrap token', authenticate(asking({ token: 'abcde1.0123456789abcdef' }))],
  ['front proxy', authenticate(asking({ connection: connected(proxy), rawHeaders: proxied }))],
  ['bad token', authenticate(asking({ token: 'token-5000' }))],
  ['no credentials', authenticate(asking({}))],
  [
    'headers of a request without a token',
    () => strip({ headers: parsed, rawHeaders: [...usual] }),
  ],
  [
    'headers of a request with a token',
    () =>
      strip({
        headers: { ...parsed, authorization: 'Bearer t' },
        rawHeaders: [...usual, 'Authorization', 'Bearer t'],
      }),
  ],
  ['proof of a new connection', () => userBundle.verify(shown, [], nowMs()), 1_000],
  [
    'proof over an intermediate',
    () => userBundle.verify(below, [new X509Certificate(mid.cert)], nowMs()),
    1_000,
  ],
];

for (const [name, run, count = perRound] of sides) {
  const micros: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = performance.now();
    for (let at = 0; at < count; at++) run();
    micros.push(((performance.now() - before) / count) * 1_000);
  }
  console.log(`${name.padEnd(40)} ${median(micros).toFixed(2)} µs`);
}
