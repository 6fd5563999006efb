// Options of writes, in the query and in the body of a DELETE, over HTTP: as the reference server's
// recordings have them.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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
let api: ApiOnEtcd;
const send = (line: string, sent?: SentRequest): Promise<ApiAnswer> => api.send(line, sent);
const statusOf = (line: string, sent?: SentRequest): Promise<number> => api.statusOf(line, sent);

beforeAll(async () => {
  api = await ApiOnEtcd.start();
});
afterAll(() => api.stop());

describe('dryRun=All', () => {
  test('answers as a run does, and leaves what there is', async () => {
    const { name, path } = await createConfigMap(api);
    const before = (await send(`GET ${path}`)).body;
    const query = '?dryRun=All';
    const created = await send(`POST ${configMaps}${query}`, { body: changed(fresh()) });
    expect([created.status, written(created).metadata.resourceVersion]).toEqual([201, undefined]);
    for (const line of [`PUT ${path}${query}`, `PATCH ${path}${query}`]) {
      const answer = await send(line, { body: changed(name) });
      expect([answer.status, written(answer).data]).toEqual([200, { k: '2' }]);
    }
    expect(await statusOf(`DELETE ${path}${query}`)).toBe(200);
    expect(await statusOf(`DELETE ${path}`, { body: { dryRun: ['All'] } })).toBe(200);
    const collection = await send(`DELETE ${configMaps}${query}`);
    expect(written(collection).items?.map((item) => item.metadata.name)).toContain(name);
    expect((await send(`GET ${path}`)).body.equals(before)).toBe(true);
    const lease = { metadata: { name: fresh() }, spec: { holderIdentity: 'x' } };
    const at = `${leases}/${lease.metadata.name}`;
    expect(await statusOf(`PUT ${at}${query}`, { body: lease })).toBe(201);
    expect(await statusOf(`GET ${at}`)).toBe(404);
  });

  test('fails as a run does', async () => {
    const { name, path } = await createConfigMap(api);
    const body = changed(name);
    expect(failureOf(await send(`POST ${configMaps}?dryRun=All`, { body }))).toEqual([
      409,
      'AlreadyExists',
    ]);
    const stale = { metadata: { name, resourceVersion: '1' } };
    expect(failureOf(await send(`PUT ${path}?dryRun=All`, { body: stale }))).toEqual([
      409,
      'Conflict',
    ]);
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const line = `${method} ${configMaps}/absent?dryRun=All`;
      expect([
        line,
        await statusOf(line, { body: method === 'DELETE' ? {} : changed('absent') }),
      ]).toEqual([line, 404]);
    }
  });
});

describe('options', () => {
  test.each([
    ['dryRun=Some', 'dryRun FieldValueNotSupported'],
    ['dryRun=all', 'dryRun FieldValueNotSupported'],
    ['fieldValidation=Lax', 'fieldValidation FieldValueNotSupported'],
    [`fieldManager=${'m'.repeat(129)}`, 'fieldManager FieldValueTooLong'],
    ['fieldManager=%01', 'fieldManager FieldValueInvalid'],
  ])('%s of a write is a 422', async (query, cause) => {
    const { name, path } = await createConfigMap(api);
    for (const [line, body] of [
      [`POST ${configMaps}`, changed(fresh())],
      [`PUT ${path}`, changed(name)],
      [`PATCH ${path}`, change],
    ] as const) {
      const failure = failureOf(await send(`${line}?${query}`, { body }));
      expect([line, ...failure]).toEqual([line, 422, 'Invalid', cause]);
    }
  });

  test.each([
    ['dryRun=Some', undefined, 'dryRun FieldValueNotSupported'],
    ['', { dryRun: ['Some'] }, 'dryRun FieldValueNotSupported'],
    ['propagationPolicy=Bogus', undefined, 'propagationPolicy FieldValueNotSupported'],
    ['', { propagationPolicy: 'Bogus' }, 'propagationPolicy FieldValueNotSupported'],
    [
      '',
      { orphanDependents: true, propagationPolicy: 'Background' },
      'propagationPolicy FieldValueInvalid',
    ],
  ])('%s and %j of a DELETE are a 422 of DeleteOptions', async (query, body, cause) => {
    const { path } = await createConfigMap(api);
    for (const at of [path, configMaps]) {
      const answer = await send(`DELETE ${at}?${query}`, body === undefined ? {} : { body });
      expect(failureOf(answer)).toEqual([422, 'Invalid', cause]);
      expect(answer.json).toMatchObject({
        details: { group: 'meta.svc.io', kind: 'DeleteOptions' },
      });
    }
    expect(await statusOf(`GET ${path}`)).toBe(200);
  });

  test.each([
    ['gracePeriodSeconds=abc', undefined],
    ['', { gracePeriodSeconds: 'x' }],
    ['', '{'],
    ['', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c' } }],
  ])('%s and %j of a DELETE are a 400', async (query, body) => {
    const { path } = await createConfigMap(api);
    const answer = await send(`DELETE ${path}?${query}`, body === undefined ? {} : { body });
    expect(failureOf(answer)).toEqual([400, 'BadRequest']);
    expect(await statusOf(`GET ${path}`)).toBe(200);
  });

  test.each<[string, SentRequest]>([
    [
      'YAML',
      { body: 'kind: DeleteOptions\ngracePeriodSeconds: 0\n', contentType: 'application/yaml' },
    ],
    ['the meta group', { body: { apiVersion: 'meta.svc.io/v1', kind: 'DeleteOptions' } }],
    ['no kind', { body: { gracePeriodSeconds: 0 } }],
    ['nothing', {}],
  ])('of a DELETE in %s are taken', async (_claim, sent) => {
    const { path } = await createConfigMap(api);
    expect(await statusOf(`DELETE ${path}`, sent)).toBe(200);
    expect(await statusOf(`GET ${path}`)).toBe(404);
  });

  test.each<[string, string, SentRequest, readonly string[] | undefined]>([
    ['Foreground in the query', '?propagationPolicy=Foreground', {}, ['foregroundDeletion']],
    ['Orphan in the body', '', { body: { propagationPolicy: 'Orphan' } }, ['orphan']],
    [
      'the body, not the query',
      '?propagationPolicy=Foreground',
      { body: { propagationPolicy: 'Background' } },
      undefined,
    ],
    ['orphanDependents', '', { body: { orphanDependents: true } }, ['orphan']],
  ])('policy of a DELETE: %s', async (_claim, query, sent, finalizers) => {
    const { path } = await createConfigMap(api);
    const answer = await send(`DELETE ${path}${query}`, sent);
    expect(written(answer).metadata.finalizers).toEqual(finalizers);
    expect(await statusOf(`GET ${path}`)).toBe(finalizers === undefined ? 404 : 200);
  });

  test('a DELETE with orphanDependents=false of what is kept for now is 202', async () => {
    const { path } = await createConfigMap(api);
    const patch = { body: { metadata: { finalizers: ['a.b/c'] } } };
    await send(`PATCH ${path}`, { ...patch, contentType: 'application/merge-patch+json' });
    const body = { orphanDependents: false };
    expect(await statusOf(`DELETE ${path}`, { body })).toBe(202);
    expect(await statusOf(`DELETE ${path}`, { body })).toBe(202);
    expect(await statusOf(`DELETE ${path}?propagationPolicy=Background`)).toBe(200);
    const gone = (await createConfigMap(api)).path;
    expect(await statusOf(`DELETE ${gone}`, { body })).toBe(200);
  });

  test('preconditions of a DELETE are compared', async () => {
    const { path, uid } = await createConfigMap(api);
    const before = written(await send(`GET ${path}`)).metadata.resourceVersion;
    for (const preconditions of [{ uid: 'another' }, { resourceVersion: '1' }]) {
      const failure = failureOf(await send(`DELETE ${path}`, { body: { preconditions } }));
      expect(failure).toEqual([409, 'Conflict']);
    }
    const preconditions = { uid, resourceVersion: before };
    expect(await statusOf(`DELETE ${path}`, { body: { preconditions } })).toBe(200);
  });

  test('unknown fields are refused, warned of or ignored', async () => {
    const { name, path } = await createConfigMap(api);
    const odd = { ...changed(name), nosuch: 1 };
    for (const [line, body, code] of [
      [`POST ${configMaps}`, { ...changed(fresh()), nosuch: 1 }, 400],
      [`PUT ${path}`, odd, 400],
      [`PATCH ${path}`, { nosuch: 1 }, 400],
    ] as const) {
      const strict = await send(`${line}?fieldValidation=Strict`, { body });
      expect([line, strict.status]).toEqual([line, code]);
      expect(strict.body.toString()).toContain('unknown field');
      for (const [level, warning] of [
        ['Ignore', undefined],
        ['Warn', '299 - "unknown field \\"nosuch\\""'],
      ] as const) {
        const query = `?dryRun=All&fieldValidation=${level}`;
        const answer = await send(`${line}${query}`, { body });
        expect([line, level, answer.status < 300]).toEqual([line, level, true]);
        expect(answer.headers['warning']).toBe(warning);
      }
    }
  });
});
