// Custom resources that a webhook converts, on two whole servers of the kubernetes profile: both
// convert, what needs no conversion goes on while the webhook fails, and kubectl works in all
// versions.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../lib/api/type-info.ts';
import { ConversionServer } from '../lib/crd/conversion/testing/conversion-server.ts';
import {
  conversionBy,
  convertedCrates,
  crateVersion,
  versionNames,
} from '../lib/server/testing/converted-api.ts';
import type { Reply } from './harness.ts';
import { hasKubectl, KubectlCluster } from './run-kubectl.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
let kube: KubectlCluster;
let hook: ConversionServer;
beforeAll(async () => {
  hook = await ConversionServer.start();
  hook.answer = convertedCrates;
  kube = await KubectlCluster.start({ replicaCount: 2 });
});
afterAll(async () => {
  await kube.stop();
  await hook[Symbol.asyncDispose]();
});

const send = (replica: number, line: string, body?: unknown): Promise<Reply> => {
  const [method = '', path = ''] = line.split(' ');
  const headers = { 'content-type': 'application/merge-patch+json' };
  return kube.cluster.replica(replica).request(method, path, {
    ...(body === undefined ? {} : { body }),
    ...(method === 'PATCH' ? { headers } : {}),
  });
};
async function done<T = JsonObject>(replica: number, line: string, body?: unknown): Promise<T> {
  const reply = await send(replica, line, body);
  if (reply.status >= 300) throw new Error(`${line}: ${String(reply.status)} ${reply.text}`);
  return reply.json<T>();
}
async function until(claim: string, isSo: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 30_000;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(`never ${claim}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const kindOf = (plural: string): string =>
  plural.replace(/s$/, '').replace(/^./, (first) => first.toUpperCase());
const definitionOf = (plural: string, conversion: JsonObject): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, singular: plural.replace(/s$/, ''), kind: kindOf(plural) },
    versions: versionNames.map((name) => ({ ...crateVersion(name), storage: name === 'v1' })),
    conversion,
  },
});
const pathOf = (plural: string, version: string, name = '', namespace = 'default'): string =>
  `/apis/example.com/${version}/namespaces/${namespace}/${plural}${name === '' ? '' : `/${name}`}`;
const crate = (plural: string, name: string, metadata: object = {}): object => ({
  ...{ kind: kindOf(plural), apiVersion: 'example.com/v1', metadata: { name, ...metadata } },
  spec: { color: 'red', size: 3 },
});
const inV2 = { paint: 'red', count: 3 };
const specOf = async (replica: number, path: string): Promise<unknown> =>
  (await done(replica, `GET ${path}`))['spec'];

async function define(plural: string, conversion: JsonObject = conversionBy(hook)): Promise<void> {
  await done(0, `POST ${definitions}`, definitionOf(plural, conversion));
  await until('established', async () => {
    const { status } = await done<{ status: { conditions: JsonObject[] | null } }>(
      0,
      `GET ${definitions}/${plural}.example.com`,
    );
    const conditions = status.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
  });
}
const storeIn = (plural: string, storage: string): Promise<unknown> =>
  done(1, `PATCH ${definitions}/${plural}.example.com`, {
    spec: {
      versions: versionNames.map((name) => ({ ...crateVersion(name), storage: name === storage })),
    },
  });

test('every replica converts, also for what another one stored, and reports it', async () => {
  await define('crates');
  await done(1, `POST ${pathOf('crates', 'v1')}`, crate('crates', 'a'));
  for (const replica of [0, 1]) {
    expect(await specOf(replica, pathOf('crates', 'v2', 'a'))).toEqual(inV2);
  }
  await storeIn('crates', 'v2');
  expect(await specOf(0, pathOf('crates', 'v1', 'a'))).toEqual({ color: 'red', size: 3 });
  const { text } = await send(0, 'GET /metrics');
  expect(text).toContain(
    'apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="crates.example.com",' +
      'from_version="v1",succeeded="true",to_version="v2"} 1',
  );
  expect(text).toMatch(
    /^apiserver_conversion_webhook_request_total\{result="success",failure_type=""\} 1$/m,
  );
  expect(text).toMatch(
    /^apiserver_conversion_webhook_duration_seconds_count\{result="success",failure_type=""\} 1$/m,
  );
});

test('a webhook may be a service of the cluster', async () => {
  await done(0, 'POST /api/v1/namespaces', { metadata: { name: 'tests' } });
  const spec = { type: 'ExternalName', externalName: 'localhost' };
  await done(0, 'POST /api/v1/namespaces/tests/services', { metadata: { name: 'hook' }, spec });
  const service = { namespace: 'tests', name: 'hook', port: hook.port, path: '/convert' };
  await define('boxes', {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { service, caBundle: hook.caBundle },
      conversionReviewVersions: ['v1beta1'],
    },
  });
  await done(1, `POST ${pathOf('boxes', 'v1')}`, crate('boxes', 'a'));
  hook.requests.length = 0;
  for (const replica of [0, 1]) {
    expect(await specOf(replica, pathOf('boxes', 'v2', 'a'))).toEqual(inV2);
  }
  expect(new Set(hook.requests.map(({ url, host }) => `${host} ${url}`))).toEqual(
    new Set([`hook.tests.svc:${String(hook.port)} /convert?timeout=30s`]),
  );
});

test('a webhook whose service is not there is said to be so', async () => {
  const service = { namespace: 'tests', name: 'none' };
  await define('bins', {
    strategy: 'Webhook',
    webhook: { clientConfig: { service }, conversionReviewVersions: ['v1'] },
  });
  await done(1, `POST ${pathOf('bins', 'v1')}`, crate('bins', 'a'));
  const { status, text } = await send(0, `GET ${pathOf('bins', 'v2', 'a')}`);
  expect([status, text]).toEqual([
    500,
    expect.stringMatching(
      /Kind=Bin failed: Post .*none\.tests\.svc:443.*service .*none.* not found/,
    ),
  ]);
});

describe('while the webhook fails', () => {
  const plural = 'tubs';
  const gone = async (path: string): Promise<boolean> =>
    (await send(1, `GET ${path}`)).status === 404;

  beforeAll(async () => {
    await define(plural);
    const owner = await done<{ metadata: { uid: string } }>(
      0,
      'POST /api/v1/namespaces/default/configmaps',
      { metadata: { name: 'owner' } },
    );
    await done(0, 'POST /api/v1/namespaces', { metadata: { name: 'doomed' } });
    const { uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    const line = `POST ${pathOf(plural, 'v1')}`;
    await done(0, line, crate(plural, 'owned', { ownerReferences }));
    await done(0, line, crate(plural, 'kept'));
    await done(0, `POST ${pathOf(plural, 'v1', '', 'doomed')}`, crate(plural, 'a'));
    // From here on what the server has to delete lies in another version than it stores.
    await storeIn(plural, 'v3');
    hook.answer = (_review, { response }) => void response.writeHead(500).end();
  });
  afterAll(() => void (hook.answer = convertedCrates));

  test('requests that need it are 500 with its text, others go on', async () => {
    const kind = kindOf(plural);
    const { status, text } = await send(1, `GET ${pathOf(plural, 'v2', 'kept')}`);
    expect([status, text]).toEqual([
      500,
      expect.stringContaining(
        `conversion webhook for example.com/v1, Kind=${kind} failed: an error on the server`,
      ),
    ]);
    expect((await send(1, `GET ${pathOf(plural, 'v1', 'kept')}`)).status).toBe(200);
  });

  test('garbage is collected', async () => {
    await done(0, 'DELETE /api/v1/namespaces/default/configmaps/owner');
    await until('collected', () => gone(pathOf(plural, 'v1', 'owned')));
  });

  test('a namespace ends', async () => {
    await done(0, 'DELETE /api/v1/namespaces/doomed');
    await until('ended', () => gone('/api/v1/namespaces/doomed'));
  });

  test('a definition ends with its objects and is made again with another conversion', async () => {
    await done(0, `DELETE ${definitions}/${plural}.example.com`);
    await until('deleted', () => gone(`${definitions}/${plural}.example.com`));
    expect((await send(0, `GET ${pathOf(plural, 'v1')}`)).status).toBe(404);
    await define(plural, { strategy: 'None' });
    expect((await done(1, `GET ${pathOf(plural, 'v1')}`))['items']).toEqual([]);
    await done(1, `POST ${pathOf(plural, 'v1')}`, crate(plural, 'a'));
    const reply = await done<{ apiVersion: string }>(0, `GET ${pathOf(plural, 'v2', 'a')}`);
    expect(reply.apiVersion).toBe('example.com/v2');
  });
});

(hasKubectl ? describe : describe.skip)('kubectl', () => {
  const told = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await kube.start(...args);
    expect([args.join(' '), code, err]).toEqual([args.join(' '), 0, '']);
    return out.trim();
  };
  const name = 'pails.example.com';
  const fieldOf = (resource: string, field: string): Promise<string> =>
    told('get', resource, 'a', '-o', `jsonpath={${field}}`);

  test('works in all versions at once', async () => {
    const file = kube.file('definition', definitionOf('pails', conversionBy(hook)));
    await told('apply', '-f', file);
    await told('wait', '--for=condition=established', `crd/${name}`, '--timeout=30s');
    const first = kube.file('first', crate('pails', 'a'));
    expect(await told('apply', '-f', first)).toBe('pail.example.com/a created');
    expect(await told('apply', '-f', first)).toBe('pail.example.com/a unchanged');
    expect(await fieldOf('pails.v2.example.com', '.spec.paint')).toBe('red');
    expect(await fieldOf('pails.v3.example.com', '.spec.tint')).toBe('red');
    expect(await told('get', 'pails.v2.example.com')).toMatch(/^NAME +PAINT\na +red$/);
    await told('scale', 'pails.v2.example.com', 'a', '--replicas=7');
    expect(await fieldOf('pails.v1.example.com', '.spec.size')).toBe('7');
    const merge = ['--type=merge', '-p', '{"spec":{"tint":"blue"}}'];
    await told('patch', 'pails.v3.example.com', 'a', ...merge);
    const second = kube.file('second', {
      ...{ kind: 'Pail', apiVersion: 'example.com/v2', metadata: { name: 'a' } },
      spec: { note: 'n' },
    });
    await told('apply', '--server-side', '-f', second);
    expect(await fieldOf('pails.v1.example.com', '.spec')).toBe(
      '{"color":"blue","note":"n","size":7}',
    );
    const selector = '--field-selector=spec.paint=blue';
    expect(await told('get', 'pails.v2.example.com', selector, '-o', 'name')).toBe(
      'pail.example.com/a',
    );
    expect(await told('explain', 'pails.spec', '--api-version=example.com/v2')).toContain('paint');
    await told('label', 'pails.v3.example.com', 'a', 'l=x');
    await told('delete', 'pails.v2.example.com', '-l', 'l=x', '--timeout=20s');
    await told('delete', 'crd', name, '--timeout=30s');
  });
});
