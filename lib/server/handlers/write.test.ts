// POST, PUT, PATCH and DELETE over HTTP: statuses, answers and refusals as the reference server's
// recordings have them.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Authorizer } from '../../authz/authorizer.ts';
import { fresh } from '../../registry/testing/verb-driver.ts';
import { ApiOnEtcd } from '../testing/api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from '../testing/api-on-etcd.ts';
import {
  change,
  changed,
  configMaps,
  createConfigMap,
  failureOf,
  written,
} from '../testing/config-maps.ts';

const leases = '/apis/coordination.svc.io/v1/namespaces/n/leases';
/** Verbs that the tester may not use. */
const denied = new Set<string>();
const authorizer: Authorizer = {
  name: 'test',
  authorize: ({ verb }) => ({ effect: denied.has(verb) ? 'deny' : 'allow', reason: '' }),
};
let api: ApiOnEtcd;
const send = (line: string, sent?: SentRequest): Promise<ApiAnswer> => api.send(line, sent);

beforeAll(async () => {
  api = await ApiOnEtcd.start(() => ({ authorizer }));
});
afterAll(() => api.stop());

const statusOf = (line: string, sent?: SentRequest): Promise<number> => api.statusOf(line, sent);

describe('success', () => {
  test('of POST is 201, of PUT, PATCH and GET 200, with the object as it is now', async () => {
    const name = fresh();
    const created = await send(`POST ${configMaps}`, {
      body: { metadata: { name }, data: { k: '1' } },
    });
    expect(created.status).toBe(201);
    expect(created.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
    });
    expect(created.json).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { k: '1' } });
    const path = `${configMaps}/${name}`;
    for (const line of [`PUT ${path}`, `PATCH ${path}`, `GET ${path}`]) {
      const answer = await send(line, line.startsWith('GET') ? {} : { body: changed(name) });
      expect([line, answer.status, written(answer).data]).toEqual([line, 200, { k: '2' }]);
      expect(written(answer).metadata.uid).toBe(written(created).metadata.uid);
    }
  });

  test('of a PUT that creates is 201', async () => {
    const name = fresh();
    const body = { metadata: { name }, spec: { holderIdentity: 'x' } };
    const created = await send(`PUT ${leases}/${name}`, { body });
    expect([created.status, created.json]).toMatchObject([201, { kind: 'Lease', spec: body.spec }]);
    expect(await statusOf(`PUT ${leases}/${name}`, { body: written(created) })).toBe(200);
    expect(failureOf(await send(`PUT ${configMaps}/${name}`, { body: changed(name) }))).toEqual([
      404,
      'NotFound',
    ]);
  });

  test('of DELETE is a Status that names what is gone', async () => {
    const { name, path, uid } = await createConfigMap(api);
    const { status, json } = await send(`DELETE ${path}`);
    expect([status, json]).toEqual([
      200,
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name, kind: 'configmaps', uid },
      },
    ]);
    expect(failureOf(await send(`DELETE ${path}`))).toEqual([404, 'NotFound']);
  });

  test('of DELETE is the object where finalizers keep it', async () => {
    const { path } = await createConfigMap(api, { finalizers: ['example.com/x'] });
    for (let times = 0; times < 2; times++) {
      const answer = await send(`DELETE ${path}`);
      expect([answer.status, answer.json]).toMatchObject([
        200,
        { kind: 'ConfigMap', metadata: { deletionTimestamp: expect.any(String) } },
      ]);
    }
    const body = { metadata: { finalizers: [] } };
    expect(await statusOf(`PATCH ${path}`, { body })).toBe(200);
    expect(await statusOf(`GET ${path}`)).toBe(404);
  });

  test('of a DELETE of a collection is the list of what it deleted', async () => {
    const metadata = { labels: { group: 'doomed' } };
    const names = [await createConfigMap(api, metadata), await createConfigMap(api, metadata)]
      .map(({ name }) => name)
      .sort();
    const kept = await createConfigMap(api);
    const answer = await send(`DELETE ${configMaps}?labelSelector=group%3Ddoomed`);
    expect([answer.status, answer.json]).toMatchObject([200, { kind: 'ConfigMapList' }]);
    expect(
      written(answer)
        .items?.map((item) => item.metadata.name)
        .sort(),
    ).toEqual(names);
    expect(await statusOf(`GET ${configMaps}/${names[0] ?? ''}`)).toBe(404);
    expect(await statusOf(`GET ${kept.path}`)).toBe(200);
  });

  test.each(['metadata', 'Table'])('is answered as %s where that is asked for', async (form) => {
    const as = form === 'Table' ? 'Table' : 'PartialObjectMetadata';
    const accept = `application/json;as=${as};v=v1;g=meta.svc.io`;
    const name = fresh();
    const created = await send(`POST ${configMaps}`, { body: changed(name), accept });
    expect([created.status, created.json]).toMatchObject([201, { kind: as }]);
    const patched = await send(`PATCH ${configMaps}/${name}`, { body: change, accept });
    expect([patched.status, patched.json]).toMatchObject([200, { kind: as }]);
    const deleted = await send(`DELETE ${configMaps}/${name}`, { accept });
    expect([deleted.status, deleted.json]).toMatchObject([200, { kind: 'Status' }]);
  });
});

test('a write in a version that is not stored keeps what that version cannot say', async () => {
  const v2 = '/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers';
  const v1 = v2.replace('v2', 'v1');
  const name = fresh();
  const metric = (resource: string, averageUtilization: number): object => ({
    type: 'Resource',
    resource: { name: resource, target: { type: 'Utilization', averageUtilization } },
  });
  const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
  const metrics = [metric('memory', 70), metric('cpu', 50)];
  const spec = { scaleTargetRef, maxReplicas: 3, metrics };
  expect(await statusOf(`POST ${v2}`, { body: { metadata: { name }, spec } })).toBe(201);
  const old = await send(`GET ${v1}/${name}`);
  expect(old.json).toMatchObject({
    apiVersion: 'autoscaling/v1',
    spec: { targetCPUUtilizationPercentage: 50 },
  });
  const patch = { spec: { maxReplicas: 4, targetCPUUtilizationPercentage: 60 } };
  const patched = await send(`PATCH ${v1}/${name}`, { body: patch });
  expect([patched.status, patched.json]).toMatchObject([200, patch]);
  const again = await send(`PUT ${v1}/${name}`, { body: patched.json as object });
  expect(written(again).metadata.resourceVersion).toBe(written(patched).metadata.resourceVersion);
  const now = written(await send(`GET ${v2}/${name}`)) as unknown as {
    readonly spec: { readonly metrics: readonly object[] };
  };
  expect(now).toMatchObject({ apiVersion: 'autoscaling/v2', spec: { maxReplicas: 4 } });
  expect(now.spec.metrics).toHaveLength(2);
  expect(now.spec.metrics).toContainEqual(metric('memory', 70));
  expect(now.spec.metrics).toContainEqual(metric('cpu', 60));
  const deleted = await send(`DELETE ${v1}?fieldSelector=metadata.name%3D${name}`);
  expect(deleted.json).toMatchObject({
    kind: 'HorizontalPodAutoscalerList',
    apiVersion: 'autoscaling/v1',
    items: [{ spec: { targetCPUUtilizationPercentage: 60 } }],
  });
});

describe('what is refused has no effect', () => {
  test('an Accept that nothing answers', async () => {
    const { name, path } = await createConfigMap(api);
    const other = fresh();
    const accept = 'text/plain';
    for (const line of [`POST ${configMaps}`, `PUT ${path}`, `PATCH ${path}`, `DELETE ${path}`]) {
      const body = line.startsWith('POST') ? changed(other) : changed(name);
      const sent = line.startsWith('DELETE') ? { accept } : { accept, body };
      expect([line, ...failureOf(await send(line, sent))]).toEqual([line, 406, 'NotAcceptable']);
    }
    expect(failureOf(await send(`DELETE ${configMaps}`, { accept }))).toEqual([
      406,
      'NotAcceptable',
    ]);
    expect(await statusOf(`GET ${configMaps}/${other}`)).toBe(404);
    expect(written(await send(`GET ${path}`)).data).toEqual({ k: '1' });
  });

  test('a second object of one name, and a PUT of a state that is gone', async () => {
    const { name, path } = await createConfigMap(api);
    const again = await send(`POST ${configMaps}`, { body: changed(name) });
    expect(failureOf(again)).toEqual([409, 'AlreadyExists']);
    expect(again.json).toMatchObject({ details: { name, kind: 'configmaps' } });
    const stale = { metadata: { name, resourceVersion: '1' }, data: {} };
    const conflict = await send(`PUT ${path}`, { body: stale });
    expect(failureOf(conflict)).toEqual([409, 'Conflict']);
    expect(conflict.json).toMatchObject({ details: { name, kind: 'configmaps' } });
    const elsewhere = await send(`PUT ${path}`, { body: changed('another') });
    expect(failureOf(elsewhere)).toEqual([400, 'BadRequest']);
    expect(written(await send(`GET ${path}`)).data).toEqual({ k: '1' });
  });

  test('a PUT that would create, of a user who may only update', async () => {
    const body = { metadata: { name: fresh() }, spec: { holderIdentity: 'x' } };
    const line = `PUT ${leases}/${body.metadata.name}`;
    denied.add('create');
    try {
      expect(failureOf(await send(line, { body }))).toEqual([403, 'Forbidden']);
    } finally {
      denied.clear();
    }
    expect(await statusOf(line, { body })).toBe(201);
  });
});
