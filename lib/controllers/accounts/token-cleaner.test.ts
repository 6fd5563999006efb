// Tokens in Secrets that nobody uses, on a real etcd: which are refused, and deleted, and when.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '../../base/log.ts';
import { limits } from '../../base/limits.ts';
import { systemClock } from '../../base/clock.ts';
import { serverUser } from '../../base/user.ts';
import { internalClient } from '../../registry/internal-client.ts';
import { RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../../registry/testing/registry-on-etcd.ts';
import { fresh, VerbDriver } from '../../registry/testing/verb-driver.ts';
import { TokenCleanerController } from './token-cleaner.ts';
import { trackingName } from './token-tracking.ts';
import { dayOf } from './token-use.ts';

const dayMs = 86_400_000;
const type = 'svc.io/service-account-token';
const used = 'svc.io/legacy-token-last-used';
const invalid = 'svc.io/legacy-token-invalid-since';
const end = AbortSignal.timeout(120_000);

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let account = '';
/** All objects are made now; the controller's clock is later. */
let nowMs = 0;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  const name = replica.naming.systemNamespace;
  await verbs.create(replica.store('namespaces'), { metadata: { name } });
});
afterAll(() => registry.stop());
beforeEach(async () => {
  nowMs = Date.now() + limits.unusedTokenMs + 2 * dayMs;
  account = fresh();
  await verbs.create(replica.store('serviceaccounts'), { metadata: { name: account } });
});

async function trackedSince(since: string): Promise<void> {
  const namespace = replica.naming.systemNamespace;
  const configMaps = replica.store('configmaps');
  const name = trackingName(replica.naming);
  await verbs.remove(configMaps, name, { namespace }).catch(() => undefined);
  await verbs.create(configMaps, { metadata: { name }, data: { since } }, '', namespace);
}

async function makeSecret(labels: object = {}, isListed = true): Promise<string> {
  const name = fresh();
  const annotations = { 'svc.io/service-account.name': account };
  await verbs.create(replica.store('secrets'), { type, metadata: { name, labels, annotations } });
  const secrets = isListed ? [{ name }] : [];
  await verbs.patch(replica.store('serviceaccounts'), account, { secrets });
  return name;
}

const look = (): Promise<void> => {
  const clock = { ...systemClock, nowMs: () => nowMs };
  const stores = {
    secrets: replica.store('secrets'),
    accounts: replica.store('serviceaccounts'),
    pods: replica.store('pods'),
    configMaps: replica.store('configmaps'),
  };
  const client = internalClient(serverUser);
  const log = createLogger('error');
  const { naming } = replica;
  return new TokenCleanerController({ ...stores, client, naming, clock, log }).look(end);
};

/** The mark of the Secret, `''` without one; undefined: it is gone. */
async function markOf(name: string): Promise<string | undefined> {
  const { view } = replica.store('secrets');
  const item = await view.get({ namespace: 'ns', name }, { mode: 'latest' }, end);
  return item && (item.labels[invalid] ?? '');
}

test('an unused token is refused after a year, and deleted after another one', async () => {
  await trackedSince(dayOf(Date.now()));
  const name = await makeSecret();
  nowMs -= 3 * dayMs;
  await look();
  expect(await markOf(name)).toBe('');
  nowMs += 3 * dayMs;
  await look();
  expect(await markOf(name)).toBe(dayOf(nowMs));
  nowMs += limits.unusedTokenMs - dayMs;
  await look();
  expect(await markOf(name)).not.toBeUndefined();
  nowMs += 2 * dayMs;
  await look();
  expect(await markOf(name)).toBeUndefined();
});

test.each<[string, () => Promise<string>]>([
  ['was used within the year', () => makeSecret({ [used]: dayOf(nowMs - 3 * dayMs) })],
  ['is listed by no account', () => makeSecret({}, false)],
  [
    'a pod has in a volume',
    async () => {
      const secretName = await makeSecret();
      const volumes = [{ name: 'v', secret: { secretName } }];
      const spec = { volumes, containers: [{ name: 'c', image: 'i' }] };
      await verbs.create(replica.store('pods'), { metadata: { name: fresh() }, spec });
      return secretName;
    },
  ],
])('a token that %s is left alone', async (_what, make) => {
  await trackedSince(dayOf(Date.now()));
  const name = await make();
  await look();
  expect(await markOf(name)).toBe('');
});

test('a token that was used again after it was marked is not deleted', async () => {
  await trackedSince(dayOf(Date.now()));
  const marked = dayOf(nowMs - limits.unusedTokenMs - dayMs);
  const name = await makeSecret({ [invalid]: marked, [used]: dayOf(nowMs) });
  await look();
  expect(await markOf(name)).toBe(marked);
});

test('nothing is taken away before uses have been noted for a year', async () => {
  await trackedSince(dayOf(nowMs - dayMs));
  const name = await makeSecret();
  await look();
  expect(await markOf(name)).toBe('');
});
