// What a client sees of objects whose conversion waits, in every form, and of one that fails.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import { internalError } from '../../base/status.ts';
import { awaitedStore, scaler } from '../../registry/testing/awaited-store.ts';
import type { AwaitedStore } from '../../registry/testing/awaited-store.ts';
import { RegistryOnEtcd } from '../../registry/testing/registry-on-etcd.ts';
import { VerbDriver } from '../../registry/testing/verb-driver.ts';
import { startApiServer } from '../testing/api-server.ts';
import { request1 } from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';

const { metaGroup, protobufMediaType } = namingProfile('svc');
const path = '/apis/autoscaling/v1/namespaces/ns/horizontalpodautoscalers';
let registry: RegistryOnEtcd;
let store: AwaitedStore;
let server: TestServer;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const replica = await registry.replica();
  store = awaitedStore(replica);
  const { resource } = store.served;
  const isReplaced = (one: typeof resource): boolean =>
    one.resource === resource.resource && one.version === resource.version;
  const others = replica.stores.all.filter((one) => !isReplaced(one.resource));
  server = await startApiServer(replica, { stores: [...others, store.served] });
  await new VerbDriver(replica).create(store.served, scaler('a', 80));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await registry.stop();
});

const get = async (at: string, accept = 'application/json') => {
  const { status, body } = await request1(server, at, { headers: { accept } });
  return { status, text: body.toString('latin1') };
};
const parsed = (text: string): unknown => JSON.parse(text);

test.each([
  ['application/json', { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v1' }],
  [
    `application/json;as=PartialObjectMetadata;v=v1;g=${metaGroup}`,
    { kind: 'PartialObjectMetadata', metadata: { name: 'a' } },
  ],
  [
    `application/json;as=Table;v=v1;g=${metaGroup}`,
    { kind: 'Table', rows: [{ object: { metadata: { name: 'a' } } }] },
  ],
])('an object as %s', async (accept, shown) => {
  const { status, text } = await get(`${path}/a`, accept);
  expect([status, parsed(text)]).toMatchObject([200, shown]);
});

test.each([
  ['application/json', { apiVersion: 'autoscaling/v1', items: [{ metadata: { name: 'a' } }] }],
  [
    `application/json;as=PartialObjectMetadataList;v=v1;g=${metaGroup}`,
    { kind: 'PartialObjectMetadataList', items: [{ metadata: { name: 'a' } }] },
  ],
  [
    `application/json;as=Table;v=v1;g=${metaGroup}`,
    { kind: 'Table', rows: [{ object: { metadata: { name: 'a' } } }] },
  ],
])('a list as %s', async (accept, shown) => {
  const { status, text } = await get(path, accept);
  expect([status, parsed(text)]).toMatchObject([200, shown]);
});

test('a list in Protobuf', async () => {
  const { status, text } = await get(path, protobufMediaType);
  expect([status, text.startsWith('k8s\0')]).toEqual([200, true]);
  expect(text).toContain('autoscaling/v1');
});

test('a failure is a 500 with its text, and an ERROR event of a watch', async () => {
  const error = internalError('conversion webhook for autoscaling/v2 failed: no');
  const status = { kind: 'Status', code: 500, message: error.message };
  const { metadata } = parsed((await get(path)).text) as {
    metadata: { resourceVersion: string };
  };
  store.before = () => Promise.reject(error);
  const body = JSON.stringify(scaler('b'));
  const headers = { 'content-type': 'application/json' };
  const refused = await request1(server, path, { method: 'POST', headers, body });
  expect([refused.status, parsed(refused.body.toString())]).toMatchObject([500, status]);
  const stored = path.replace('/v1/', '/v2/');
  const watch = get(`${path}?watch=1&resourceVersion=${metadata.resourceVersion}`);
  const made = await request1(server, stored, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      metadata: { name: 'b' },
      spec: {
        maxReplicas: 1,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      },
    }),
  });
  expect(made.status).toBe(201);
  expect(parsed((await watch).text)).toMatchObject({ type: 'ERROR', object: status });
  const unread = await get(`${path}/b`);
  expect([unread.status, parsed(unread.text)]).toMatchObject([500, status]);
  expect((await get(`${stored}/b`)).status).toBe(200);
});
