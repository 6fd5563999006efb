// What is listed works, and what is not listed is 404 before anything of it is read.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { ApiOnEtcd } from './testing/api-on-etcd.ts';
import { connectRaw } from './testing/test-server.ts';

let api: ApiOnEtcd;

beforeAll(async () => {
  api = await ApiOnEtcd.start();
  await api.send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } });
});
afterAll(() => api.stop());

const json = async (path: string): Promise<JsonObject> =>
  (await api.send(`GET ${path}`)).json as JsonObject;

const pod = {
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};
const requests = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
  ['pods/p/nosuch', 'serviceaccounts/s/nosuch', 'configmaps/c/status'].map(
    (path) => [method, `/api/v1/namespaces/n/${path}`] as const,
  ),
);

describe('subresources that nothing serves', () => {
  test.each(requests)('%s %s is 404', async (method, path) => {
    const sent = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: pod } : {};
    expect((await api.send(`${method} ${path}`, sent)).status).toBe(404);
  });

  test('write nothing', async () => {
    for (const name of ['pods', 'services', 'serviceaccounts', 'configmaps']) {
      const { items } = await json(`/api/v1/namespaces/n/${name}`);
      expect([name, items]).toEqual([name, []]);
    }
    expect((await json('/api/v1/nodes'))['items']).toEqual([]);
  });

  test('are 404 before the body is read: an endless one is not waited for', async () => {
    const raw = await connectRaw(api.server);
    raw.socket.write(
      'POST /api/v1/namespaces/n/pods/p/nosuch HTTP/1.1\r\nHost: a\r\n' +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
    );
    const status = await new Promise((resolve) => {
      raw.socket.once('data', () => resolve(raw.received().slice(0, 12)));
    });
    expect(status).toBe('HTTP/1.1 404');
    raw.socket.destroy();
  });
});

interface Listed {
  readonly name: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

async function listed(): Promise<(readonly [root: string, Listed])[]> {
  const { groups } = (await json('/apis')) as unknown as {
    groups: { versions: { groupVersion: string }[] }[];
  };
  const roots = groups.flatMap(({ versions }) =>
    versions.map(({ groupVersion }) => `/apis/${groupVersion}`),
  );
  const lists = ['/api/v1', ...roots].map(async (root) => {
    const { resources } = (await json(root)) as unknown as { resources: Listed[] };
    return resources.map((resource) => [root, resource] as const);
  });
  return (await Promise.all(lists)).flat();
}

const methodOf: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};
/** The answer for a path or a method that is not served. */
const unserved = /could not find the requested resource|does not allow this method/;

test('what discovery lists, is served', async () => {
  const all = await listed();
  expect(all.length).toBeGreaterThan(80);
  expect(all.map(([, { name }]) => name)).toEqual(
    expect.arrayContaining(['pods/status', 'namespaces/finalize', 'deployments/status']),
  );
  for (const [root, { name, namespaced, verbs }] of all) {
    const [resource = '', subresource] = name.split('/');
    const collection = `${root}/${namespaced ? 'namespaces/n/' : ''}${resource}`;
    for (const verb of verbs.filter((one) => one !== 'watch')) {
      const isOfCollection =
        subresource === undefined && ['list', 'create', 'deletecollection'].includes(verb);
      const item = isOfCollection ? '' : '/none';
      const path = `${collection}${item}${subresource === undefined ? '' : `/${subresource}`}`;
      const method = methodOf[verb] ?? verb;
      const sent = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: {} } : {};
      const { body } = await api.send(`${method} ${path}?dryRun=All`, sent);
      expect({ verb, path, isServed: !unserved.test(body.toString()) }).toEqual({
        verb,
        path,
        isServed: true,
      });
    }
  }
});

test('the aggregated document and OpenAPI list the same', async () => {
  const names = (await listed()).map(([root, { name }]) => `${root} ${name}`).sort();
  const { discoveryGroup } = api.replica.naming;
  const accept = `application/json;g=${discoveryGroup};v=v2;as=APIGroupDiscoveryList`;
  const aggregated = await Promise.all(
    ['/api', '/apis'].map(async (path) => {
      const answer = await api.send(`GET ${path}`, { accept });
      return aggregatedNames(answer.json as AggregatedList);
    }),
  );
  expect(aggregated.flat().sort()).toEqual(names);
  const { paths } = (await json('/openapi/v2')) as { paths: JsonObject };
  const described = Object.keys(paths).flatMap((path) => {
    const [, root = '', rest = ''] =
      /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/\{namespace\})?\/(.*)$/.exec(path) ?? [];
    const [, resource = '', subresource] =
      /^([^/{]+)(?:\/\{name\}(?:\/([^/]+))?)?$/.exec(rest) ?? [];
    if (resource === '' || resource === 'watch') return [];
    return [`${root} ${resource}${subresource === undefined ? '' : `/${subresource}`}`];
  });
  expect([...new Set(described)].sort()).toEqual(names);
});

interface AggregatedList {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources: readonly {
        readonly resource: string;
        readonly subresources?: readonly { readonly subresource: string }[];
      }[];
    }[];
  }[];
}

const aggregatedNames = ({ items }: AggregatedList): string[] =>
  items.flatMap(({ metadata: { name }, versions }) =>
    versions.flatMap(({ version, resources }) => {
      const root = name === undefined ? `/api/${version}` : `/apis/${name}/${version}`;
      return resources.flatMap(({ resource, subresources = [] }) => [
        `${root} ${resource}`,
        ...subresources.map(({ subresource }) => `${root} ${resource}/${subresource}`),
      ]);
    }),
  );
