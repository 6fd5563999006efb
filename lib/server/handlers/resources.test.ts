// Which verb of which store a request is for: paths and methods that are none, and a map of
// resources that changes under requests.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Authorizer } from '../../authz/authorizer.ts';
import { forbiddenRequest } from '../../base/status.ts';
import { builtInOwner } from '../../registry/resource-map.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { ApiOnEtcd } from '../testing/api-on-etcd.ts';
import type { ApiAnswer } from '../testing/api-on-etcd.ts';
import { connectRaw, eventually } from '../testing/test-server.ts';

const namespace = '/api/v1/namespaces/n';
const configMaps = `${namespace}/configmaps`;
/** Runs while a request is being authorized. */
let meanwhile: () => void | Promise<void> = () => undefined;
const authorizer: Authorizer = {
  name: 'test',
  async authorize() {
    await meanwhile();
    return { effect: 'allow', reason: '' };
  },
};
let api: ApiOnEtcd;
let builtIn: readonly ResourceStore[];

beforeAll(async () => {
  api = await ApiOnEtcd.start(() => ({ authorizer }));
  builtIn = api.replica.stores.all;
  await api.send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } });
  await api.send(`POST ${configMaps}`, { body: { metadata: { name: 'a' } } });
});
afterAll(() => api.stop());

const bodyFor = (line: string): { readonly body?: object } =>
  /^(POST|PUT|PATCH) /.test(line) ? { body: { metadata: { name: 'a' } } } : {};
const answerOf = (line: string): Promise<ApiAnswer> => api.send(line, bodyFor(line));
const failure = (code: number, reason: string, message: string): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
});

test.each(['GET /apis/no.such.group/v1/things', 'GET /apis/no.such.group', 'GET /nosuchpath'])(
  '%s is not found in plain text: no router knows it',
  async (line) => {
    const { status, headers, body } = await answerOf(line);
    expect([status, headers['content-type'], body.toString()]).toEqual([
      404,
      'text/plain; charset=utf-8',
      '404 page not found\n',
    ]);
  },
);

test.each([
  'GET /api/v1/nosuchthings',
  `GET ${namespace}/nosuchthings/a`,
  'GET /apis/apps/v9/deployments',
  'GET /api/v9/configmaps',
  `GET ${configMaps}/a/nosuchsub`,
  `GET ${configMaps}/x%2Fy`,
  `POST ${namespace}/nosuchthings`,
  `DELETE ${namespace}/nosuchthings/a`,
  `GET ${namespace}/nodes`,
  `POST ${namespace}/nodes`,
  'GET /apis/apps/v1/namespaces/n/deployments/a/status/more',
])('%s is NotFound', async (line) => {
  const { status, json } = await answerOf(line);
  const message = 'the server could not find the requested resource';
  expect([status, json]).toMatchObject([404, failure(404, 'NotFound', message)]);
});

test.each([
  `PUT ${configMaps}`,
  `PATCH ${configMaps}`,
  `POST ${configMaps}/a`,
  'POST /api/v1/configmaps',
  'DELETE /api/v1/configmaps',
  `OPTIONS ${configMaps}`,
  `OPTIONS ${configMaps}/a`,
  `PROPFIND ${configMaps}`,
  `PUT ${configMaps}/`,
  `POST /api/v1/watch/namespaces/n/configmaps`,
  `DELETE /api/v1/watch/namespaces/n/configmaps/a`,
  'POST /api/v1/namespaces/n/pods/p/status',
  'DELETE /api/v1/namespaces/n/pods/p/status',
])('%s is MethodNotAllowed', async (line) => {
  const { status, json } = await answerOf(line);
  const message = 'the server does not allow this method on the requested resource';
  expect([status, json]).toMatchObject([405, failure(405, 'MethodNotAllowed', message)]);
});

test.each([
  ['/api/v1/watch/namespaces/n/configmaps', 'a'],
  ['/api/v1/watch/namespaces/n/configmaps/a', 'a'],
  ['/api/v1/watch/namespaces/n', 'n'],
])('GET %s is a watch', async (path, name) => {
  const { status, body } = await api.send(`GET ${path}?timeoutSeconds=1`);
  const [first = ''] = body.toString().split('\n');
  expect([status, JSON.parse(first)]).toMatchObject([
    200,
    { type: 'ADDED', object: { metadata: { name } } },
  ]);
});

test('a watch of what can only be listed is refused by its name', async () => {
  const listed = (store: ResourceStore): ResourceStore => ({
    ...store,
    resource: { ...store.resource, verbs: ['get', 'list'] },
  });
  api.replica.stores.set(builtInOwner, builtIn.map(listed));
  try {
    const { status, json } = await answerOf(`GET ${configMaps}?watch=1`);
    const message = 'watch is not supported on resources of kind "configmaps"';
    const details = { kind: 'configmaps' };
    expect([status, json]).toMatchObject([
      405,
      { ...failure(405, 'MethodNotAllowed', message), details },
    ]);
  } finally {
    api.replica.stores.set(builtInOwner, builtIn);
  }
});

describe('a request while the map of resources changes', () => {
  const refused = (): never => {
    throw forbiddenRequest('the other store');
  };
  const other = (store: ResourceStore): ResourceStore => ({
    ...store,
    resource: { ...store.resource, namespaced: !store.resource.namespaced, verbs: [] },
    subresources: new Map(),
    get: refused,
    list: refused,
    create: refused,
    update: refused,
  });
  /** Every resource from another store, of another scope, without verbs. */
  const swap = (): void => api.replica.stores.set(builtInOwner, builtIn.map(other));
  const swapBack = (): void => {
    meanwhile = () => undefined;
    api.replica.stores.set(builtInOwner, builtIn);
  };

  test.each([
    [`GET ${configMaps}/a`, 200],
    [`GET ${configMaps}`, 200],
    [`GET ${configMaps}?watch=1&timeoutSeconds=1`, 200],
    [`PUT ${configMaps}/a`, 200],
    [`PATCH ${configMaps}/a`, 200],
    ['GET /apis/apps/v1/namespaces/n/deployments/a/scale', 404],
    [`DELETE ${configMaps}/absent`, 404],
  ])('%s ends in the store that it began with', async (line, code) => {
    meanwhile = swap;
    try {
      const answer = await answerOf(line);
      expect([line, answer.status]).toEqual([line, code]);
    } finally {
      swapBack();
    }
  });

  test('a write whose body comes after the change does, too; the next one does not', async () => {
    const raw = await connectRaw(api.server);
    const post = (name: string, more = ''): readonly [string, string] => {
      const body = JSON.stringify({ metadata: { name } });
      const head =
        `POST ${configMaps} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
        `${more}Content-Length: ${String(body.length)}\r\n\r\n`;
      return [head, body];
    };
    const [head, body] = post('late', 'Expect: 100-continue\r\n');
    raw.socket.write(head);
    await once(raw.socket, 'data'); // 100 Continue: the handler asks for the body
    swap();
    try {
      raw.socket.write(body);
      await eventually(() => raw.received().includes('HTTP/1.1 201 Created'));
      raw.socket.write(post('next').join(''));
      await eventually(() => raw.received().includes('HTTP/1.1 404 Not Found'));
    } finally {
      swapBack();
    }
    raw.socket.destroy();
    expect((await api.send(`GET ${configMaps}/late`)).status).toBe(200);
    expect((await api.send(`GET ${configMaps}/next`)).status).toBe(404);
  });

  test('a watch goes on while its resource is gone, and a new one is NotFound', async () => {
    const raw = await connectRaw(api.server);
    raw.socket.write(`GET ${configMaps}?watch=1&timeoutSeconds=60 HTTP/1.1\r\nHost: a\r\n\r\n`);
    await once(raw.socket, 'data');
    const create = api.replica.store('configmaps');
    api.replica.stores.set(
      builtInOwner,
      builtIn.filter((store) => store !== create),
    );
    try {
      expect((await api.send(`GET ${configMaps}?watch=1`)).status).toBe(404);
      expect((await api.send(`GET ${configMaps}`)).status).toBe(404);
    } finally {
      swapBack();
    }
    await api.send(`POST ${configMaps}`, { body: { metadata: { name: 'after' } } });
    await eventually(() => raw.received().includes('"name":"after"'));
    raw.socket.destroy();
  });
});
