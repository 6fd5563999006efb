// Apply patches over HTTP: in which media types they come and are answered, what is checked of
// their fields, and CBOR behind its gate.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonValue } from '../../api/type-info.ts';
import { createEncodings } from '../../codec/encodings.ts';
import { fresh } from '../../registry/testing/verb-driver.ts';
import { ApiOnEtcd, sendTo } from '../testing/api-on-etcd.ts';
import type { ApiAnswer } from '../testing/api-on-etcd.ts';
import { startApiServer } from '../testing/api-server.ts';
import type { TestServer } from '../testing/test-server.ts';
import { configMaps, failureOf } from '../testing/config-maps.ts';

let api: ApiOnEtcd;
let withCbor: TestServer;

beforeAll(async () => {
  api = await ApiOnEtcd.start();
  withCbor = await startApiServer(api.replica, { gates: { CBORServingAndStorage: 'true' } });
});
afterAll(async () => {
  await withCbor[Symbol.asyncDispose]();
  await api.stop();
});

const applyType = 'application/apply-patch+yaml';
const cborType = 'application/apply-patch+cbor';
const pathOf = (name: string, more = ''): string => `${configMaps}/${name}?fieldManager=m${more}`;
const configuration = (name: string): Readonly<Record<string, JsonValue>> => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name },
  data: { k: '1' },
});
const yamlOf = (name: string, more = ''): string =>
  `kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: ${name}\ndata:\n  k: "1"\n${more}`;
const apply = (
  name: string,
  body: object | string,
  { more = '', accept = 'application/json', contentType = applyType } = {},
): Promise<ApiAnswer> => api.send(`PATCH ${pathOf(name, more)}`, { body, contentType, accept });
const encodingOf = (mediaType: string): ReturnType<typeof createEncodings>[number] => {
  const rows = createEncodings(api.replica.naming, { cbor: true });
  const row = rows.find((one) => one.mediaType === mediaType);
  if (row === undefined) throw new Error(`${mediaType} is not there`);
  return row;
};

describe('an apply', () => {
  test.each([
    ['JSON', configuration, applyType],
    ['YAML', yamlOf, applyType],
    ['YAML with a charset', yamlOf, `${applyType}; charset=utf-8`],
    ['YAML of a type in capitals', yamlOf, 'Application/Apply-Patch+YAML'],
  ])('comes in %s: a 201, and then a 200', async (_form, bodyOf, contentType) => {
    const name = fresh();
    const made = await apply(name, bodyOf(name), { contentType });
    expect([made.status, made.json]).toMatchObject([201, { data: { k: '1' } }]);
    const again = await apply(name, bodyOf(name), { contentType });
    expect([again.status, again.json]).toEqual([200, made.json]);
  });

  test.each(['application/yaml', 'application/vnd.svc.protobuf'])(
    'is answered in %s where that is asked for',
    async (accept) => {
      const name = fresh();
      const { status, headers, body } = await apply(name, configuration(name), { accept });
      expect([status, headers['content-type']]).toEqual([201, accept]);
      const type = api.replica.scheme.type('core/v1.ConfigMap');
      expect(encodingOf(accept).codec.decode(body, type).object).toMatchObject({
        metadata: { name, managedFields: [{ manager: 'm', operation: 'Apply' }] },
        data: { k: '1' },
      });
    },
  );

  test('is answered with a Table, or with the metadata alone', async () => {
    const name = fresh();
    const as = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.svc.io`;
    const table = await apply(name, configuration(name), { accept: as('Table') });
    expect(table.json).toMatchObject({
      kind: 'Table',
      rows: [{ cells: [name, 1, expect.any(String)] }],
    });
    const metadata = await apply(name, configuration(name), {
      accept: as('PartialObjectMetadata'),
    });
    expect(metadata.json).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name } });
    expect(metadata.json).not.toHaveProperty('data');
  });

  const unknown = 'unknown field "nope"';
  const duplicate = 'duplicate field "data.k"';
  const inJson = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"NAME"}';

  test.each([
    ['YAML with an unknown field', yamlOf('NAME', 'nope: 1\n'), unknown],
    ['YAML with a duplicate field', yamlOf('NAME', '  k: "2"\n'), duplicate],
    ['JSON with an unknown field', `${inJson},"nope":1}`, unknown],
    ['JSON with a duplicate field', `${inJson},"data":{"k":"1","k":"2"}}`, duplicate],
  ])('of %s is refused, warned of, or taken', async (_what, text, problem) => {
    const name = fresh();
    const body = text.replace('NAME', name);
    const checked = (level: string): Promise<ApiAnswer> =>
      apply(name, body, { more: `&fieldValidation=${level}` });
    const strict = await checked('Strict');
    expect(failureOf(strict)).toEqual([400, 'BadRequest']);
    expect((strict.json as { message: string }).message).toContain(problem);
    const { status, headers } = await checked('Warn');
    const warned = `299 - "${problem.replaceAll('"', '\\"')}"`;
    expect([status, headers['warning']]).toEqual([201, warned]);
    expect(await checked('Ignore')).toMatchObject({
      status: 200,
      headers: expect.not.objectContaining({ warning: expect.anything() }),
    });
  });

  test('comes in CBOR where the gate is on', async () => {
    const name = fresh();
    const type = api.replica.scheme.type('core/v1.ConfigMap');
    const body = encodingOf('application/cbor').codec.encode(configuration(name), type);
    const refused = await apply(name, body, { contentType: cborType });
    expect(failureOf(refused)).toEqual([415, 'UnsupportedMediaType']);
    expect(refused.body.toString()).not.toContain(cborType);
    const sent = { body, contentType: cborType, accept: 'application/json' };
    const line = `PATCH ${pathOf(name)}`;
    const made = await sendTo(withCbor, line, sent);
    expect([made.status, made.json]).toMatchObject([201, { data: { k: '1' } }]);
    const again = await sendTo(withCbor, line, { ...sent, accept: 'application/cbor' });
    expect([again.status, again.headers['content-type']]).toEqual([200, 'application/cbor']);
    const broken = await sendTo(withCbor, line, { ...sent, body: Buffer.from('zzz') });
    expect(failureOf(broken)).toEqual([400, 'BadRequest']);
  });
});
