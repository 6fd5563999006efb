// TokenRequests on a real etcd: what is asked for, what is refused, and what tokens say.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { admissionChain } from '../../admission/chain.ts';
import type { AdmissionPlugin } from '../../admission/plugin.ts';
import { cloneJson } from '../../api/json-value.ts';
import { recordAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { testIssuer, testIssuerName } from '../../authn/service-account/testing/test-accounts.ts';
import { forbidden } from '../../base/status.ts';
import { jsonCodec } from '../../codec/json.ts';
import { parseWriteOptions } from '../options.ts';
import { RegistryOnEtcd } from '../testing/registry-on-etcd.ts';
import type { Replica } from '../testing/registry-on-etcd.ts';
import { bytesOf, failure, fresh, params, scope, VerbDriver } from '../testing/verb-driver.ts';
import type { Sent } from '../testing/verb-driver.ts';

/** What admission saw when it could not change it any more. */
const admitted: JsonObject[] = [];
const watching: AdmissionPlugin = {
  name: 'Watching',
  sideEffects: false,
  handles: ({ resource, subresource, operation }) =>
    `${operation} ${resource.resource}/${subresource}` === 'CREATE serviceaccounts/token',
  mutate(_request, object) {
    if (object.metadata?.labels?.['short'] === undefined) return false;
    Object.assign(object['spec'] ?? {}, { expirationSeconds: 900 });
    return true;
  },
  validate({ name, namespace, resource, user }, object) {
    admitted.push({ name, namespace, user: user.name, ...cloneJson(object ?? {}) });
    if (object?.metadata?.labels?.['deny'] !== undefined) throw forbidden(resource, name, 'no');
  },
};

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let account: Sent;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ admission: admissionChain([watching]) });
  verbs = new VerbDriver(replica);
  account = await make('serviceaccounts', {});
});
afterAll(() => registry.stop());

const make = (resource: string, body: object): Promise<Sent> =>
  verbs.create(replica.store(resource), { metadata: { name: fresh() }, ...body });
const makePod = (spec: object = {}): Promise<Sent> =>
  make('pods', {
    spec: {
      serviceAccountName: account.metadata.name,
      containers: [{ name: 'c', image: 'i' }],
      ...spec,
    },
  });

const ask = (
  body: object | string,
  { name = account.metadata.name, query = '', by = verbs } = {},
) => by.act(replica.store('serviceaccounts'), name, body, { subresource: 'token', query });
const claimsOf = (answer: JsonObject): JsonObject =>
  decodeJwt<JsonObject>(textAt(recordAt(answer, 'status'), 'token'));
const boundTo = (kind: string, { name, uid }: Sent['metadata'], more: object = {}) => ({
  spec: { boundObjectRef: { kind, apiVersion: 'v1', name, uid, ...more } },
});

describe('the answer', () => {
  test('is the request with what it left out, the token and its end', async () => {
    const { name, uid } = account.metadata;
    const answer = await ask({ spec: { expirationSeconds: 1200 } });
    const claims = claimsOf(answer);
    expect(answer).toMatchObject({
      kind: 'TokenRequest',
      apiVersion: 'authentication.svc.io/v1',
      metadata: { name, namespace: 'ns', uid },
      spec: { audiences: [testIssuerName], expirationSeconds: 1200 },
    });
    const issuedAt = Date.parse(textAt(recordAt(answer, 'metadata'), 'creationTimestamp')) / 1000;
    expect(claims).toEqual({
      iss: testIssuerName,
      aud: [testIssuerName],
      sub: `system:serviceaccount:ns:${name}`,
      iat: issuedAt,
      nbf: issuedAt,
      exp: issuedAt + 1200,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      'svc.io': { namespace: 'ns', serviceaccount: { name, uid } },
    });
    const end = textAt(recordAt(answer, 'status'), 'expirationTimestamp');
    expect(Date.parse(end) / 1000).toBe(claims['exp']);
  });

  test('has an hour and the audiences of the server where nothing is asked for', async () => {
    for (const body of [{}, { spec: {} }, { spec: { audiences: [] } }]) {
      const answer = await ask(body);
      expect(answer['spec']).toMatchObject({
        audiences: [testIssuerName],
        expirationSeconds: 3600,
      });
    }
  });

  test('names the audiences that are asked for', async () => {
    const answer = await ask({ spec: { audiences: ['a', 'b'] } });
    expect(claimsOf(answer)['aud']).toEqual(['a', 'b']);
  });

  test('to a dry run is a token, too', async () => {
    expect(claimsOf(await ask({}, { query: 'dryRun=All' }))['iss']).toBe(testIssuerName);
  });

  test('is not stored, and every token is another one', async () => {
    const [one, two] = [claimsOf(await ask({})), claimsOf(await ask({}))];
    expect(one['jti']).not.toBe(two['jti']);
  });

  test('is said of in the audit event', async () => {
    const store = replica.store('serviceaccounts');
    const target = store.subresources.get('token');
    const annotations = new Map<string, string>();
    const answer = await target?.create?.({
      ...scope(),
      annotations,
      path: { namespace: 'ns', name: account.metadata.name, subresource: 'token' },
      body: jsonCodec.decode(bytesOf({}), target.input.type),
      options: parseWriteOptions(params(''), 'create', replica.naming),
    });
    const jti = claimsOf(answer?.item.object() ?? {})['jti'];
    expect([...annotations]).toEqual([
      ['authentication.svc.io/issued-credential-id', `JTI=${textAt({ jti }, 'jti')}`],
    ]);
  });
});

describe('a request', () => {
  const tooShort = 'may not specify a duration less than 10 minutes';
  const tooLong = 'may not specify a duration larger than 2^32 seconds';
  test.each([
    [0, tooShort],
    [599, tooShort],
    [-5, tooShort],
    [2 ** 32 + 1, tooLong],
    [2n ** 62n, tooLong],
  ])('for %s seconds is refused', async (expirationSeconds, detail) => {
    const spec = `{"spec":{"expirationSeconds":${String(expirationSeconds)}}}`;
    const { code, message } = await failure(ask(spec));
    expect([code, message]).toEqual([
      422,
      'TokenRequest.authentication.svc.io "" is invalid: spec.expirationSeconds: Invalid value: ' +
        `${String(expirationSeconds)}: ${detail}`,
    ]);
  });

  test.each([600, 2 ** 32])('for %d seconds is granted', async (expirationSeconds) => {
    const claims = claimsOf(await ask({ spec: { expirationSeconds } }));
    expect(Number(claims['exp']) - Number(claims['iat'])).toBe(expirationSeconds);
  });

  test('for an account that is not there is 404', async () => {
    const { code, message, details } = await failure(ask({}, { name: 'nobody' }));
    expect([code, message]).toEqual([404, 'serviceaccounts "nobody" not found']);
    expect(details).toEqual({ kind: 'serviceaccounts', name: 'nobody' });
  });

  test('may name its account and namespace, and no other', async () => {
    const { name, uid } = account.metadata;
    expect(claimsOf(await ask({ metadata: { name, namespace: 'ns', uid } }))['sub']).toContain(
      name,
    );
    const other = await failure(ask({ metadata: { name: 'x' } }));
    expect([other.code, other.message]).toEqual([
      422,
      `TokenRequest.authentication.svc.io "${name}" is invalid: metadata.name: Invalid value: ` +
        '"x": must match the service account name if specified',
    ]);
    expect((await failure(ask({ metadata: { namespace: 'x' } }))).code).toBe(400);
    const stale = await failure(ask({ metadata: { uid: 'x' } }));
    expect([stale.code, stale.message]).toEqual([
      409,
      `Operation cannot be fulfilled on TokenRequest.authentication.svc.io "${name}": the UID in ` +
        `the token request (x) does not match the UID of the service account (${uid})`,
    ]);
  });

  test('states no token of its own', async () => {
    const answer = await ask({
      status: { token: 'mine', expirationTimestamp: '2020-01-01T00:00:00Z' },
    });
    expect(claimsOf(answer)['iss']).toBe(testIssuerName);
  });

  test('is admitted as a TokenRequest that is complete', async () => {
    const { name, uid } = account.metadata;
    const metadata = { labels: { short: '' } };
    expect(claimsOf(await ask({ metadata }))).toBeDefined();
    expect(admitted.at(-1)).toMatchObject({
      name,
      namespace: 'ns',
      user: 'tester',
      kind: 'TokenRequest',
      metadata: { name, namespace: 'ns', uid },
      spec: { audiences: [testIssuerName], expirationSeconds: 900 },
    });
    expect((await failure(ask({ metadata: { labels: { deny: '' } } }))).code).toBe(403);
  });
});

describe('a token that is bound', () => {
  test('to a pod says which, and on which node it runs', async () => {
    const node = await make('nodes', {});
    const pods = [
      [await makePod(), undefined],
      [await makePod({ nodeName: 'absent' }), { name: 'absent' }],
      [
        await makePod({ nodeName: node.metadata.name }),
        { name: node.metadata.name, uid: node.metadata.uid },
      ],
    ] as const;
    for (const [{ metadata }, nodeClaim] of pods) {
      const { name, uid } = metadata;
      const claims = recordAt(claimsOf(await ask(boundTo('Pod', metadata))), 'svc.io');
      expect([claims?.['pod'], claims?.['node']]).toEqual([{ name, uid }, nodeClaim]);
    }
  });

  test('to a secret or a node says which', async () => {
    for (const [kind, resource] of [
      ['Secret', 'secrets'],
      ['Node', 'nodes'],
    ] as const) {
      const { metadata } = await make(resource, {});
      const { name, uid } = metadata;
      const claims = recordAt(claimsOf(await ask(boundTo(kind, metadata, { uid: '' }))), 'svc.io');
      expect(claims?.[kind.toLowerCase()]).toEqual({ name, uid });
    }
  });

  test.each([
    [{ kind: 'ConfigMap' }, 400, 'cannot bind token to object of type /v1, Kind=ConfigMap'],
    [
      { kind: 'Pod', apiVersion: 'apps/v1' },
      400,
      'cannot bind token to object of type apps/v1, Kind=Pod',
    ],
    [{ kind: 'Pod', name: 'absent' }, 404, 'pods "absent" not found'],
    [{ kind: 'Secret', name: 'absent' }, 404, 'secrets "absent" not found'],
    [{ kind: 'Node', name: 'absent' }, 404, 'nodes "absent" not found'],
    [{ kind: 'Pod', name: '' }, 404, 'pods "" not found'],
  ])('to %j is refused', async (reference, code, message) => {
    const refused = await failure(ask(boundTo('', account.metadata, { uid: '', ...reference })));
    expect([refused.code, refused.message]).toEqual([code, message]);
  });

  test('to another object of the name is 409', async () => {
    const { metadata } = await makePod();
    const { code, message } = await failure(ask(boundTo('Pod', metadata, { uid: 'other' })));
    expect([code, message]).toEqual([
      409,
      `Operation cannot be fulfilled on Pod "${metadata.name}": the UID in the bound object ` +
        'reference (other) does not match the UID in record. The object might have been deleted ' +
        'and then recreated',
    ]);
  });

  test('to a pod of another account is 400', async () => {
    const { metadata } = await makePod({ serviceAccountName: 'other' });
    const { code, message } = await failure(ask(boundTo('Pod', metadata)));
    expect([code, message]).toEqual([
      400,
      `cannot bind token for serviceaccount "${account.metadata.name}" to pod running with ` +
        'different serviceaccount name.',
    ]);
  });
});

describe('the life of a token', () => {
  const lifeOf = (answer: JsonObject): object => {
    const { exp, iat, ...claims } = claimsOf(answer);
    const warnAfter = recordAt(claims, 'svc.io')?.['warnafter'];
    return {
      seconds: Number(exp) - Number(iat),
      shown: recordAt(answer, 'spec')?.['expirationSeconds'],
      warned: warnAfter === undefined ? undefined : Number(warnAfter) - Number(iat),
    };
  };
  const year = 365 * 24 * 3600;

  test.each([
    ['what pods ask for is good for a year', 3607, {}, {}, [year, 3607, 3607]],
    ['other times are as they are asked for', 3600, {}, {}, [3600, 3600, undefined]],
    ['so are those for others', 3607, { audiences: ['x'] }, {}, [3607, 3607, undefined]],
    [
      'nothing is extended by the flag',
      3607,
      {},
      { extendsExpiration: false },
      [3607, 3607, undefined],
    ],
    ['too much is cut', 9999, {}, { secondsMax: 7200 }, [7200, 7200, undefined]],
    ['what is cut is not extended', 7214, {}, { secondsMax: 3600 }, [3600, 3600, undefined]],
    ['a year is not cut', 3607, {}, { secondsMax: 7200 }, [year, 3607, 3607]],
  ])('%s', async (_claim, expirationSeconds, spec, options, [seconds, shown, warned]) => {
    const other = await registry.replica({ tokens: testIssuer(replica.naming, options) });
    const { metadata } = await makePod();
    const { boundObjectRef } = boundTo('Pod', metadata).spec;
    const body = { spec: { ...spec, expirationSeconds, boundObjectRef } };
    const store = other.store('serviceaccounts');
    const by = new VerbDriver(other);
    const { name } = account.metadata;
    const answer = await by.act(store, name, body, { subresource: 'token' });
    expect(lifeOf(answer)).toEqual({ seconds, shown, warned });
  });

  test.each([
    [7200, []],
    [9999, ['requested expiration of 9999 seconds shortened to 7200 seconds']],
  ])('who asks for %d seconds of at most 7200 is told %j', async (expirationSeconds, told) => {
    const options = { secondsMax: 7200 };
    const other = await registry.replica({ tokens: testIssuer(replica.naming, options) });
    const target = other.store('serviceaccounts').subresources.get('token');
    const asked = scope();
    await target?.create?.({
      ...asked,
      path: { namespace: 'ns', name: account.metadata.name, subresource: 'token' },
      body: jsonCodec.decode(bytesOf({ spec: { expirationSeconds } }), target.input.type),
      options: parseWriteOptions(params(''), 'create', replica.naming),
    });
    expect(asked.warnings).toEqual(told);
  });

  test('that is not bound to a pod is never extended', async () => {
    const answer = await ask({ spec: { expirationSeconds: 3607 } });
    expect(lifeOf(answer)).toEqual({ seconds: 3607, shown: 3607, warned: undefined });
  });
});
