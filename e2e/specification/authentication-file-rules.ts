// Entries of an authentication configuration file that each break one rule of the specification,
// and what is said of them: a file that holds them all is told of with all that is wrong.

/** The issuer of service accounts. */
export const accounts = 'https://accounts.tests';

/** An entry that lacks nothing but what is given. */
export function valid(url: string, issuer: object = {}, more: object = {}): object {
  return {
    issuer: { url, audiences: ['a'], ...issuer },
    claimMappings: { username: { claim: 'sub', prefix: '' } },
    ...more,
  };
}

type Mapped = Readonly<Record<string, unknown>>;
const mapped = (claimMappings: Mapped): object => ({
  claimMappings: { username: { claim: 'sub', prefix: '' }, ...claimMappings },
});
const extra = (...keys: string[]): object =>
  mapped({ extra: keys.map((key) => ({ key, valueExpression: 'claims.a' })) });
const by = 'https://d.tests/x';
/** Each row, what is said of its entry, and the entry. */
const rows: [row: string, problem: string, entry: (url: string) => object][] = [
  ['issuer.url: required', 'issuer.url: Required value', () => valid('')],
  ['issuer.url: (is taken)', '', () => valid('https://twice.tests')],
  [
    'issuer.url: Unique across entries',
    'issuer.url: Duplicate value',
    () => valid('https://twice.tests'),
  ],
  [
    'issuer.url: Must not equal the service-account issuer',
    'issuer.url: Invalid value',
    () => valid(accounts),
  ],
  [
    'issuer.discoveryURL: Differs from url',
    'issuer.discoveryURL: Invalid value',
    (url) => valid(url, { discoveryURL: url }),
  ],
  ['issuer.discoveryURL: (is taken)', '', (url) => valid(url, { discoveryURL: by })],
  [
    'issuer.discoveryURL: unique',
    'issuer.discoveryURL: Duplicate value',
    (url) => valid(url, { discoveryURL: by }),
  ],
  [
    'issuer.certificateAuthority: PEM',
    'issuer.certificateAuthority: Invalid value',
    (url) => valid(url, { certificateAuthority: 'no PEM' }),
  ],
  [
    'issuer.audienceMatchPolicy: MatchAny. Required when several audiences are listed',
    'issuer.audienceMatchPolicy: Invalid value',
    (url) => valid(url, { audiences: ['a', 'b'] }),
  ],
  [
    'issuer.egressSelectorType: controlplane or cluster',
    'issuer.egressSelectorType: Invalid value: "etcd"',
    (url) => valid(url, { egressSelectorType: 'etcd' }),
  ],
  [
    'claimValidationRules[]: either claim with requiredValue, or expression',
    'claimValidationRules[0]: ',
    (url) => valid(url, {}, { claimValidationRules: [{ claim: 'a', expression: 'true' }] }),
  ],
  [
    'claimValidationRules[]: expression (boolean)',
    'claimValidationRules[0].expression: Invalid value',
    (url) => valid(url, {}, { claimValidationRules: [{ expression: '"a"' }] }),
  ],
  [
    'claimMappings.username: prefix required',
    'claimMappings.username.prefix: Required value',
    (url) => valid(url, {}, mapped({ username: { claim: 'sub' } })),
  ],
  [
    'claimMappings.username: Exclusive',
    'claimMappings.username: Invalid value',
    (url) =>
      valid(url, {}, mapped({ username: { claim: 'sub', prefix: '', expression: 'claims.sub' } })),
  ],
  [
    'claimMappings.username: An expression that reads the email claim must also check ' +
      'the verified-email claim',
    'claimMappings.username.expression: Invalid value',
    (url) => valid(url, {}, mapped({ username: { expression: 'claims.email' } })),
  ],
  [
    'claimMappings.groups: claim with prefix',
    'claimMappings.groups.prefix: Required value',
    (url) => valid(url, {}, mapped({ groups: { claim: 'g' } })),
  ],
  [
    'claimMappings.uid: claim or expression',
    'claimMappings.uid: Invalid value',
    (url) => valid(url, {}, mapped({ uid: { claim: 'a', expression: 'claims.a' } })),
  ],
  [
    'claimMappings.extra[]: key (domain-prefixed path)',
    'claimMappings.extra[0].key: Invalid value: "tenant"',
    (url) => valid(url, {}, extra('tenant')),
  ],
  [
    'claimMappings.extra[]: key lower case',
    'claimMappings.extra[0].key: Invalid value: "a.b/C"',
    (url) => valid(url, {}, extra('a.b/C')),
  ],
  [
    'claimMappings.extra[]: key unique',
    'claimMappings.extra[1].key: Duplicate value: "a.b/c"',
    (url) => valid(url, {}, extra('a.b/c', 'a.b/c')),
  ],
  [
    'claimMappings.extra[]: key not under the vendor reserved domains',
    'claimMappings.extra[0].key: Invalid value: "x.svc.io/a"',
    (url) => valid(url, {}, extra('x.svc.io/a')),
  ],
  [
    'userValidationRules[]: expression (boolean)',
    'userValidationRules[0].expression: Invalid value',
    (url) => valid(url, {}, { userValidationRules: [{ expression: 'user.username' }] }),
  ],
];

/** The same with the place of each; no problem: an entry that another one is refused beside. */
export function refusedRows(): [row: string, problem: string, jwt: object][] {
  return rows.map(([row, problem, entry], at) => [
    `jwt[].${row}`,
    problem === '' ? '' : `jwt[${String(at)}].${problem}`,
    entry(`https://e${String(at)}.tests`),
  ]);
}
