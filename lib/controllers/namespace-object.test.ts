// The objects that every namespace has, on a real etcd: the default service account and the root
// certificates.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { fresh, scope, sent, VerbDriver } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { controllerUser } from './controller-user.ts';
import type { Controller } from './controller.ts';
import { NamespaceObjectController } from './namespace-object.ts';
import { rootCaConfigMap } from './root-ca.ts';
import { SystemNamespaceController } from './system-namespaces.ts';
import { during } from './testing/run-controller.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let namespaces: ResourceStore;
let configMaps: ResourceStore;
const data = { 'ca.crt': 'the certificates' };
const name = 'svc-root-ca.crt';

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  namespaces = replica.store('namespaces');
  configMaps = replica.store('configmaps');
});
afterAll(async () => {
  await registry.stop();
});

const context = () => ({
  namespaces,
  naming: replica.naming,
  client: internalClient(controllerUser(replica.naming, 'publisher')),
  clock: systemClock,
  log: createLogger('error'),
});
const publisher = (): Controller => {
  const object = rootCaConfigMap(replica.naming, data['ca.crt']);
  const objects = configMaps;
  return new NamespaceObjectController({ ...context(), name: 'test', objects, ...object });
};

const makeNamespace = async (metadata: object = {}): Promise<string> => {
  const namespace = fresh();
  await verbs.create(namespaces, { metadata: { name: namespace, ...metadata } });
  return namespace;
};

async function published(namespace: string): Promise<Sent | undefined> {
  const { items } = await verbs.list(configMaps, '', namespace);
  const found = items.find((item) => item.name === name);
  return found && sent(found);
}

async function until(isTrue: (object: Sent | undefined) => boolean, namespace: string) {
  const { signal } = scope();
  while (!isTrue(await published(namespace))) await sleep(10, signal);
}

const patch = (namespace: string, change: object): Promise<unknown> =>
  configMaps.patch({
    ...scope(),
    path: { namespace, name, subresource: '' },
    kind: 'merge',
    patch: Buffer.from(JSON.stringify(change)),
    options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
  });

describe('an object of every namespace', () => {
  test('is made in those there are and in new ones, as its controller', async () => {
    const before = await makeNamespace();
    await during(publisher(), async () => {
      await until((object) => object !== undefined, before);
      const after = await makeNamespace();
      await until((object) => object !== undefined, after);
      expect(await published(after)).toMatchObject({
        data,
        metadata: {
          annotations: { 'svc.io/description': expect.stringContaining('svc.default.svc') },
          managedFields: [{ manager: expect.stringContaining('publisher') }],
        },
      });
    });
  });

  test('is made again when it was deleted', async () => {
    const namespace = await makeNamespace();
    await during(publisher(), async () => {
      for (let count = 0; count < 3; count++) {
        await until((object) => object !== undefined, namespace);
        await verbs.remove(configMaps, name, { namespace });
      }
      await until((object) => object !== undefined, namespace);
    });
  });

  test.each<[string, object]>([
    ['other content', { data: { 'ca.crt': 'wrong' } }],
    ['more content', { data: { more: 'x' } }],
    ['no content', { data: null }],
    ['no description', { metadata: { annotations: null } }],
  ])('is mended when somebody gave it %s; what else it has stays', async (_what, change) => {
    const namespace = await makeNamespace();
    await during(publisher(), async () => {
      await until((object) => object !== undefined, namespace);
      await patch(namespace, { metadata: { labels: { mine: 'x' } } });
      await patch(namespace, change);
      const isMended = (object: Sent | undefined): boolean =>
        JSON.stringify(object?.['data']) === JSON.stringify(data) &&
        JSON.stringify(object?.metadata['annotations'] ?? {}).includes('description');
      await until(isMended, namespace);
      expect((await published(namespace))?.metadata['labels']).toEqual({ mine: 'x' });
    });
  });

  test('is not written while it is as it should be, whatever else is in it', async () => {
    const namespace = await makeNamespace();
    await during(publisher(), async () => {
      await until((object) => object !== undefined, namespace);
      const metadata = { labels: { mine: 'x' }, annotations: { 'svc.io/description': 'own' } };
      await patch(namespace, { metadata });
      const { metadata: before } = (await published(namespace)) ?? {};
      const other = await makeNamespace();
      await until((object) => object !== undefined, other);
      expect((await published(namespace))?.metadata).toEqual(before);
    });
  });

  test('is left alone in a namespace that is being deleted', async () => {
    const namespace = await makeNamespace();
    await during(publisher(), async () => {
      await until((object) => object !== undefined, namespace);
      await verbs.remove(namespaces, namespace);
      await verbs.remove(configMaps, name, { namespace });
      const other = await makeNamespace();
      await until((object) => object !== undefined, other);
      expect(await published(namespace)).toBeUndefined();
    });
  });

  test('is made once by two controllers beside each other', async () => {
    const names = await Promise.all(Array.from({ length: 20 }, () => makeNamespace()));
    await during(publisher(), () =>
      during(publisher(), async () => {
        for (const one of names) await until((object) => object !== undefined, one);
      }),
    );
  });
});

test('a system namespace that is deleted comes back when it is gone', async () => {
  const find = async (): Promise<Sent | undefined> => {
    const { items } = await verbs.list(namespaces);
    const found = items.find((item) => item.name === 'svc-node-lease');
    return found && sent(found);
  };
  await during(new SystemNamespaceController(context()), async () => {
    const { signal } = scope();
    let first: Sent | undefined;
    while ((first = await find()) === undefined) await sleep(10, signal);
    await verbs.remove(namespaces, 'svc-node-lease');
    const { view } = namespaces;
    const key = { namespace: '', name: 'svc-node-lease' };
    const item = await view.get(key, { mode: 'latest' }, signal);
    const revision = item?.revision ?? 0;
    await replica.storage.delete(
      '/registry/namespaces/svc-node-lease',
      { expected: revision },
      signal,
    );
    const isBack = (now: Sent | undefined): boolean =>
      now !== undefined && now.metadata.uid !== first.metadata.uid;
    while (!isBack(await find())) await sleep(10, signal);
  });
});
