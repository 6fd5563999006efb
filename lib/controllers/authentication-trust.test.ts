// What replicas publish of whom they believe, on a real etcd.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { createTestCa } from '../base/testing/certificates.ts';
import { serverUser } from '../base/user.ts';
import { internalClient } from '../registry/internal-client.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { scope } from '../registry/testing/verb-driver.ts';
import { AuthenticationTrust } from './authentication-trust.ts';
import type { PublishedTrust } from './authentication-trust.ts';
import { runController } from './testing/run-controller.ts';

let registry: RegistryOnEtcd;
const replicas: Replica[] = [];
const stops: (() => Promise<void>)[] = [];
const name = 'extension-apiserver-authentication';

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  for (let count = 0; count < 3; count++) replicas.push(await registry.replica());
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await registry.stop();
});

function start(replica: Replica, own: () => PublishedTrust): AuthenticationTrust {
  const trust = new AuthenticationTrust({
    configMaps: replica.store('configmaps'),
    own,
    naming: replica.naming,
    client: internalClient(serverUser),
    clock: systemClock,
    log: createLogger('error'),
  });
  stops.push(runController(trust));
  return trust;
}

async function published(): Promise<Readonly<Record<string, string>> | undefined> {
  const [replica] = replicas;
  const store = replica?.store('configmaps');
  const key = { namespace: replica?.naming.systemNamespace ?? '', name };
  const item = await store?.view.get(key, { mode: 'latest' }, scope().signal);
  return item?.object()['data'] as Readonly<Record<string, string>> | undefined;
}

type Published = Awaited<ReturnType<typeof published>>;
async function until(isSo: (data: Published) => boolean): Promise<Published> {
  const { signal } = scope();
  for (;;) {
    const data = await published();
    if (isSo(data)) return data;
    await sleep(20, signal);
  }
}

const subjects = (pem = ''): string[] =>
  (pem.match(/-----BEGIN[^-]*-----[^-]*-----END[^-]*-----/g) ?? [])
    .map((block) => new X509Certificate(block).subject)
    .sort();

test('three replicas agree on what they believe, and mend what is published', async () => {
  const cas = await Promise.all(['a', 'b', 'c', 'front'].map((of) => createTestCa(of)));
  const [a = '', b = '', c = '', front = ''] = cas.map(({ cert }) => cert);
  const over = await createTestCa('over', { notAfter: new Date(Date.now() - 6 * 60_000) });
  const frontProxy = {
    ca: front,
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: [],
    groupHeaders: ['X-Remote-Group'],
    extraPrefixes: ['X-Remote-Extra-'],
  };
  let third: PublishedTrust = { clientCa: a, frontProxy: undefined };
  const owns: (() => PublishedTrust)[] = [
    () => ({ clientCa: `${a}${over.cert}`, frontProxy: { ...frontProxy, allowedNames: ['p'] } }),
    () => ({ clientCa: b, frontProxy: { ...frontProxy, allowedNames: ['q', 'p'] } }),
    () => third,
  ];
  const trusts = replicas.map((replica, index) =>
    start(replica, owns[index] ?? (() => ({ clientCa: a, frontProxy: undefined }))),
  );
  const isWhole = (data: Published): boolean =>
    subjects(data?.['client-ca-file']).join() === 'CN=a,CN=b' &&
    ['["p","q"]', '["q","p"]'].includes(data?.['requestheader-allowed-names'] ?? '');
  expect(await until(isWhole)).toMatchObject({
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-uid-headers': '[]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-client-ca-file': new X509Certificate(front).toString(),
  });

  third = { clientCa: c, frontProxy: undefined };
  trusts[2]?.changed();
  const isWholeWithC = (data: Published): boolean =>
    subjects(data?.['client-ca-file']).join() === 'CN=a,CN=b,CN=c';
  await until(isWholeWithC);

  const [replica] = replicas;
  const store = replica?.store('configmaps');
  const path = { namespace: replica?.naming.systemNamespace ?? '', name, subresource: '' };
  if (store === undefined) return;
  const client = internalClient(serverUser);
  const patch = { data: { 'client-ca-file': 'x', 'requestheader-allowed-names': '{', more: 'y' } };
  await client.patch(store, { path, kind: 'merge', patch }, scope().signal);
  await until((data) => isWholeWithC(data) && data?.['more'] === undefined);
  await client.delete(store, { path }, scope().signal);
  await until((data) => isWholeWithC(data) && data?.['requestheader-allowed-names'] !== undefined);
});
