// POST, PUT, PATCH and DELETE over HTTP: statuses, options and bodies as the reference server's
// recordings have them.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Authorizer } from '../../authz/authorizer.ts';
import { limits } from '../../base/limits.ts';
import { createEncodings } from '../../codec/encodings.ts';
import { ApiOnEtcd } from '../testing/api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from '../testing/api-on-etcd.ts';
import { connectRaw } from '../testing/test-server.ts';

const configMaps = '/api/v1/namespaces/n/configmaps';
const leases = '/apis/coordination.svc.io/v1/namespaces/n/leases';
const protobuf = 'application/vnd.svc.protobuf';
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
  await send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } });
}, 120_000);
afterAll(() => api.stop());

interface Written {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly items?: readonly Written[];
}
const written = ({ json }: ApiAnswer): Written => json as Written;

let count = 0;
const fresh = (): string => `o${String(++count)}`;
async function made(metadata: object = {}): Promise<{ name: string; path: string; uid: string }> {
  const body = { metadata: { name: fresh(), ...metadata }, data: { k: '1' } };
  const { name, uid } = written(await send(`POST ${configMaps}`, { body })).metadata;
  return { name, uid, path: `${configMaps}/${name}` };
}
const merge = { data: { k: '2' } };
const put = (name: string, more: object = merge): object => ({ metadata: { name }, ...more });
const statusOf = async (line: string, sent?: SentRequest): Promise<number> =>
  (await send(line, sent)).status;

/** Code, reason, and of each cause its field and reason. */
function failureOf({
  status,
  json,
}: ApiAnswer): readonly [number, string | undefined, ...string[]] {
  const { code, reason, details } = json as {
    code: number;
    reason?: string;
    details?: { causes?: { field?: string; reason: string }[] };
  };
  expect(code).toBe(status);
  expect(json).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure' });
  return [
    code,
    reason,
    ...(details?.causes ?? []).map((one) => `${one.field ?? ''} ${one.reason}`),
  ];
}

describe('success', () => {
  test('of POST is 201, of PUT, PATCH and GET 200, with the object as it is now', async () => {
    const name = fresh();
    const created = await send(`POST ${configMaps}`, { body: put(name, { data: { k: '1' } }) });
    expect(created.status).toBe(201);
    expect(created.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
    });
    expect(created.json).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { k: '1' } });
    const path = `${configMaps}/${name}`;
    for (const line of [`PUT ${path}`, `PATCH ${path}`, `GET ${path}`]) {
      const answer = await send(line, line.startsWith('GET') ? {} : { body: put(name) });
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
    expect(failureOf(await send(`PUT ${configMaps}/${name}`, { body: put(name) }))).toEqual([
      404,
      'NotFound',
    ]);
  });

  test('of DELETE is a Status that names what is gone', async () => {
    const { name, path, uid } = await made();
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
    const { path } = await made({ finalizers: ['example.com/x'] });
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
    const names = [await made(metadata), await made(metadata)].map(({ name }) => name).sort();
    const kept = await made();
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
    const created = await send(`POST ${configMaps}`, { body: put(name), accept });
    expect([created.status, created.json]).toMatchObject([201, { kind: as }]);
    const patched = await send(`PATCH ${configMaps}/${name}`, { body: merge, accept });
    expect([patched.status, patched.json]).toMatchObject([200, { kind: as }]);
    const deleted = await send(`DELETE ${configMaps}/${name}`, { accept });
    expect([deleted.status, deleted.json]).toMatchObject([200, { kind: 'Status' }]);
  });
});

test('a write in another version than the stored one keeps what that version cannot say', async () => {
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
  const put = await send(`PUT ${v1}/${name}`, { body: patched.json as object });
  expect(written(put).metadata.resourceVersion).toBe(written(patched).metadata.resourceVersion);
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

describe('dryRun=All', () => {
  test('answers as a run does, and leaves what there is', async () => {
    const { name, path } = await made();
    const before = (await send(`GET ${path}`)).body;
    const query = '?dryRun=All';
    const created = await send(`POST ${configMaps}${query}`, { body: put(fresh()) });
    expect([created.status, written(created).metadata.resourceVersion]).toEqual([201, undefined]);
    for (const line of [`PUT ${path}${query}`, `PATCH ${path}${query}`]) {
      const answer = await send(line, { body: put(name) });
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
    const { name, path } = await made();
    const body = put(name);
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
        await statusOf(line, { body: method === 'DELETE' ? {} : put('absent') }),
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
    const { name, path } = await made();
    for (const [line, body] of [
      [`POST ${configMaps}`, put(fresh())],
      [`PUT ${path}`, put(name)],
      [`PATCH ${path}`, merge],
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
    const { path } = await made();
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
    const { path } = await made();
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
    const { path } = await made();
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
    const { path } = await made();
    const answer = await send(`DELETE ${path}${query}`, sent);
    expect(written(answer).metadata.finalizers).toEqual(finalizers);
    expect(await statusOf(`GET ${path}`)).toBe(finalizers === undefined ? 404 : 200);
  });

  test('preconditions of a DELETE are compared', async () => {
    const { path, uid } = await made();
    const before = written(await send(`GET ${path}`)).metadata.resourceVersion;
    for (const preconditions of [{ uid: 'another' }, { resourceVersion: '1' }]) {
      const failure = failureOf(await send(`DELETE ${path}`, { body: { preconditions } }));
      expect(failure).toEqual([409, 'Conflict']);
    }
    const preconditions = { uid, resourceVersion: before };
    expect(await statusOf(`DELETE ${path}`, { body: { preconditions } })).toBe(200);
  });

  test('unknown fields are refused, warned of or ignored', async () => {
    const { name, path } = await made();
    const odd = { ...put(name), nosuch: 1 };
    for (const [line, body, code] of [
      [`POST ${configMaps}`, { ...put(fresh()), nosuch: 1 }, 400],
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

describe('bodies', () => {
  const configMapType = 'core/v1.ConfigMap';

  test.each(['application/yaml', protobuf])('come in %s', async (contentType) => {
    const { scheme, naming } = api.replica;
    const row = createEncodings(naming).find(({ mediaType }) => mediaType === contentType);
    const name = fresh();
    const object = { kind: 'ConfigMap', apiVersion: 'v1', ...put(name) };
    const body = row?.codec.encode(object, scheme.type(configMapType)) ?? '';
    const created = await send(`POST ${configMaps}`, { body, contentType });
    expect([created.status, created.json]).toMatchObject([201, { data: { k: '2' } }]);
    expect(await statusOf(`PUT ${configMaps}/${name}`, { body, contentType })).toBe(200);
  });

  test.each(['application/json; charset=utf-8', ''])('are JSON for the type "%s"', async (type) => {
    const sent = { body: put(fresh()), headers: { 'content-type': type } };
    expect(await statusOf(`POST ${configMaps}`, sent)).toBe(201);
  });

  test.each(['text/plain', 'application/xml', 'application/cbor', 'application/json-patch+json'])(
    'of type %s are a 415 that names what is taken',
    async (contentType) => {
      const { name, path } = await made();
      for (const line of [`POST ${configMaps}`, `PUT ${path}`, `DELETE ${path}`]) {
        const answer = await send(line, { body: put(name), contentType });
        expect([line, ...failureOf(answer)]).toEqual([line, 415, 'UnsupportedMediaType']);
        expect(answer.body.toString()).toContain('application/json');
      }
    },
  );

  test.each(['application/json', 'text/plain', 'application/strategic+json', ''])(
    'of a PATCH of type "%s" are a 415 that names the patches',
    async (type) => {
      const { path } = await made();
      const sent = { body: merge, headers: { 'content-type': type } };
      const answer = await send(`PATCH ${path}`, sent);
      expect(failureOf(answer)).toEqual([415, 'UnsupportedMediaType']);
      expect(answer.body.toString()).toContain('application/merge-patch+json');
    },
  );

  test.each([
    ['', [400, 'BadRequest']],
    ['{', [400, 'BadRequest']],
    ['[]', [400, 'BadRequest']],
    ['"x"', [400, 'BadRequest']],
    ['{"data":{"k":1}}', [400, 'BadRequest']],
    ['null', [422, 'Invalid', 'metadata.name FieldValueRequired']],
    ['{}', [422, 'Invalid', 'metadata.name FieldValueRequired']],
  ])('%j is %j', async (body, failure) => {
    expect(failureOf(await send(`POST ${configMaps}`, { body }))).toEqual(failure);
  });

  test('of a PATCH that no document can take are refused', async () => {
    const { path } = await made();
    for (const [body, contentType, failure] of [
      ['{', 'application/merge-patch+json', [400, undefined]],
      ['{', 'application/json-patch+json', [400, 'BadRequest']],
      [
        [{ op: 'test', path: '/data/k', value: 'x' }],
        'application/json-patch+json',
        [422, 'Invalid'],
      ],
    ] as const) {
      expect(failureOf(await send(`PATCH ${path}`, { body, contentType }))).toEqual(failure);
    }
  });

  test('above the limit are a Status 413, told of or not', async () => {
    const large = 'x'.repeat(limits.requestBodyBytesMax + 1);
    const chunked = { 'transfer-encoding': 'chunked' };
    const { path } = await made();
    for (const line of [`POST ${configMaps}`, `PUT ${path}`, `PATCH ${path}`, `DELETE ${path}`]) {
      for (const headers of [{}, chunked]) {
        const answer = await send(line, { body: large, headers });
        expect([line, ...failureOf(answer)]).toEqual([line, 413, 'RequestEntityTooLarge']);
      }
    }
    expect(await statusOf(`GET ${path}`)).toBe(200);
  });

  test('that a client leaves in the middle of write nothing, and no log', async () => {
    const name = fresh();
    const raw = await connectRaw(api.server);
    const body = JSON.stringify(put(name));
    raw.socket.write(
      `POST ${configMaps} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
        `Expect: 100-continue\r\nContent-Length: ${String(body.length)}\r\n\r\n`,
    );
    await once(raw.socket, 'data'); // the handler asks for the body
    raw.socket.write(body.slice(0, -1));
    raw.socket.destroy();
    await raw.closed;
    expect(await statusOf(`GET ${configMaps}/${name}`)).toBe(404);
    expect(api.server.log).toEqual([]);
  });
});

describe('what is refused has no effect', () => {
  test('an Accept that nothing answers', async () => {
    const { name, path } = await made();
    const other = fresh();
    const accept = 'text/plain';
    for (const line of [`POST ${configMaps}`, `PUT ${path}`, `PATCH ${path}`, `DELETE ${path}`]) {
      const body = line.startsWith('POST') ? put(other) : put(name);
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
    const { name, path } = await made();
    const again = await send(`POST ${configMaps}`, { body: put(name) });
    expect(failureOf(again)).toEqual([409, 'AlreadyExists']);
    expect(again.json).toMatchObject({ details: { name, kind: 'configmaps' } });
    const stale = { metadata: { name, resourceVersion: '1' }, data: {} };
    const conflict = await send(`PUT ${path}`, { body: stale });
    expect(failureOf(conflict)).toEqual([409, 'Conflict']);
    expect(conflict.json).toMatchObject({ details: { name, kind: 'configmaps' } });
    const elsewhere = await send(`PUT ${path}`, { body: put('another') });
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
