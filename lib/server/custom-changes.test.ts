// Definitions that change while their objects are watched, read and written, over HTTP: nothing
// fails for a change, and nothing is lost by it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../api/type-info.ts';
import { createLogger } from '../base/log.ts';
import { ServingDefinitions } from '../crd/testing/definitions-on-etcd.ts';
import { ServedDefinitions } from '../crd/served-definitions.ts';
import { ownersOf } from '../registry/testing/owners.ts';
import { fresh } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { eventually } from '../storage-etcd/testing/events.ts';
import { startApiServer } from './testing/api-server.ts';
import { sendTo } from './testing/api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from './testing/api-on-etcd.ts';
import { customPath, startCustomApi } from './testing/custom-api.ts';
import type { CustomApi } from './testing/custom-api.ts';
import type { TestServer } from './testing/test-server.ts';

let own: CustomApi;
let other: ServingDefinitions;
let otherServer: TestServer;
let plural = '';

const schemaOf = (fields: object): object => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: fields } },
});
const text = { type: 'string' };

beforeAll(async () => {
  own = await startCustomApi();
  other = new ServingDefinitions();
  await other.begin(await own.api.registry.replica(other.replicaOptions));
  otherServer = await startApiServer(other.replica);
});
afterAll(async () => {
  other.end();
  await otherServer[Symbol.asyncDispose]();
  await own.stop();
});
beforeEach(async () => {
  plural = `${fresh()}things`;
  const schema = schemaOf({ a: text, b: text });
  const versions = [
    { name: 'v1', schema },
    { name: 'v2', schema, storage: false },
  ];
  await own.custom.define({ plural, versions });
});

const name = (): string => `${plural}.example.com`;
const kind = (): string => plural.replace(/s$/, '').replace(/^./, (first) => first.toUpperCase());
const thing = (of: string, spec: object = {}, version = 'v1'): SentRequest => ({
  body: { kind: kind(), apiVersion: `example.com/${version}`, metadata: { name: of }, spec },
});
const there = (line: string, sent?: SentRequest): Promise<ApiAnswer> =>
  sendTo(otherServer, line, sent);
const make = (of: string, spec: object = {}): Promise<Sent> =>
  own.answered(`POST ${customPath(plural)}`, thing(of, spec));

type Version = JsonObject & { served: boolean; schema: object };
const change = (change: (version: Version) => void): Promise<unknown> =>
  own.custom.redefine(name(), (spec) => (spec['versions'] as Version[]).forEach(change));
const here: typeof there = (line, sent) => own.send(line, sent);
const setFields = (fields: object): Promise<unknown> =>
  change((version) => (version.schema = { openAPIV3Schema: schemaOf(fields) }));
const serve = (...served: readonly string[]): Promise<unknown> =>
  change((version) => (version.served = served.includes(version['name'] as string)));

interface WatchEvent {
  readonly type: string;
  readonly object: Sent;
}

/** A watch that the server has begun; `ended` has all events once the server has ended it. */
async function watching(
  version: string,
  query = '',
): Promise<{ readonly ended: Promise<WatchEvent[]> }> {
  const { port, ca } = own.api.server;
  const path = `${customPath(plural, '', version)}?watch=1&timeoutSeconds=3000${query}`;
  const sent = request({ host: '127.0.0.1', port, path, ca, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const read = async (): Promise<WatchEvent[]> => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString().split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as WatchEvent);
  };
  return { ended: read() };
}

const typesOf = (events: readonly WatchEvent[]): string[] => events.map(({ type }) => type);
const versionOf = (event: WatchEvent | undefined): string =>
  event?.object.metadata.resourceVersion ?? '';

describe('watches of all versions', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['a new schema', () => setFields({ c: text })],
    ['a version that is withdrawn', () => serve('v1')],
    [
      'accepted names',
      () =>
        own.answered(
          `PATCH /apis/apiextensions.svc.io/v1/customresourcedefinitions/${name()}/status`,
          {
            body: { status: { acceptedNames: { shortNames: ['sh'] } } },
          },
        ),
    ],
  ])('end without an error at %s, with a bookmark where one was asked for', async (_, act) => {
    await make('x');
    const open = [
      await watching('v1'),
      await watching('v2'),
      await watching('v1', '&allowWatchBookmarks=true'),
      await watching('v2', '&allowWatchBookmarks=true'),
    ];
    await act();
    const ended = await Promise.all(open.map(({ ended }) => ended));
    expect(ended.map(typesOf)).toEqual([
      ['ADDED'],
      ['ADDED'],
      ['ADDED', 'BOOKMARK'],
      ['ADDED', 'BOOKMARK'],
    ]);
  });

  test('go on from where they ended, by the new schema', async () => {
    await make('x', { a: '1' });
    const first = await watching('v1', '&allowWatchBookmarks=true');
    await setFields({ a: text, c: text });
    const from = versionOf((await first.ended).at(-1));
    await own.answered(`PATCH ${customPath(plural, 'x')}`, { body: { spec: { c: '3' } } });
    await make('y');
    const second = await watching('v2', `&resourceVersion=${from}`);
    await serve('v1', 'v2');
    await setFields({});
    const events = await second.ended;
    expect(events.map(({ type, object }) => [type, object.metadata.name, object['spec']])).toEqual([
      ['MODIFIED', 'x', { a: '1', c: '3' }],
      ['ADDED', 'y', {}],
    ]);
  });
});

test('stored objects show the new schema at the next read', async () => {
  await make('x', { a: '1', b: '2' });
  await setFields({ a: text, d: { ...text, default: 'new' } });
  const expected = { a: '1', d: 'new' };
  expect((await own.answered(`GET ${customPath(plural, 'x')}`))['spec']).toEqual(expected);
  const list = await own.answered(`GET ${customPath(plural, '', 'v2')}`);
  expect((list['items'] as Sent[]).map((item) => item['spec'])).toEqual([expected]);
  const old = await own.answered(`GET ${customPath(plural)}?resourceVersion=0`);
  expect((old['items'] as Sent[]).map((item) => item['spec'])).toEqual([expected]);
  // What was pruned for a read is stored until somebody writes.
  await setFields({ a: text, b: text });
  expect((await own.answered(`GET ${customPath(plural, 'x')}`))['spec']).toEqual({
    a: '1',
    b: '2',
  });
});

test('an apply that has changed nothing is judged by the new schema', async () => {
  const map = (type: string): object => ({
    type: 'object',
    additionalProperties: text,
    [own.api.replica.naming.resolve('x-{kubernetes}-map-type')]: type,
  });
  await setFields({ m: map('atomic') });
  const path = `PATCH ${customPath(plural, 'x')}?fieldManager=m`;
  const sent = { ...thing('x', { m: { k: 'v' } }), contentType: 'application/apply-patch+yaml' };
  await own.answered(path, sent);
  const before = await own.answered(path, sent);
  expect(await own.answered(path, sent)).toEqual(before);
  expect(ownersOf(before)).toEqual(['m: .spec.m']);
  await setFields({ m: map('granular') });
  await eventually(async () => {
    expect(ownersOf(await own.answered(path, sent))).toEqual(['m: .spec.m.k']);
  });
});

test('a withdrawn version is 404 for every verb; served again, nothing is lost', async () => {
  await make('x', { a: '1' });
  await own.answered(`POST ${customPath(plural, '', 'v2')}`, thing('y', { b: '2' }, 'v2'));
  await serve('v1');
  const one = customPath(plural, 'x', 'v2');
  const all = customPath(plural, '', 'v2');
  const apply = { ...thing('z', {}, 'v2'), contentType: 'application/apply-patch+yaml' };
  const requests: readonly (readonly [string, SentRequest])[] = [
    [`GET ${one}`, {}],
    [`GET ${all}`, {}],
    [`GET ${all}?watch=1`, {}],
    [`GET ${all}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`, {}],
    [`GET /apis/example.com/v2/${plural}`, {}],
    [`POST ${all}`, thing('z', {}, 'v2')],
    [`PUT ${one}`, thing('x', {}, 'v2')],
    [`PATCH ${one}`, { body: {} }],
    [`PATCH ${customPath(plural, 'z', 'v2')}?fieldManager=m`, apply],
    [`DELETE ${one}`, {}],
    [`DELETE ${all}`, {}],
  ];
  for (const send of [here, there]) {
    for (const [line, sent] of requests)
      expect([line, (await send(line, sent)).status]).toEqual([line, 404]);
  }
  await serve('v1', 'v2');
  const { items } = (await there(`GET ${all}`)).json as { items: Sent[] };
  expect(items.map(({ metadata, spec }) => [metadata.name, spec])).toEqual([
    ['x', { a: '1' }],
    ['y', { b: '2' }],
  ]);
});

test('a definition that changes every 10 ms fails no request of its objects', async () => {
  const failures: string[] = [];
  let isDone = false;
  let taken = 0;
  const client = async (index: number): Promise<void> => {
    const send = index % 2 === 0 ? here : there;
    for (let round = 0; !isDone; round++) {
      const of = `o${String(index)}-${String(round)}`;
      const apply = { ...thing(of, { b: '2' }), contentType: 'application/apply-patch+yaml' };
      const lines: readonly (readonly [string, SentRequest])[] = [
        [`POST ${customPath(plural)}`, thing(of, { a: '1' })],
        [`GET ${customPath(plural, of, 'v2')}`, {}],
        [`PATCH ${customPath(plural, of, 'v2')}`, { body: { spec: { a: String(round) } } }],
        [`PATCH ${customPath(plural, of)}?fieldManager=m`, apply],
        [`GET ${customPath(plural)}?limit=5`, {}],
        [`DELETE ${customPath(plural, of)}`, {}],
      ];
      for (const [line, sent] of lines) {
        const { status, body } = await send(line, sent);
        taken++;
        if (status >= 300) failures.push(`${line}: ${String(status)} ${body.toString()}`);
      }
    }
  };
  const clients = [0, 1, 2, 3].map(client);
  for (let edition = 0; edition < 50; edition++) {
    await setFields({ a: text, b: text, [`c${String(edition)}`]: text });
    await sleep(10);
  }
  isDone = true;
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(taken).toBeGreaterThan(24);
});

test('before the definitions were read unknown groups are 503, and others are served', async () => {
  const replica = await own.api.registry.replica();
  const { scheme, cache, stores: resources } = replica;
  const definitions = replica.store('apiextensions.svc.io/customresourcedefinitions');
  const view = cache.view(definitions.stored.resource);
  const log = createLogger('error');
  const makeStores = (): undefined => undefined;
  const served = new ServedDefinitions({ scheme, view, resources, makeStores, log });
  await using server = await startApiServer(replica);
  const early = await sendTo(server, `GET ${customPath(plural)}`);
  expect([early.status, early.headers['retry-after']]).toEqual([503, '1']);
  expect((await sendTo(server, 'GET /apis/unknown.example.com')).status).toBe(503);
  expect((await sendTo(server, 'GET /api/v1/namespaces')).status).toBe(200);
  expect(served.isWhole).toBe(false);
  const ending = new AbortController();
  await served.run(ending.signal).whole;
  expect(served.isWhole).toBe(true);
  expect((await sendTo(server, 'GET /apis/unknown.example.com')).status).toBe(404);
  ending.abort(new Error('the test is over'));
});
