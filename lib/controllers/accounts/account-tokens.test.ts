// Tokens that lie in Secrets, on a real etcd: who gets one, what it is good for, when it ends, and
// that its use is noted.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { recordAt, textAt } from '../../api/json-access.ts';
import type { Authentication } from '../../authn/authenticator.ts';
import { testAccounts, testIssuer } from '../../authn/service-account/testing/test-accounts.ts';
import type { TestAccounts } from '../../authn/service-account/testing/test-accounts.ts';
import type { ServiceAccountOptions } from '../../authn/service-account.ts';
import { testCredentials } from '../../authn/testing/credentials.ts';
import { sleep } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { serverUser } from '../../base/user.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { internalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../../registry/testing/registry-on-etcd.ts';
import { codeOf, fresh, VerbDriver } from '../../registry/testing/verb-driver.ts';
import type { Sent } from '../../registry/testing/verb-driver.ts';
import { isThere, until } from '../testing/collector.ts';
import { runController } from '../testing/run-controller.ts';
import { AccountTokensController } from './account-tokens.ts';
import { TokenTrackingController, trackingName } from './token-tracking.ts';
import { dayOf, TokenUse } from './token-use.ts';

const type = 'svc.io/service-account-token';
const nameAnnotation = 'svc.io/service-account.name';
const uidAnnotation = 'svc.io/service-account.uid';
const serverCa = 'the certificates';
const log = createLogger('error');
const end = AbortSignal.timeout(120_000);

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let secrets: ResourceStore;
let accounts: ResourceStore;
let stop: () => Promise<void>;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  secrets = replica.store('secrets');
  accounts = replica.store('serviceaccounts');
  // Three replicas without a leader among them: more writes, the same outcome.
  const stops = [replica, await registry.replica(), await registry.replica()].map((one) =>
    runController(
      new AccountTokensController({
        ...context(one),
        secrets: one.store('secrets'),
        accounts: one.store('serviceaccounts'),
        tokens: testIssuer(one.naming),
        serverCa,
      }),
    ),
  );
  stop = async () => {
    for (const each of stops) await each();
  };
});
afterAll(async () => {
  await stop();
  await registry.stop();
});

const context = ({ naming }: Replica) => ({
  naming,
  client: internalClient(serverUser),
  clock: systemClock,
  log,
});
const make = (store: ResourceStore, more: object = {}, metadata: object = {}): Promise<Sent> =>
  verbs.create(store, { metadata: { name: fresh(), ...metadata }, ...more });
const makeSecret = (account: string, annotations: object = {}, more: object = {}): Promise<Sent> =>
  make(secrets, { type, ...more }, { annotations: { [nameAnnotation]: account, ...annotations } });
const stored = async (store: ResourceStore, name: string): Promise<Readonly<ApiObject>> => {
  const item = await store.view.get({ namespace: 'ns', name }, { mode: 'latest' }, end);
  return item?.object() ?? {};
};
const textIn = (secret: Readonly<ApiObject>, key: string): string =>
  Buffer.from(textAt(recordAt(secret, 'data'), key), 'base64').toString();
const tokenIn = async (name: string): Promise<string> =>
  textIn(await stored(secrets, name), 'token');

async function filled(name: string): Promise<string> {
  await until(async () => (await tokenIn(name)) !== '');
  return tokenIn(name);
}

describe('a Secret of the type', () => {
  test('gets token, namespace and certificates of the account that it names', async () => {
    const account = await make(accounts);
    const { name, uid } = account.metadata;
    const secret = await makeSecret(name, {}, { data: { mine: 'AA==' } });
    const token = await filled(secret.metadata.name);
    const object = await stored(secrets, secret.metadata.name);
    expect(decodeJwt(token)).toEqual({
      iss: 'svc/serviceaccount',
      'svc.io/serviceaccount/namespace': 'ns',
      'svc.io/serviceaccount/secret.name': secret.metadata.name,
      'svc.io/serviceaccount/service-account.name': name,
      'svc.io/serviceaccount/service-account.uid': uid,
      sub: `system:serviceaccount:ns:${name}`,
    });
    expect([textIn(object, 'namespace'), textIn(object, 'ca.crt')]).toEqual(['ns', serverCa]);
    expect(recordAt(object, 'data')?.['mine']).toBe('AA==');
    expect(object.metadata?.annotations).toEqual({ [nameAnnotation]: name, [uidAnnotation]: uid });
  });

  test('keeps its token when the rest is lost, and gets another one for a lost token', async () => {
    const account = await make(accounts);
    const { name } = (await makeSecret(account.metadata.name)).metadata;
    const token = await filled(name);
    await verbs.patch(secrets, name, { data: { 'ca.crt': null, namespace: null } });
    await until(async () => textIn(await stored(secrets, name), 'ca.crt') === serverCa);
    expect(await tokenIn(name)).toBe(token);
    await verbs.patch(secrets, name, { data: { token: null } });
    expect(decodeJwt(await filled(name)).sub).toBe(decodeJwt(token).sub);
  });

  test('goes with its account, and where there is none', async () => {
    const account = await make(accounts);
    const ofAccount = await makeSecret(account.metadata.name);
    await filled(ofAccount.metadata.name);
    await verbs.remove(accounts, account.metadata.name);
    const ofNobody = await makeSecret('nobody');
    const ofAnother = await makeSecret((await make(accounts)).metadata.name, {
      [uidAnnotation]: 'another',
    });
    for (const { metadata } of [ofAccount, ofNobody, ofAnother]) {
      await until(async () => !(await isThere(secrets, metadata.name)));
    }
  });

  test('of another type is left alone', async () => {
    const other = await make(secrets, {}, { annotations: { [nameAnnotation]: 'nobody' } });
    await filled((await makeSecret((await make(accounts)).metadata.name)).metadata.name);
    expect(recordAt(await stored(secrets, other.metadata.name), 'data')).toBeUndefined();
  });

  test('that is gone is listed by its account no more; others stay on the list', async () => {
    const account = await make(accounts, { secrets: [{ name: 'other' }] });
    const { name } = account.metadata;
    const secret = await makeSecret(name);
    await filled(secret.metadata.name);
    const listed = [{ name: 'other' }, { name: secret.metadata.name }];
    await verbs.patch(accounts, name, { secrets: listed });
    await verbs.remove(secrets, secret.metadata.name);
    const names = async () => (await stored(accounts, name))['secrets'];
    await until(async () => JSON.stringify(await names()) === '[{"name":"other"}]');
  });
});

describe('a token in a Secret', () => {
  const accountsOf = (more: Partial<ServiceAccountOptions> = {}): TestAccounts =>
    testAccounts(replica.naming, (resource) => replica.store(resource).view, more);
  const judge = async ({ authenticator }: TestAccounts, token: string): Promise<Authentication> =>
    authenticator.authenticate(testCredentials({ token }), end);
  const newToken = async (metadata: object = {}) => {
    const account = await make(accounts);
    const secret = await makeSecret(account.metadata.name);
    const token = await filled(secret.metadata.name);
    const { name } = secret.metadata;
    if (Object.keys(metadata).length > 0) await verbs.patch(secrets, name, { metadata });
    return { account, name, token };
  };
  /** Memory shows what `isSo` says. */
  const shown = async (store: ResourceStore, name: string, isSo: (item?: Item) => boolean) => {
    while (!isSo(store.view.peek({ namespace: 'ns', name }))) await sleep(5, end);
  };

  test('is its account, for this server alone', async () => {
    const { account, name, token } = await newToken();
    const told = accountsOf();
    const answer = await judge(told, token);
    expect(answer).toMatchObject({
      outcome: 'accepted',
      user: {
        name: `system:serviceaccount:ns:${account.metadata.name}`,
        uid: account.metadata.uid,
        extra: {},
      },
    });
    expect(answer.outcome === 'accepted' && [...(answer.annotations ?? [])]).toEqual([
      ['authentication.svc.io/legacy-token', `system:serviceaccount:ns:${account.metadata.name}`],
      ['authentication.svc.io/legacy-token-manual-secret', name],
    ]);
    expect(told.told).toEqual(['unaddressed', 'manual']);
    expect(told.used.map((secret) => secret.name)).toEqual([name]);
  });

  test('that its account lists is good, with a warning', async () => {
    const { account, name, token } = await newToken();
    await verbs.patch(accounts, account.metadata.name, { secrets: [{ name }] });
    await shown(accounts, account.metadata.name, (item) => item?.object()['secrets'] !== undefined);
    const told = accountsOf();
    expect(await judge(told, token)).toMatchObject({
      outcome: 'accepted',
      warnings: [expect.stringMatching(/^Use tokens from the TokenRequest API or manually/)],
    });
    expect(told.told).toEqual(['unaddressed', 'generated']);
  });

  test('ends with the Secret or the account, and where the Secret holds another one', async () => {
    const gone = await newToken();
    await verbs.remove(secrets, gone.name);
    await shown(secrets, gone.name, (item) => item === undefined);
    const orphan = await newToken();
    await verbs.remove(accounts, orphan.account.metadata.name);
    await shown(accounts, orphan.account.metadata.name, (item) => item === undefined);
    const changed = await newToken();
    await verbs.patch(secrets, changed.name, { data: { token: 'AAAA' } });
    await shown(
      secrets,
      changed.name,
      (item) => textAt(recordAt(item?.object(), 'data'), 'token') === 'AAAA',
    );
    for (const { token } of [gone, orphan, changed]) {
      expect((await judge(accountsOf(), token)).outcome).toBe('rejected');
      // --service-account-lookup=false: the signature alone counts.
      const blind = accountsOf({ looksUp: false });
      expect((await judge(blind, token)).outcome).toBe('accepted');
    }
  });

  test('that is marked as invalid is refused, and the use is told', async () => {
    const label = 'svc.io/legacy-token-invalid-since';
    const { name, token } = await newToken({ labels: { [label]: '2026-01-01' } });
    await shown(secrets, name, (item) => item?.labels[label] !== undefined);
    const told = accountsOf();
    expect((await judge(told, token)).outcome).toBe('rejected');
    expect(told.told).toEqual(['unaddressed', 'invalidated']);
    await verbs.patch(secrets, name, { metadata: { labels: { [label]: null } } });
    await shown(secrets, name, (item) => item?.labels[label] === undefined);
    expect((await judge(told, token)).outcome).toBe('accepted');
  });

  test('is noted once a day', async () => {
    const { name } = await newToken();
    let nowMs = Date.parse('2026-05-01T12:00:00Z');
    const clock = { nowMs: () => nowMs };
    const use = new TokenUse({ ...context(replica), clock, secrets: () => secrets });
    const label = 'svc.io/legacy-token-last-used';
    const noted = async (day: string): Promise<number> => {
      const item = (): Item | undefined => secrets.view.peek({ namespace: 'ns', name });
      for (let times = 0; times < 50; times++) {
        const secret = item();
        if (secret !== undefined) void use.note(secret);
      }
      await shown(secrets, name, (secret) => secret?.labels[label] === day);
      return item()?.revision ?? 0;
    };
    const first = await noted('2026-05-01');
    expect(await noted('2026-05-01')).toBe(first);
    nowMs -= 24 * 3_600_000; // a replica whose clock is late
    expect(await noted('2026-05-01')).toBe(first);
    nowMs += 2 * 24 * 3_600_000;
    expect(await noted('2026-05-02')).toBeGreaterThan(first);
  });

  test('whose Secret is gone, or another one, is not noted', async () => {
    const { name } = await newToken();
    const secret = secrets.view.peek({ namespace: 'ns', name });
    await verbs.remove(secrets, name);
    await verbs.create(secrets, { metadata: { name } });
    const lines: string[] = [];
    const told = createLogger('warn', (line) => void lines.push(line));
    const use = new TokenUse({ ...context(replica), log: told, secrets: () => secrets });
    if (secret !== undefined) await use.note(secret);
    expect((await stored(secrets, name)).metadata?.labels).toBeUndefined();
    expect(lines).toEqual([]);
  });
});

test('since when uses are noted is said, and said again when it is lost', async () => {
  const configMaps = replica.store('configmaps');
  const namespace = replica.naming.systemNamespace;
  await verbs.create(replica.store('namespaces'), { metadata: { name: namespace } });
  const controllers = [replica, await registry.replica()].map((one) =>
    runController(
      new TokenTrackingController({ ...context(one), configMaps: one.store('configmaps') }),
    ),
  );
  const name = trackingName(replica.naming);
  expect(name).toBe('svc-apiserver-legacy-service-account-token-tracking');
  const since = async (): Promise<string> => {
    const item = await configMaps.view.get({ namespace, name }, { mode: 'latest' }, end);
    return textAt(recordAt(item?.object(), 'data'), 'since');
  };
  try {
    await until(async () => (await since()) === dayOf(Date.now()));
    await verbs.remove(configMaps, name, { namespace });
    await until(async () => (await since()) === dayOf(Date.now()));
    expect(await codeOf(verbs.remove(configMaps, 'none', { namespace }))).toBe(404);
  } finally {
    for (const each of controllers) await each();
  }
});
