// How long tokens are good for: as long as what they are tied to is there, at every replica, from
// the moment that they were issued.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import type { JWTPayload } from 'jose';
import { recordAt, textAt } from '../../api/json-access.ts';
import type { Authentication } from '../../authn/authenticator.ts';
import { boundPayload } from '../../authn/service-account/claims.ts';
import { testCredentials } from '../../authn/testing/credentials.ts';
import {
  testAccounts,
  testIssuerName,
  testKey,
} from '../../authn/service-account/testing/test-accounts.ts';
import type { TestAccounts } from '../../authn/service-account/testing/test-accounts.ts';
import { newSigningKey } from '../../authn/service-account/testing/test-keys.ts';
import type { ServiceAccountOptions } from '../../authn/service-account.ts';
import { sleep } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { ResourceView } from '../../cacher/resource-view.ts';
import { RegistryOnEtcd } from '../testing/registry-on-etcd.ts';
import type { Replica } from '../testing/registry-on-etcd.ts';
import { fresh, VerbDriver } from '../testing/verb-driver.ts';
import type { Sent } from '../testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replicas: Replica[];
let replica: Replica;
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  // The last one knows nothing that is written after its start, as one that lags far behind.
  const options = [{}, {}, { isFrozen: true }];
  replicas = await Promise.all(options.map((one) => registry.replica(one)));
  [replica] = replicas as [Replica];
  verbs = new VerbDriver(replica);
});
afterAll(() => registry.stop());

const accountsOf = (one: Replica, more: Partial<ServiceAccountOptions> = {}): TestAccounts =>
  testAccounts(one.naming, (resource) => one.store(resource).view, more);
const make = (resource: string, body: object = {}, name = fresh()): Promise<Sent> =>
  verbs.create(replica.store(resource), { metadata: { name }, ...body });
const end = AbortSignal.timeout(120_000);
const judge = async (
  { authenticator }: TestAccounts,
  token: string,
  audiences: readonly string[] = [],
): Promise<Authentication> =>
  authenticator.authenticate(testCredentials({ token, audiences }), end);
const outcome = async (accounts: TestAccounts, token: string): Promise<string> =>
  (await judge(accounts, token)).outcome;

async function tokenOf(account: Sent, spec: object = {}): Promise<string> {
  const store = replica.store('serviceaccounts');
  const { name } = account.metadata;
  const answer = await verbs.act(store, name, { spec }, { subresource: 'token' });
  return textAt(recordAt(answer, 'status'), 'token');
}

type Kind = 'Pod' | 'Secret' | 'Node';
const resources = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const;

async function boundToken(kind: Kind): Promise<{ account: Sent; bound: Sent; token: string }> {
  const account = await make('serviceaccounts');
  const serviceAccountName = account.metadata.name;
  const spec = { serviceAccountName, containers: [{ name: 'c', image: 'i' }] };
  const bound = await make(resources[kind], kind === 'Pod' ? { spec } : {});
  const { name, uid } = bound.metadata;
  const boundObjectRef = { kind, apiVersion: 'v1', name, uid };
  return { account, bound, token: await tokenOf(account, { boundObjectRef }) };
}

const removed = (resource: string, name: string): Promise<unknown> =>
  verbs.remove(replica.store(resource), name, { query: 'gracePeriodSeconds=0' });

async function seen(view: ResourceView, key: { namespace: string; name: string }, uid: string) {
  while (view.peek(key)?.object().metadata?.uid === uid) await sleep(5, end);
}

describe('a token', () => {
  test('is good at every replica as soon as it is issued, however far one lags', async () => {
    const everybody = replicas.map((one) => accountsOf(one));
    for (const kind of ['Pod', 'Secret', 'Node'] as const) {
      const { token } = await boundToken(kind);
      const outcomes = await Promise.all(everybody.map((one) => outcome(one, token)));
      expect([kind, ...outcomes]).toEqual([kind, 'accepted', 'accepted', 'accepted']);
    }
  });

  test('says who its account is', async () => {
    const account = await make('serviceaccounts');
    const { name, uid } = account.metadata;
    const answer = await judge(accountsOf(replica), await tokenOf(account));
    expect(answer).toEqual({
      outcome: 'accepted',
      audiences: [testIssuerName],
      user: {
        name: `system:serviceaccount:ns:${name}`,
        uid,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
        extra: {
          'authentication.svc.io/credential-id': [expect.stringMatching(/^JTI=[0-9a-f-]{36}$/)],
        },
      },
    });
  });

  test('says which pod it is for, and on which node that runs', async () => {
    const account = await make('serviceaccounts');
    const node = await make('nodes');
    const serviceAccountName = account.metadata.name;
    const containers = [{ name: 'c', image: 'i' }];
    for (const nodeName of [undefined, 'absent', node.metadata.name]) {
      const pod = await make('pods', { spec: { serviceAccountName, containers, nodeName } });
      const { name } = pod.metadata;
      const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name };
      const token = await tokenOf(account, { boundObjectRef });
      const answer = await judge(accountsOf(replica), token);
      if (answer.outcome !== 'accepted') throw new Error(answer.outcome);
      const { 'authentication.svc.io/credential-id': _, ...extra } = answer.user.extra;
      expect(extra).toEqual({
        'authentication.svc.io/pod-name': [name],
        'authentication.svc.io/pod-uid': [pod.metadata.uid],
        ...(nodeName === undefined ? {} : { 'authentication.svc.io/node-name': [nodeName] }),
        ...(nodeName === node.metadata.name
          ? { 'authentication.svc.io/node-uid': [node.metadata.uid] }
          : {}),
      });
    }
  });

  test.each([
    [['a', 'b'], [], []],
    [['a', testIssuerName], [], [testIssuerName]],
    [['a', 'b'], ['b', 'c'], ['b']],
    [['a'], ['c'], []],
    [[], ['c'], []],
    [[], [testIssuerName, 'c'], [testIssuerName]],
  ])('for %j, of whom %j are asked for, is good for %j', async (audiences, asked, good) => {
    const account = await make('serviceaccounts');
    const answer = await judge(accountsOf(replica), await tokenOf(account, { audiences }), asked);
    expect(answer.outcome === 'accepted' ? answer.audiences : []).toEqual(good);
  });
});

describe.each<[Kind | 'account']>([['account'], ['Pod'], ['Secret'], ['Node']])(
  'the deletion of the %s',
  (what) => {
    test('ends the token for good', async () => {
      const { account, bound, token } = await boundToken(what === 'account' ? 'Secret' : what);
      const accounts = accountsOf(replica);
      expect(await outcome(accounts, token)).toBe('accepted');
      const resource = what === 'account' ? 'serviceaccounts' : resources[what];
      const { name, uid } = (what === 'account' ? account : bound).metadata;
      const namespace = what === 'Node' ? '' : 'ns';
      await removed(resource, name);
      await seen(replica.store(resource).view, { namespace, name }, uid);
      expect(await outcome(accounts, token)).toBe('rejected');
      const containers = [{ name: 'c', image: 'i' }];
      const serviceAccountName = account.metadata.name;
      await make(
        resource,
        what === 'Pod' ? { spec: { containers, serviceAccountName } } : {},
        name,
      );
      for (const one of [accounts, ...replicas.slice(0, 2).map((other) => accountsOf(other))]) {
        expect(await outcome(one, token)).toBe('rejected');
      }
    });

    test('while the token is used: once refused it is refused', async () => {
      const { account, bound, token } = await boundToken(what === 'account' ? 'Secret' : what);
      const everybody = replicas.slice(0, 2).map((one) => accountsOf(one));
      const resource = what === 'account' ? 'serviceaccounts' : resources[what];
      const { name } = (what === 'account' ? account : bound).metadata;
      const users = everybody.flatMap((one) => [one, one, one]);
      const using = users.map(async (one) => {
        const outcomes: string[] = [];
        while (outcomes.at(-1) !== 'rejected') {
          outcomes.push(await outcome(one, token));
          await sleep(0, end);
        }
        for (let more = 0; more < 20; more++) outcomes.push(await outcome(one, token));
        return outcomes;
      });
      await sleep(20, end);
      await removed(resource, name);
      for (const outcomes of await Promise.all(using)) {
        expect(outcomes[0]).toBe('accepted');
        expect(outcomes.slice(outcomes.indexOf('rejected'))).not.toContain('accepted');
      }
    });
  },
);

test('a deletion that has begun ends a token once clocks cannot differ by so much', async () => {
  const { bound, token } = await boundToken('Pod');
  const clock = { ...systemClock, nowMs: () => nowMs };
  let nowMs = Date.now();
  const accounts = accountsOf(replica, { clock });
  const pods = replica.store('pods');
  const { name } = bound.metadata;
  await verbs.patch(pods, name, { metadata: { finalizers: ['example.com/held'] } });
  await removed('pods', name);
  const key = { namespace: 'ns', name };
  const markOf = () => pods.view.peek(key)?.object().metadata?.deletionTimestamp;
  while (markOf() === undefined) await sleep(5, end);
  const begunMs = Date.parse(markOf() ?? '');
  nowMs = begunMs + limits.tokenLeewayMs;
  expect(await outcome(accounts, token)).toBe('accepted');
  nowMs += 1;
  expect(await outcome(accounts, token)).toBe('rejected');
});

describe('a token that this server did not issue so', () => {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const clock = { ...systemClock, nowMs: () => nowSeconds * 1000 };
  const sign = async (change: JWTPayload, key = testKey): Promise<string> => {
    const { name, uid } = (await make('serviceaccounts')).metadata;
    const payload = boundPayload(
      {
        issuer: testIssuerName,
        audiences: [testIssuerName],
        namespace: 'ns',
        account: { name, uid },
        issuedAtSeconds: nowSeconds,
        expiresAtSeconds: nowSeconds + 600,
        id: 'x',
        warnAfterSeconds: undefined,
      },
      replica.naming,
    );
    const header = { alg: key.algorithm, kid: key.id };
    return new SignJWT({ ...payload, ...change }).setProtectedHeader(header).sign(key.privateKey);
  };

  test.each<[string, JWTPayload, string]>([
    ['as it should be', {}, 'accepted'],
    ['for one audience as a text', { aud: testIssuerName }, 'accepted'],
    ['ended a moment ago', { exp: nowSeconds - 5 }, 'accepted'],
    ['ended', { exp: nowSeconds - 60 }, 'rejected'],
    ['begins soon', { nbf: nowSeconds + 30 }, 'accepted'],
    ['begins later', { nbf: nowSeconds + 3600 }, 'rejected'],
    ['issued in the future', { iat: nowSeconds + 3600 }, 'rejected'],
    ['for others', { aud: ['x'] }, 'rejected'],
    ['of another issuer', { iss: 'https://evil.example.com' }, 'rejected'],
    ['without private claims', { 'svc.io': undefined }, 'rejected'],
    ['without a namespace', { 'svc.io': { serviceaccount: { name: 'x', uid: 'y' } } }, 'rejected'],
    ['without an account', { 'svc.io': { namespace: 'ns' } }, 'rejected'],
    [
      'of an account that never was',
      { 'svc.io': { namespace: 'ns', serviceaccount: { name: 'x', uid: 'y' } } },
      'rejected',
    ],
    [
      'of an account without an identity',
      { 'svc.io': { namespace: 'ns', serviceaccount: { name: 'x' } } },
      'rejected',
    ],
    ['with claims that are no objects', { 'svc.io': ['x'] }, 'rejected'],
    ['with times that are texts', { exp: 'never' as unknown as number }, 'rejected'],
  ])('%s: %j is %s', async (_claim, change, expected) => {
    expect(await outcome(accountsOf(replica, { clock }), await sign(change))).toBe(expected);
  });

  test('by a key of its own is refused, and by one that was told of is good', async () => {
    const old = newSigningKey('P-384');
    const token = await sign({}, old);
    expect(await outcome(accountsOf(replica, { clock }), token)).toBe('rejected');
    const accounts = accountsOf(replica, { clock, keys: [testKey, old] });
    expect(await outcome(accounts, token)).toBe('accepted');
  });

  test('no token is no credential, and another sort of token is for others to judge', async () => {
    const { authenticator } = accountsOf(replica);
    expect(await authenticator.authenticate(testCredentials(), end)).toEqual({ outcome: 'absent' });
    expect(await outcome(accountsOf(replica), 'a static token')).toBe('rejected');
  });
});

test('the use of an extended token after the time that was asked for is told', async () => {
  const { token } = await (async () => {
    const account = await make('serviceaccounts');
    const spec = {
      serviceAccountName: account.metadata.name,
      containers: [{ name: 'c', image: 'i' }],
    };
    const pod = await make('pods', { spec });
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: pod.metadata.name };
    return { token: await tokenOf(account, { boundObjectRef, expirationSeconds: 3607 }) };
  })();
  let nowMs = Date.now();
  const accounts = accountsOf(replica, { clock: { ...systemClock, nowMs: () => nowMs } });
  expect(await outcome(accounts, token)).toBe('accepted');
  nowMs += 3_700_000;
  const late = await judge(accounts, token);
  const said = late.outcome === 'accepted' ? [...(late.annotations ?? [])] : [];
  expect(said).toEqual([
    [
      'authentication.svc.io/stale-token',
      expect.stringMatching(/^subject: .*, seconds after warning threshold: 9\d$/),
    ],
  ]);
  expect(accounts.told).toEqual(['valid', 'stale']);
  nowMs += 365 * 24 * 3_600_000;
  expect(await outcome(accounts, token)).toBe('rejected');
});
