// A group version of which the resource map has a proxy: what reaches it, what does not, and what
// documents say of it. The proxy of the test answers by itself.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Authenticator } from '../authn/authenticator.ts';
import type { Attributes } from '../authz/authorizer.ts';
import { serviceUnavailable } from '../base/status.ts';
import type { ProxyEntry } from '../registry/proxy-entry.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import { startApiServer } from './testing/api-server.ts';
import { request1 } from './testing/test-server.ts';
import type { TestRequest, TestServer } from './testing/test-server.ts';

interface Handed {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly user: string | undefined;
  readonly body: string;
}

let registry: RegistryOnEtcd;
let server: TestServer;
let handed: Handed[] = [];
let asked: Attributes[] = [];
const refused = new Set<string>();

function proxied(group: string, version: string): ProxyEntry {
  return {
    group,
    version,
    proxy: {
      async serve(request, response) {
        const { method, url, context } = request;
        if (url?.includes('unreachable') === true) throw serviceUnavailable('nobody is there');
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks).toString();
        handed.push({ method, url, user: context.user?.name, body });
        response.statusCode = 203;
        response.end(`${group}/${version}`);
      },
    },
  };
}

const authenticator: Authenticator = {
  name: 'test',
  authenticate: ({ token }) =>
    token === 'wrong'
      ? { outcome: 'rejected', reason: 'wrong' }
      : { outcome: 'accepted', user: { name: 'jane', uid: '', groups: [], extra: {} } },
};

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const replica = await registry.replica();
  replica.stores.set('proxies', [
    proxied('metrics.example.com', 'v1'),
    proxied('metrics.example.com', 'v1beta1'),
    proxied('apps', 'v9'),
    proxied('apps', 'v1'),
  ]);
  server = await startApiServer(replica, {
    authenticator,
    authorizer: {
      name: 'test',
      authorize(attributes) {
        asked.push(attributes);
        const effect = refused.has(attributes.path) ? 'deny' : 'allow';
        return { effect, reason: '' };
      },
    },
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await registry.stop();
});
beforeEach(() => {
  [handed, asked] = [[], []];
  refused.clear();
});

const send = async (path: string, request: TestRequest = {}) => {
  const { status, body } = await request1(server, path, request);
  return { status, text: body.toString() };
};
const json = async (path: string, accept = 'application/json'): Promise<unknown> =>
  JSON.parse((await send(path, { headers: { accept } })).text);
const root = '/apis/metrics.example.com/v1';

describe('what a proxy is handed', () => {
  test.each([
    ['GET', root],
    ['GET', `${root}/`],
    ['GET', `${root}/nodes?watch=true&limit=1`],
    ['POST', `${root}/namespaces/n/pods`],
    ['DELETE', `${root}/namespaces/n/pods`],
    ['PUT', `${root}/namespaces/n/pods/a/any/path/of/its%20own`],
    ['GET', '/apis/apps/v9/deployments'],
  ])('%s %s, as it came, with its user and its body', async (method, url) => {
    const body = ['POST', 'PUT'].includes(method) ? 'any bytes' : '';
    const sent = body === '' ? {} : { body };
    const answer = await send(url, { method, ...sent });
    expect(answer).toEqual({ status: 203, text: url.split('/').slice(2, 4).join('/') });
    expect(handed).toEqual([{ method, url, user: 'jane', body }]);
  });

  test('only what the user may do, of the path and verb that are handed on', async () => {
    const path = `${root}/namespaces/n/pods/a/log`;
    refused.add(path);
    expect((await send(path)).status).toBe(403);
    const { verb, group, resource, subresource, namespace, name } = asked[0] ?? {};
    expect([verb, group, resource, subresource, namespace, name]).toEqual([
      ...['get', 'metrics.example.com', 'pods', 'log', 'n', 'a'],
    ]);
    refused.add(root);
    expect((await send(root)).status).toBe(403);
    expect(handed).toEqual([]);
  });

  test('nothing of a user who is not known', async () => {
    const headers = { authorization: 'Bearer wrong' };
    expect((await send(`${root}/nodes`, { headers })).status).toBe(401);
    expect([handed, asked]).toEqual([[], []]);
  });

  test('nothing of another version or group, nor of stores', async () => {
    expect((await send('/apis/metrics.example.com/v2/nodes')).status).toBe(404);
    expect((await send('/apis/metrics.example.com')).status).toBe(200);
    expect((await send('/apis/apps/v1/deployments')).status).toBe(200);
    expect((await send('/apis/apps/v1')).status).toBe(200);
    expect(handed).toEqual([]);
  });
});

test('a failure before its answer is a Status', async () => {
  const { status, text } = await send(`${root}/unreachable`);
  expect([status, JSON.parse(text)]).toMatchObject([
    503,
    { kind: 'Status', message: 'nobody is there' },
  ]);
});

describe('documents', () => {
  const versions = [
    { groupVersion: 'metrics.example.com/v1', version: 'v1' },
    { groupVersion: 'metrics.example.com/v1beta1', version: 'v1beta1' },
  ];
  const listed = { name: 'metrics.example.com', versions, preferredVersion: versions[0] };

  test('list the group and its versions', async () => {
    const { groups } = (await json('/apis')) as { groups: unknown[] };
    expect(groups.at(-1)).toEqual(listed);
    expect(await json('/apis/metrics.example.com')).toMatchObject(listed);
    expect(await json('/apis/apps')).toMatchObject({
      versions: [{ version: 'v1' }, { version: 'v9' }],
      preferredVersion: { version: 'v1' },
    });
  });

  test('say that its resources are not known here', async () => {
    const accept = 'application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.svc.io';
    const { items } = (await json('/apis', accept)) as { items: unknown[] };
    expect(items.at(-1)).toEqual({
      metadata: { name: 'metrics.example.com' },
      versions: ['v1', 'v1beta1'].map((version) => ({
        version,
        freshness: 'Stale',
      })),
    });
  });

  test('of OpenAPI have nothing of it', async () => {
    const { paths } = (await json('/openapi/v3')) as { paths: object };
    expect(Object.keys(paths).filter((path) => /metrics|v9/.test(path))).toEqual([]);
    expect(Object.keys(paths)).toContain('apis/apps/v1');
  });
});
