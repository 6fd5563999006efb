// Media types, patches and sizes of a kind whose type comes from a schema, over HTTP.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { createEncodings } from '../../codec/encodings.ts';
import { fresh } from '../../registry/testing/verb-driver.ts';
import { sendTo } from '../testing/api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from '../testing/api-on-etcd.ts';
import { startApiServer } from '../testing/api-server.ts';
import { ApiOfThings, messageOf, thing, things, typeMeta } from '../testing/open-things.ts';
import type { TestServer } from '../testing/test-server.ts';

const protobuf = 'application/vnd.svc.protobuf';
let api: ApiOfThings;
let withCbor: TestServer;
const send = (line: string, sent?: SentRequest): Promise<ApiAnswer> => api.send(line, sent);
const statusOf = (line: string, sent?: SentRequest): Promise<number> => api.statusOf(line, sent);

beforeAll(async () => {
  api = await ApiOfThings.start();
  const gates = { CBORServingAndStorage: 'true' } as const;
  withCbor = await startApiServer(api.api.replica, { gates });
});
afterAll(async () => {
  await withCbor[Symbol.asyncDispose]();
  await api.stop();
});

const yamlThing = (name: string, a: string): string =>
  `apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: ${name}\nspec:\n  a: ${a}\n`;

describe('patches', () => {
  const refused =
    'the body of the request was in an unknown format - accepted media types include: ' +
    'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml';

  test.each(['', '/status', '/scale'])('strategic ones of %j are a 415', async (subresource) => {
    const { path } = await api.made({ replicas: 1 });
    for (const contentType of [
      'application/strategic-merge-patch+json',
      'application/json',
      'application/yaml',
    ]) {
      const answer = await send(`PATCH ${path}${subresource}`, { body: { spec: {} }, contentType });
      expect(messageOf(answer)).toEqual([415, refused]);
    }
  });

  test('apply patches in CBOR are taken by the gate', async () => {
    const { name, path } = await api.made();
    const body = api.cbor(thing(name, { a: 'applied' }));
    const sent = { body, contentType: 'application/apply-patch+cbor' };
    const line = `PATCH ${path}?fieldManager=me&force=true`;
    expect(await statusOf(line, sent)).toBe(415);
    const answer = await sendTo(withCbor, line, sent);
    expect(answer.json).toMatchObject({ spec: { a: 'applied' } });
  });

  test.each([
    ['application/merge-patch+json', (deep: string) => `{"spec":{"loose":{"d":${deep}}}}`],
    [
      'application/json-patch+json',
      (deep: string) => `[{"op":"add","path":"/spec/loose","value":${deep}}]`,
    ],
    [
      'application/apply-patch+yaml',
      (deep: string) =>
        `{"apiVersion":"example.com/v1","kind":"Thing","spec":{"loose":{"d":${deep}}}}`,
    ],
  ])('%s: too deep is a 400', async (contentType, bodyOf) => {
    const { path } = await api.made({ loose: {} });
    const deep = '['.repeat(5_000) + ']'.repeat(5_000);
    const line = `PATCH ${path}?fieldManager=me`;
    expect(await statusOf(line, { body: bodyOf(deep), contentType })).toBe(400);
  });

  test('an undeclared subresource is a 404 for all verbs', async () => {
    const { name, path } = await api.made();
    const body = thing(name);
    for (const line of ['GET', 'PUT', 'PATCH', 'POST']) {
      expect([line, await statusOf(`${line} ${path}/nosuch`, { body })]).toEqual([line, 404]);
    }
  });
});

describe('media types', () => {
  test('YAML is taken and given, but not for watches', async () => {
    const name = fresh();
    const body = yamlThing(name, 'b');
    const accept = 'application/yaml';
    const created = await send(`POST ${things}`, { body, contentType: accept, accept });
    expect([created.status, created.headers['content-type']]).toEqual([201, accept]);
    expect(created.body.toString()).toContain('\nspec:\n  a: b\n');
    for (const path of [things, `${things}/${name}`, `${things}/${name}/scale`]) {
      expect((await send(`GET ${path}`, { accept })).headers['content-type']).toBe(accept);
    }
    expect(await statusOf(`GET ${things}?watch=true`, { accept })).toBe(406);
    const missing = await send(`GET ${things}/nope`, { accept });
    expect(missing.body.toString()).toContain('code: 404');
  });

  test('CBOR by its gate: bodies, lists, watches, status, scale', async () => {
    const name = fresh();
    const contentType = 'application/cbor';
    const body = api.cbor(thing(name, { a: 'c', replicas: 2 }));
    expect(await statusOf(`POST ${things}`, { body, contentType })).toBe(415);
    expect(await statusOf(`GET ${things}`, { accept: contentType })).toBe(406);
    const created = await sendTo(withCbor, `POST ${things}`, { body, contentType });
    expect(created.json).toMatchObject({ spec: { a: 'c', replicas: 2 } });
    const path = `${things}/${name}`;
    for (const one of [things, path, `${path}/status`, `${path}/scale`]) {
      const { headers } = await sendTo(withCbor, `GET ${one}`, { accept: contentType });
      expect([one, headers['content-type']]).toEqual([one, contentType]);
    }
    const line = `GET ${things}?watch=true&timeoutSeconds=1`;
    const watch = await sendTo(withCbor, line, { accept: contentType });
    expect(watch.headers['content-type']).toBe('application/cbor-seq');
    const { metadata } = created.json as { metadata: { resourceVersion: string } };
    const status = {
      ...typeMeta,
      metadata: { name, resourceVersion: metadata.resourceVersion },
      status: { note: 'n' },
    };
    const sent = { body: api.cbor(status), contentType };
    const put = await sendTo(withCbor, `PUT ${path}/status`, sent);
    expect(put.json).toMatchObject({ spec: { a: 'c' }, status: { note: 'n' } });
  });

  const protobufRow = createEncodings({ protobufMediaType: protobuf } as never).find(
    ({ mediaType }) => mediaType === protobuf,
  );
  const scaleBody = (name: string, replicas: number): object | string => {
    const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name } };
    const type = api.api.replica.scheme.type('autoscaling/v1.Scale');
    const body = protobufRow?.codec.encode({ ...scale, spec: { replicas } }, type);
    return body ?? '';
  };

  test('Protobuf bodies are a 415, also one of a Scale that is sent to the object', async () => {
    const { name, path } = await api.made({ replicas: 1 });
    for (const line of [`POST ${things}`, `PUT ${path}`, `PUT ${path}/status`]) {
      const sent = { body: scaleBody(name, 2), contentType: protobuf };
      expect([line, await statusOf(line, sent)]).toEqual([line, 415]);
    }
  });

  test('a Scale comes in Protobuf and goes as asked for', async () => {
    const { name, path, version } = await api.made({ replicas: 1 });
    const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1' };
    const type = api.api.replica.scheme.type('autoscaling/v1.Scale');
    const object = {
      ...scale,
      metadata: { name, resourceVersion: version },
      spec: { replicas: 3 },
    };
    const body = protobufRow?.codec.encode(object, type) ?? '';
    const answer = await send(`PUT ${path}/scale`, { body, contentType: protobuf });
    expect([answer.status, answer.json]).toMatchObject([200, { spec: { replicas: 3 } }]);
    const read = await send(`GET ${path}/scale`, { accept: protobuf });
    expect(read.body.toString('latin1', 0, 4)).toBe('k8s\0');
  });

  test('Protobuf alone cannot be had, but for metadata alone', async () => {
    const { path } = await api.made();
    const partial = (as: string): string =>
      `${protobuf};as=${as};v=v1;g=${api.api.replica.naming.metaGroup}`;
    expect(await statusOf(`GET ${path}`, { accept: protobuf })).toBe(406);
    expect(await statusOf(`GET ${things}`, { accept: protobuf })).toBe(406);
    expect(await statusOf(`GET ${things}?watch=true`, { accept: protobuf })).toBe(406);
    const fallback = await send(`GET ${path}`, { accept: `${protobuf}, application/json` });
    expect(fallback.headers['content-type']).toBe('application/json');
    const one = await send(`GET ${path}`, { accept: partial('PartialObjectMetadata') });
    expect(one.body.toString('latin1', 0, 4)).toBe('k8s\0');
    const list = await send(`GET ${things}`, { accept: partial('PartialObjectMetadataList') });
    expect([list.status, list.headers['content-type']]).toEqual([200, protobuf]);
  });
});

describe('sizes', () => {
  const large = (length: number): string => 'x'.repeat(length);

  test('bodies above the limit are a 413 in every encoding', async () => {
    const value = large(limits.requestBodyBytesMax);
    const json = JSON.stringify(thing('a', { a: value }));
    const yaml = yamlThing('a', value);
    expect(await statusOf(`POST ${things}`, { body: json })).toBe(413);
    const contentType = 'application/yaml';
    expect(await statusOf(`POST ${things}`, { body: yaml, contentType })).toBe(413);
  });

  test('YAML may be as long as JSON: objects and applied configurations', async () => {
    const value = large(1_200_000);
    const name = fresh();
    const contentType = 'application/yaml';
    const created = await send(`POST ${things}`, { body: yamlThing(name, value), contentType });
    expect([created.status, created.body.length > value.length]).toEqual([201, true]);
    const applied = await send(`PATCH ${things}/${name}?fieldManager=me&force=true`, {
      body: `${yamlThing(name, large(1_100_000))}  unknown: 1\n  unknown: 2\n`,
      contentType: 'application/apply-patch+yaml',
    });
    expect(applied.status).toBe(200);
    expect(applied.headers.warning).toContain('duplicate field \\"spec.unknown\\"');
    expect(await statusOf(`GET ${things}/${name}`, { accept: contentType })).toBe(200);
  });

  test('what etcd cannot hold is a 413 as well', async () => {
    const { path } = await api.made();
    const value = large(2 * 1024 * 1024);
    expect(await statusOf(`POST ${things}`, { body: thing(fresh(), { a: value }) })).toBe(413);
    expect(await statusOf(`PATCH ${path}`, { body: { spec: { a: value } } })).toBe(413);
  });

  test('too deep is a 400', async () => {
    const deep = '{"a":'.repeat(3_000) + '1' + '}'.repeat(3_000);
    const body = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},
      "spec":{"loose":${deep}}}`;
    expect(await statusOf(`POST ${things}`, { body })).toBe(400);
    const contentType = 'application/yaml';
    expect(await statusOf(`POST ${things}`, { body, contentType })).toBe(400);
  });

  test('a number beyond a double is a 400', async () => {
    const body = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},
      "spec":{"loose":{"n":1e400}}}`;
    expect(await statusOf(`POST ${things}`, { body })).toBe(400);
  });
});
