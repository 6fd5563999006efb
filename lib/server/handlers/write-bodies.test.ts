// Bodies of writes over HTTP: media types, what is no object, the limit, clients that leave.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { createEncodings } from '../../codec/encodings.ts';
import { fresh } from '../../registry/testing/verb-driver.ts';
import { ApiOnEtcd } from '../testing/api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from '../testing/api-on-etcd.ts';
import { change, changed, configMaps, createConfigMap, failureOf } from '../testing/config-maps.ts';
import { connectRaw } from '../testing/test-server.ts';

const protobuf = 'application/vnd.svc.protobuf';
let api: ApiOnEtcd;
const send = (line: string, sent?: SentRequest): Promise<ApiAnswer> => api.send(line, sent);
const statusOf = (line: string, sent?: SentRequest): Promise<number> => api.statusOf(line, sent);

beforeAll(async () => {
  api = await ApiOnEtcd.start();
});
afterAll(() => api.stop());

describe('bodies', () => {
  const configMapType = 'core/v1.ConfigMap';

  test.each(['application/yaml', protobuf])('come in %s', async (contentType) => {
    const { scheme, naming } = api.replica;
    const row = createEncodings(naming).find(({ mediaType }) => mediaType === contentType);
    const name = fresh();
    const object = { kind: 'ConfigMap', apiVersion: 'v1', ...changed(name) };
    const body = row?.codec.encode(object, scheme.type(configMapType)) ?? '';
    const created = await send(`POST ${configMaps}`, { body, contentType });
    expect([created.status, created.json]).toMatchObject([201, { data: { k: '2' } }]);
    expect(await statusOf(`PUT ${configMaps}/${name}`, { body, contentType })).toBe(200);
  });

  test.each(['application/json; charset=utf-8', ''])('are JSON for the type "%s"', async (type) => {
    const sent = { body: changed(fresh()), headers: { 'content-type': type } };
    expect(await statusOf(`POST ${configMaps}`, sent)).toBe(201);
  });

  test.each(['text/plain', 'application/xml', 'application/cbor', 'application/json-patch+json'])(
    'of type %s are a 415 that names what is taken',
    async (contentType) => {
      const { name, path } = await createConfigMap(api);
      for (const line of [`POST ${configMaps}`, `PUT ${path}`, `DELETE ${path}`]) {
        const answer = await send(line, { body: changed(name), contentType });
        expect([line, ...failureOf(answer)]).toEqual([line, 415, 'UnsupportedMediaType']);
        expect(answer.body.toString()).toContain('application/json');
      }
    },
  );

  test.each(['application/json', 'text/plain', 'application/strategic+json', ''])(
    'of a PATCH of type "%s" are a 415 that names the patches',
    async (type) => {
      const { path } = await createConfigMap(api);
      const sent = { body: change, headers: { 'content-type': type } };
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
    const { path } = await createConfigMap(api);
    for (const [body, contentType, failure] of [
      ['{', 'application/merge-patch+json', [400, 'BadRequest']],
      ['{', 'application/json-patch+json', [400, 'BadRequest']],
      [
        [{ op: 'test', path: '/data/k', value: 'x' }],
        'application/json-patch+json',
        [422, 'Invalid'],
      ],
      [
        { data: { k: 1 } },
        'application/merge-patch+json',
        [422, 'Invalid', 'patch FieldValueInvalid'],
      ],
    ] as const) {
      expect(failureOf(await send(`PATCH ${path}`, { body, contentType }))).toEqual(failure);
    }
  });

  const twice = '{"data":{"k":"1","k":"2"}}';
  const operations =
    '[{"op":"add","path":"/data/k","value":"2","path":"/data/k"},' +
    '{"op":"test","path":"/data","value":{"k":"1","k":"2"},"why":1}]';

  test.each([
    ['merge-patch', twice, ['duplicate field "data.k"']],
    ['strategic-merge-patch', twice, ['duplicate field "data.k"']],
    [
      'json-patch',
      operations,
      [
        'json patch duplicate field "[0].path"',
        'json patch duplicate field "[1].value.k"',
        'json patch unknown field "[1].why"',
      ],
    ],
  ])('of a %s are checked themselves', async (form, body, texts) => {
    const { path } = await createConfigMap(api);
    const sent = { body, contentType: `application/${form}+json` };
    const strict = await send(`PATCH ${path}?fieldValidation=Strict`, sent);
    expect(failureOf(strict)).toEqual([400, 'BadRequest']);
    expect((strict.json as { message: string }).message).toContain(texts.join(', '));
    const { status, headers, json } = await send(`PATCH ${path}`, sent);
    expect([status, json]).toMatchObject([200, { data: { k: '2' } }]);
    const warnings = texts.map((text) => `299 - "${text.replaceAll('"', '\\"')}"`);
    expect(headers['warning']).toBe(warnings.join(', '));
    const ignored = await send(`PATCH ${path}?fieldValidation=Ignore`, sent);
    expect(ignored.headers).not.toHaveProperty('warning');
  });

  test('above the limit are a Status 413, told of or not', async () => {
    const large = 'x'.repeat(limits.requestBodyBytesMax + 1);
    const chunked = { 'transfer-encoding': 'chunked' };
    const { path } = await createConfigMap(api);
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
    const body = JSON.stringify(changed(name));
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
