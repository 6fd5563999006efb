// GET and HEAD over HTTP: statuses, headers and bodies as the reference server's recordings have
// them.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { constants } from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { limits } from '../../base/limits.ts';
import { ApiOnEtcd } from '../testing/api-on-etcd.ts';
import type { ApiAnswer } from '../testing/api-on-etcd.ts';
import { connect2, connectRaw, eventually, request2 } from '../testing/test-server.ts';

const configMaps = '/api/v1/namespaces/n/configmaps';
const one = `${configMaps}/one`;
const protobuf = 'application/vnd.svc.protobuf';
const as = (name: string): string => `application/json;as=${name};v=v1;g=meta.svc.io`;
let api: ApiOnEtcd;
let revisions: readonly [first: string, second: string];

beforeAll(async () => {
  api = await ApiOnEtcd.start();
  await api.send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } });
  const metadata = { name: 'one', labels: { only: 'one' } };
  const created = await api.send(`POST ${configMaps}`, { body: { metadata, data: { k: '1' } } });
  const updated = await api.send(`PUT ${one}`, { body: { metadata, data: { k: '2' } } });
  revisions = [revisionOf(created), revisionOf(updated)];
  for (const name of ['two', 'three']) {
    await api.send(`POST ${configMaps}`, { body: { metadata: { name, labels: { many: '' } } } });
  }
});
afterAll(() => api.stop());

interface Metadata {
  readonly name: string;
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}
interface Body {
  readonly kind: string;
  readonly metadata: Metadata;
  readonly items: readonly { readonly metadata: Metadata }[];
}
const bodyOf = (answer: ApiAnswer): Body => answer.json as Body;
const revisionOf = (answer: ApiAnswer): string => bodyOf(answer).metadata.resourceVersion;
const namesIn = (answer: ApiAnswer): string[] =>
  bodyOf(answer).items.map(({ metadata }) => metadata.name);

describe('an object', () => {
  test('is answered with the headers that every answer has', async () => {
    const { status, headers, body, json } = await api.send(`GET ${one}`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
      'content-length': String(body.length),
      'audit-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(json).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { k: '2' } });
  });

  test.each([
    ['0', () => '0'],
    ['an old one', () => revisions[0]],
    ['its own', () => revisions[1]],
  ])('is as new as resourceVersion %s asks for', async (_claim, revision) => {
    const answer = await api.send(`GET ${one}?resourceVersion=${revision()}`);
    expect([answer.status, revisionOf(answer)]).toEqual([200, revisions[1]]);
  });

  test('of a version that no replica has reached is a Timeout, to be tried again', async () => {
    const answer = await api.send(`GET ${one}?resourceVersion=999999999999999`);
    expect([answer.status, answer.headers['retry-after']]).toEqual([504, '1']);
    expect(answer.json).toMatchObject({
      reason: 'Timeout',
      details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
    });
  });

  test.each(['abc', '-1', '1.5'])('of resourceVersion %s is a 400', async (revision) => {
    const { status, json } = await api.send(`GET ${one}?resourceVersion=${revision}`);
    expect([status, json]).toEqual([400, expect.objectContaining({ reason: 'BadRequest' })]);
  });

  test.each([
    ['of the core group', `${configMaps}/absent`, { kind: 'configmaps', name: 'absent' }],
    [
      'of another group',
      '/apis/apps/v1/namespaces/n/deployments/absent',
      { group: 'apps', kind: 'deployments', name: 'absent' },
    ],
    [
      'in a namespace that is not there',
      '/api/v1/namespaces/x/pods/p',
      { kind: 'pods', name: 'p' },
    ],
    ['that is a namespace', '/api/v1/namespaces/x', { kind: 'namespaces', name: 'x' }],
  ])('%s that is not there is NotFound', async (_claim, path, details) => {
    const { status, json } = await api.send(`GET ${path}`);
    expect(status).toBe(404);
    const what = 'group' in details ? `${details.kind}.${details.group}` : details.kind;
    expect(json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `${what} "${details.name}" not found`,
      reason: 'NotFound',
      details,
      code: 404,
    });
  });

  test.each([
    ['a:b', 'a%3Ab'],
    ['a:b', 'a:b'],
    ['é', '%C3%A9'],
    ['a b', 'a%20b'],
  ])('named %s is found at %s', async (name, segment) => {
    const roles = '/apis/rbac.authorization.svc.io/v1/namespaces/n/roles';
    await api.send(`POST ${roles}`, { body: { metadata: { name }, rules: [] } });
    const answer = await api.send(`GET ${roles}/${segment}`);
    expect([answer.status, bodyOf(answer).metadata.name]).toEqual([200, name]);
  });
});

describe('Accept', () => {
  test.each([
    ['application/json, application/yaml', 'application/json'],
    ['application/yaml, application/json', 'application/yaml'],
    ['application/json;q=0.1, application/yaml;q=0.9', 'application/yaml'],
    ['text/plain, application/yaml', 'application/yaml'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    [undefined, 'application/json'],
    [protobuf, protobuf],
    [`${protobuf}, application/json`, protobuf],
    ['application/json;pretty=1', 'application/json'],
    ['text/html,application/json;q=0.9,*/*;q=0.8', 'application/json'],
    [`${as('Nothing')}, application/json`, 'application/json'],
    [`${protobuf};as=PartialObjectMetadata;v=v1;g=meta.svc.io`, protobuf],
    [`${protobuf};as=Table;v=v1;g=meta.svc.io, ${as('Table')}`, 'application/json'],
  ])('%s is answered in %s', async (accept, contentType) => {
    const { status, headers } = await api.send(
      `GET ${one}`,
      accept === undefined ? {} : { accept },
    );
    expect([status, headers['content-type']]).toEqual([200, contentType]);
  });

  test.each([
    ['text/plain', one],
    ['image/png, text/html', one],
    ['application/cbor', one],
    [as('Nothing'), one],
    ['application/json;as=Table;v=v9;g=meta.svc.io', one],
    [as('PartialObjectMetadataList'), one],
    [as('PartialObjectMetadata'), configMaps],
    [`${protobuf};as=Table;v=v1;g=meta.svc.io`, configMaps],
    ['application/yaml', `${configMaps}?watch=1`],
    ['application/json;q=0', one],
  ])('%s of %s is a 406 that names what there is', async (accept, path) => {
    const { status, body } = await api.send(`GET ${path}`, { accept });
    expect(status).toBe(406);
    for (const part of ['NotAcceptable', 'application/json'])
      expect(body.includes(part)).toBe(true);
  });

  test('failures are in the encoding that was asked for, whatever the transform', async () => {
    const absent = `GET ${configMaps}/absent`;
    const yaml = await api.send(absent, { accept: 'application/yaml' });
    expect([yaml.status, yaml.headers['content-type']]).toEqual([404, 'application/yaml']);
    expect(yaml.body.toString()).toContain('reason: NotFound');
    const table = await api.send(absent, { accept: as('Table') });
    expect([table.status, table.json]).toMatchObject([404, { kind: 'Status' }]);
  });

  test.each([
    ['?pretty=true', true],
    ['?pretty=1', true],
    ['?pretty=false', false],
    ['', false],
  ])('the query %s has line breaks: %s', async (query, isPretty) => {
    for (const [path, kind] of [
      [one, 'ConfigMap'],
      [configMaps, 'ConfigMapList'],
      [`${configMaps}/absent`, 'Status'],
    ] as const) {
      const answer = await api.send(`GET ${path}${query}`);
      expect(answer.body.toString().trim().includes('\n')).toBe(isPretty);
      expect(bodyOf(answer).kind).toBe(kind);
    }
  });

  test('a Table of an object, and the 400 of an includeObject that is none', async () => {
    const accept = as('Table');
    const { json } = await api.send(`GET ${one}?includeObject=Object`, { accept });
    expect(json).toMatchObject({
      kind: 'Table',
      metadata: { resourceVersion: revisions[1] },
      columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }],
      rows: [{ cells: ['one', 1, expect.any(String)], object: { data: { k: '2' } } }],
    });
    for (const path of [one, configMaps]) {
      const refused = await api.send(`GET ${path}?includeObject=Bogus`, { accept });
      expect([refused.status, refused.json]).toMatchObject([400, { reason: 'BadRequest' }]);
    }
  });
});

describe('HEAD', () => {
  test.each([one, configMaps, `${configMaps}/absent`, '/api/v1/nosuchthings', '/version'])(
    'of %s has the status and headers of GET, and no body',
    async (path) => {
      const get = await api.send(`GET ${path}`);
      const head = await api.send(`HEAD ${path}`);
      expect([head.status, head.body.length]).toEqual([get.status, 0]);
      for (const name of ['content-type', 'content-length', 'cache-control']) {
        expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
      }
    },
  );
});

describe('a list', () => {
  test('has entries without kind, and the revision that it holds at', async () => {
    const answer = await api.send(`GET ${configMaps}`);
    expect(bodyOf(answer)).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(namesIn(answer)).toEqual(['one', 'three', 'two']);
    expect(bodyOf(answer).items[0]).not.toHaveProperty('kind');
    expect(Number(revisionOf(answer))).toBeGreaterThanOrEqual(Number(revisions[1]));
  });

  test.each([
    ['/api/v1/configmaps', ['one', 'three', 'two']],
    ['/api/v1/namespaces/absent/configmaps', []],
    [`${configMaps}?labelSelector=many`, ['three', 'two']],
    [`${configMaps}?labelSelector=only%3Done`, ['one']],
    [`${configMaps}?fieldSelector=metadata.name%3Dtwo`, ['two']],
  ])('at %s has %j', async (path, names) => {
    expect(namesIn(await api.send(`GET ${path}`))).toEqual(names);
  });

  test('comes in chunks of one state', async () => {
    const first = await api.send(`GET ${configMaps}?limit=2`);
    const { continue: token = '', remainingItemCount } = bodyOf(first).metadata;
    expect([namesIn(first), remainingItemCount]).toEqual([['one', 'three'], 1]);
    const later = `${configMaps}?limit=2&continue=${encodeURIComponent(token)}`;
    const second = await api.send(`GET ${later}`);
    expect(namesIn(second)).toEqual(['two']);
    expect(revisionOf(second)).toBe(revisionOf(first));
    expect(bodyOf(second).metadata.continue).toBeUndefined();
  });

  test.each([
    ['labelSelector=a%3D%3D%3Db', 'BadRequest'],
    ['fieldSelector=data.k%3Dv', 'BadRequest'],
    ['continue=garbage', 'BadRequest'],
    ['resourceVersion=abc', 'BadRequest'],
    ['limit=x', 'BadRequest'],
  ])('of %s is a 400 %s', async (query, reason) => {
    const { status, json } = await api.send(`GET ${configMaps}?${query}`);
    expect([status, json]).toMatchObject([400, { kind: 'Status', reason }]);
  });

  test('in metadata alone and as a Table', async () => {
    const query = `${configMaps}?labelSelector=many`;
    const partial = await api.send(`GET ${query}`, { accept: as('PartialObjectMetadataList') });
    expect(partial.json).toMatchObject({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.svc.io/v1',
      items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'three' } }, {}],
    });
    const table = await api.send(`GET ${query}`, { accept: as('Table') });
    expect(table.json).toMatchObject({
      kind: 'Table',
      rows: [
        { cells: ['three', 0, expect.any(String)] },
        { cells: ['two', 0, expect.any(String)] },
      ],
    });
  });
});

describe('large answers', () => {
  const large = '/api/v1/namespaces/n/secrets';
  const count = 24;

  beforeAll(async () => {
    const data = { k: Buffer.alloc(64 * 1024, 'k').toString('base64') };
    for (let index = 0; index < count; index++) {
      await api.send(`POST ${large}`, { body: { metadata: { name: `s${String(index)}` }, data } });
    }
  });

  test('are compressed for clients that name gzip', async () => {
    const plain = await api.send(`GET ${large}`);
    const zipped = await api.send(`GET ${large}`, { headers: { 'accept-encoding': 'gzip' } });
    expect(plain.body.length).toBeGreaterThan(limits.gzipThresholdBytes);
    expect(plain.headers['content-length']).toBe(String(plain.body.length));
    expect(zipped.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
    });
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
  });

  test.each(['gzip', 'identity'])(
    'in %s are not waited for by an HTTP/2 client that cancels',
    async (encoding) => {
      const session = await connect2(api.server);
      const headers = { ':path': large, 'accept-encoding': encoding };
      for (let times = 0; times < 8; times++) {
        const stream = session.request(headers);
        await once(stream, 'response');
        stream.close(constants.NGHTTP2_CANCEL);
        await once(stream, 'close');
      }
      const answer = await request2(session, large);
      expect((JSON.parse(answer.body.toString()) as Body).items).toHaveLength(count);
      session.close();
      expect(api.server.log).toEqual([]);
    },
  );

  test('are left to a client that goes away in the middle; others are served', async () => {
    const raw = await connectRaw(api.server);
    raw.socket.once('data', () => raw.socket.pause()); // the rest does not fit between the two
    raw.socket.write(`GET ${large} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(8));
    await eventually(() => raw.received().length > 0);
    raw.socket.destroy();
    await raw.closed;
    const answers = await Promise.all(Array.from({ length: 3 }, () => api.send(`GET ${large}`)));
    expect(answers.map((answer) => bodyOf(answer).items.length)).toEqual([count, count, count]);
    expect(api.server.log).toEqual([]);
  });
});
