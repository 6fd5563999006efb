// Requests of custom resources through two replicas, one of which hears of nothing by itself: what
// it does not know it proves, and what it writes holds only under the definition of that moment.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { ServingDefinitions } from '../crd/testing/definitions-on-etcd.ts';
import { fresh } from '../registry/testing/verb-driver.ts';
import { pagesOf } from '../storage-etcd/range.ts';
import { startApiServer } from './testing/api-server.ts';
import { sendTo } from './testing/api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from './testing/api-on-etcd.ts';
import { startCustomApi } from './testing/custom-api.ts';
import type { CustomApi } from './testing/custom-api.ts';
import type { TestServer } from './testing/test-server.ts';

const definitions = '/apis/apiextensions.svc.io/v1/customresourcedefinitions';
const text = { type: 'string' };
const schemaOf = (...names: readonly string[]): object => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, text])) },
  },
});

let own: CustomApi;
let deaf: ServingDefinitions;
let server: TestServer;
/** Reads of etcd by the replica that hears of nothing. */
let reads = 0;
let plural = '';

beforeAll(async () => {
  own = await startCustomApi();
  deaf = new ServingDefinitions();
  const metrics = { call: (operation: string) => void (reads += Number(operation === 'Range')) };
  const options = { isFrozen: true, metrics, ...deaf.replicaOptions };
  await deaf.begin(await own.api.registry.replica(options));
  server = await startApiServer(deaf.replica);
});
afterAll(async () => {
  deaf.end();
  await server[Symbol.asyncDispose]();
  await own.stop();
});
beforeEach(async () => {
  plural = `${fresh()}things`;
  await own.custom.define({ plural, versions: [{ name: 'v1', schema: schemaOf('a') }] });
});

const here = (line: string, sent?: SentRequest): Promise<ApiAnswer> => own.api.send(line, sent);
const there = (line: string, sent?: SentRequest): Promise<ApiAnswer> => sendTo(server, line, sent);
const path = (): string => `/apis/example.com/v1/namespaces/n/${plural}`;
const kind = (): string => plural.replace(/s$/, '').replace(/^./, (first) => first.toUpperCase());
const thing = (name: string, spec: object): SentRequest => ({
  body: { kind: kind(), apiVersion: 'example.com/v1', metadata: { name }, spec },
});
const specOf = ({ json }: ApiAnswer): unknown => (json as { spec?: unknown }).spec;
/** The second field is new. */
const both = { a: '1', b: '2' };
const name = (): string => `${plural}.example.com`;
const addFields = (...names: readonly string[]): Promise<unknown> =>
  own.custom.redefine(name(), (spec) => {
    const [version] = spec['versions'] as { schema: JsonObject }[];
    Object.assign(version ?? {}, { schema: { openAPIV3Schema: schemaOf(...names) } });
  });

describe('what another replica has begun to serve', () => {
  test.each([
    ['a list', () => `GET ${path()}`, 200],
    ['the version in discovery', () => '/apis/example.com/v1', 200],
    ['the group in discovery', () => '/apis/example.com', 200],
    ['an object that is not there', () => `GET ${path()}/x`, 404],
  ])('%s is answered', async (_what, line, status) => {
    const answer = await there(line().startsWith('GET') ? line() : `GET ${line()}`);
    expect(answer.status).toBe(status);
    if (status === 404) expect(answer.json).toMatchObject({ details: { kind: plural } });
  });

  test('an object is made at once', async () => {
    expect((await there(`POST ${path()}`, thing('x', { a: '1' }))).status).toBe(201);
    expect(specOf(await here(`GET ${path()}/x`))).toEqual({ a: '1' });
  });

  test('one proof serves all who wait for it', async () => {
    const before = reads;
    const unknown = Array.from(
      { length: 200 },
      (_one, at) => `/apis/no.example.com/v${String(at)}/x`,
    );
    const answers = await Promise.all(unknown.map((line) => there(`GET ${line}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    expect(reads - before).toBeLessThan(unknown.length / 4);
  });
});

describe('a write at a replica that knows an older definition', () => {
  beforeEach(async () => {
    await there(`POST ${path()}`, thing('known', {}));
    await addFields('a', 'b');
  });

  test.each([
    ['a create', () => there(`POST ${path()}`, thing('made', both)), 'made'],
    [
      'an update',
      async () => {
        const { json } = await here(`GET ${path()}/known`);
        return there(`PUT ${path()}/known`, { body: { ...(json as object), spec: both } });
      },
      'known',
    ],
    ['a patch', () => there(`PATCH ${path()}/known`, { body: { spec: both } }), 'known'],
    [
      'an apply',
      () =>
        there(`PATCH ${path()}/applied?fieldManager=m`, {
          contentType: 'application/apply-patch+yaml',
          body: {
            kind: kind(),
            apiVersion: 'example.com/v1',
            metadata: { name: 'applied' },
            spec: both,
          },
        }),
      'applied',
    ],
  ])('%s is by the new one', async (_what, write, written) => {
    const answer = await write();
    expect([answer.status < 300, answer.json]).toMatchObject([true, { spec: both }]);
    expect(specOf(await here(`GET ${path()}/${written}`))).toEqual(both);
  });
});

test.each(['application/json', 'application/yaml'])(
  'entries of a list in %s say what they are',
  async (accept) => {
    await here(`POST ${path()}`, thing('x', { a: '1' }));
    const { body } = await here(`GET ${path()}`, { accept });
    // The list, its entry, and what the manager of its fields wrote.
    expect(body.toString().match(/example\.com\/v1/g)).toHaveLength(3);
  },
);

test('a status of the definition alone ends no watch, and writes go on', async () => {
  const store = own.custom.store(plural);
  const condition = { type: 'Other', status: 'True', reason: 'r', message: '' };
  const patched = await here(`PATCH ${definitions}/${name()}/status`, {
    contentType: 'application/json-patch+json',
    body: [{ op: 'add', path: '/status/conditions/-', value: condition }],
  });
  expect(patched.status).toBe(200);
  expect(own.custom.store(plural)).toBe(store);
  expect((await here(`POST ${path()}`, thing('x', {}))).status).toBe(201);
  expect((await there(`POST ${path()}`, thing('y', {}))).status).toBe(201);
});

describe('a definition whose deletion has begun', () => {
  beforeEach(async () => {
    await there(`POST ${path()}`, thing('kept', { a: '1' }));
    expect((await here(`DELETE ${definitions}/${name()}`)).status).toBe(200);
  });

  test.each([
    ['POST', () => there(`POST ${path()}`, thing('new', {}))],
    ['a dry run', () => here(`POST ${path()}?dryRun=All`, thing('new', {}))],
    [
      'an apply that would create',
      () =>
        there(`PATCH ${path()}/new?fieldManager=m`, {
          contentType: 'application/apply-patch+yaml',
          body: {
            kind: kind(),
            apiVersion: 'example.com/v1',
            metadata: { name: 'new' },
          },
        }),
    ],
  ])('takes no new object by %s', async (_what, make) => {
    const { status, json } = await make();
    expect([status, json]).toMatchObject([
      403,
      {
        message: expect.stringContaining(
          'create not allowed while custom resource definition is terminating',
        ),
      },
    ]);
    expect((await here(`GET ${path()}/new`)).status).toBe(404);
  });

  test('lets objects that are there be read, changed and deleted', async () => {
    expect((await there(`GET ${path()}/kept`)).status).toBe(200);
    const patched = await there(`PATCH ${path()}/kept`, { body: { spec: { a: '2' } } });
    expect(specOf(patched)).toEqual({ a: '2' });
    expect((await there(`DELETE ${path()}/kept`)).status).toBe(200);
  });
});

test('what races with the deletion of its definition is stored before it or never', async () => {
  const { storage } = own.custom.replica;
  const writes = Array.from({ length: 60 }, (_one, at) =>
    (at % 2 === 0 ? here : there)(`POST ${path()}`, thing(`r${String(at)}`, {})),
  );
  const deletion = here(`DELETE ${definitions}/${name()}`);
  const answers = await Promise.all(writes);
  const { json } = await deletion;
  const revision = Number(
    (json as { metadata: { resourceVersion: string } }).metadata.resourceVersion,
  );
  const signal = AbortSignal.timeout(60_000);
  const prefix = `/registry/example.com/${plural}/`;
  const revisions: number[] = [];
  for await (const { items } of pagesOf(storage, { prefix }, signal)) {
    for (const { modRevision } of items) revisions.push(modRevision);
  }
  const made = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status === 403);
  expect(made.length + refused.length).toBe(answers.length);
  expect(revisions.length).toBe(made.length);
  for (const modRevision of revisions) expect(modRevision).toBeLessThan(revision);
});
