// Whatever a path looks like: what a request touches is what was authorized, and what its path says
// in plain words. PATHS_SEED and PATHS_COUNT repeat and lengthen a run.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { constants } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import type { Attributes, Authorizer } from '../authz/authorizer.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Subresource } from '../registry/verb-target.ts';
import { ApiOnEtcd } from './testing/api-on-etcd.ts';
import { connect2 } from './testing/test-server.ts';

const seed = Number(process.env['PATHS_SEED'] ?? Date.now() % 1_000_000);
const count = Number(process.env['PATHS_COUNT'] ?? 1_500);

/** What one verb of one store was asked for; also what a path says in plain words. */
interface Asked {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

let asked: Asked[] = [];
let authorized: Attributes[] = [];
let api: ApiOnEtcd;
let session: ClientHttp2Session;

/** The same store, whose every call is noted before it is made. */
function observed(store: ResourceStore): ResourceStore {
  const { group, version, resource } = store.resource;
  const nowhere = { namespace: '', name: '', subresource: '' };
  const note = (verb: string, where: Partial<typeof nowhere>): void => {
    const { namespace, name, subresource } = { ...nowhere, ...where };
    asked.push({ verb, group, version, resource, namespace, name, subresource });
  };
  const noted = (one: Subresource): Subresource => {
    const { get, update, patch } = one;
    return {
      ...one,
      ...(get === undefined ? {} : { get: (request) => (note('get', request.path), get(request)) }),
      ...(update === undefined
        ? {}
        : { update: (request) => (note('update', request.path), update(request)) }),
      ...(patch === undefined
        ? {}
        : { patch: (request) => (note('patch', request.path), patch(request)) }),
    };
  };
  return {
    ...store,
    subresources: new Map([...store.subresources].map(([name, one]) => [name, noted(one)])),
    get: (request) => (note('get', request.path), store.get(request)),
    list: (request) => (note('list', request), store.list(request)),
    watch: (request) => (note('watch', request), store.watch(request)),
    create: (request) => (note('create', request.path), store.create(request)),
    update: (request) => (note('update', request.path), store.update(request)),
    patch: (request) => (note('patch', request.path), store.patch(request)),
    delete: (request) => (note('delete', request.path), store.delete(request)),
    deleteCollection: (request) => (
      note('deletecollection', request),
      store.deleteCollection(request)
    ),
  };
}

beforeAll(async () => {
  const authorizer: Authorizer = {
    name: 'notes',
    authorize: (attributes) => {
      authorized.push(attributes);
      return { effect: 'allow', reason: '' };
    },
  };
  api = await ApiOnEtcd.start(({ stores }) => ({ stores: stores.all.map(observed), authorizer }));
  session = await connect2(api.server);
  for (const namespace of ['a', 'b']) {
    await send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    for (const name of ['a', 'b', 'watch', 'status', 'namespaces']) {
      await send('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name } });
    }
  }
  await send('POST', '/api/v1/nodes', { metadata: { name: 'a' } });
});
afterAll(async () => {
  session.destroy();
  await api.stop();
});

interface Answered {
  readonly status: number;
  readonly body: string;
}

/** Watches are left as soon as they are answered. */
function send(method: string, path: string, body: object = {}): Promise<Answered> {
  const isPatch = method === 'PATCH';
  const type = isPatch ? 'application/merge-patch+json' : 'application/json';
  const hasBody = ['POST', 'PUT', 'PATCH'].includes(method);
  const headers = { ':method': method, ':path': path, 'content-type': type };
  const stream = session.request(headers, { endStream: !hasBody });
  if (hasBody) stream.end(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    let status = 0;
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    stream.on('response', (answer) => {
      status = Number(answer[':status']);
      if (status === 200 && asked.at(-1)?.verb === 'watch') stream.close(constants.NGHTTP2_CANCEL);
    });
    stream.on('error', reject).on('close', () => resolve({ status, body: text }));
  });
}

const verbs: Readonly<Record<string, readonly [item: string, collection: string]>> = {
  GET: ['get', 'list'],
  HEAD: ['get', 'list'],
  POST: ['', 'create'],
  PUT: ['update', ''],
  PATCH: ['patch', ''],
  DELETE: ['delete', 'deletecollection'],
};

/** What a path says to a reader who takes it literally; undefined: nothing. */
function spelled(method: string, target: string): Asked | undefined {
  const [path = '', query = ''] = target.split('?');
  let segments: string[];
  try {
    segments = path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
  while (segments.at(-1) === '') segments.pop();
  const isPlain = (segment: string): boolean => !/^\.{0,2}$|[/\0]/.test(segment);
  if (segments.shift() !== '' || !segments.every(isPlain)) return undefined;
  const [group = '', version = ''] =
    segments[0] === 'api'
      ? ['', ...segments.splice(0, 2).slice(1)]
      : segments.splice(0, 3).slice(1);
  const isWatchPath = segments[0] === 'watch' && segments.length > 1;
  if (isWatchPath) segments.shift();
  const isOwn = segments.length === 3 && ['status', 'finalize'].includes(segments[2] ?? '');
  const isInside = segments[0] === 'namespaces' && segments.length > 2 && !isOwn;
  const namespace = isInside ? (segments.splice(0, 2)[1] ?? '') : '';
  const [resource = '', name = '', subresource = '', ...rest] = segments;
  if (rest.length > 0) return undefined;
  const [ofItem, ofCollection] = verbs[method] ?? ['', ''];
  const isRead = ofItem === 'get' && subresource === '';
  const verb =
    isWatchPath || (isRead && /\bwatch=1/.test(query))
      ? 'watch'
      : name === ''
        ? ofCollection
        : ofItem;
  return { verb, group, version, resource, namespace, name, subresource };
}

/** What the authorizer was asked, as a store would be asked for it. */
function permitted({ namespace: seen, ...attributes }: Attributes): Asked {
  const { verb, group, version, resource, name, subresource } = attributes;
  const isNamespace = group === '' && resource === 'namespaces';
  const namespace = isNamespace && seen === name ? '' : seen;
  return { verb, group, version, resource, namespace, name, subresource };
}

async function checked(method: string, target: string): Promise<Answered> {
  asked = [];
  authorized = [];
  const answer = await send(method, target);
  const context = { method, target, status: answer.status };
  if (asked.length > 0) {
    expect({ ...context, asked }).toEqual({ ...context, asked: [spelled(method, target)] });
    expect({ ...context, permitted: authorized.slice(0, 1).map(permitted) }).toEqual({
      ...context,
      permitted: asked,
    });
  }
  const [one] = asked;
  if (one?.verb === 'get' && answer.status === 200 && method === 'GET') {
    const { metadata } = JSON.parse(answer.body) as { metadata: object };
    const { namespace, name } = one;
    expect({ ...context, metadata }).toMatchObject({
      metadata: namespace === '' ? { name } : { namespace, name },
    });
  }
  return answer;
}

let state = seed;
function below(bound: number): number {
  state = (state + 0x6d2b79f5) | 0;
  const mixed = Math.imul(state ^ (state >>> 15), state | 1);
  return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
}
const of = <T>(choices: readonly T[]): T => choices[below(choices.length)] as T;

const roots = ['api/v1', 'api/v1', 'apis/apps/v1', 'apis/rbac.authorization.svc.io/v1', 'api/V1'];
const resources = ['configmaps', 'pods', 'nodes', 'namespaces', 'deployments', 'clusterroles'];
const words = ['a', 'b', 'watch', 'proxy', 'namespaces', 'status', 'Namespaces', 'NAMESPACES'];
const subresources = ['status', 'finalize', 'scale', 'binding', 'eviction', 'resize', 'proxy'];
const odd = ['', '.', '..', '%2e%2e', '%2E', '%2f', 'a%2fb', 'a%252fb', '..%2f..', '%5c..', '%00'];
const broken = ['%ff', '%c0%ae', '%', '%zz', 'a%', '%2', 'a%0a', '%20', 'a;b', 'a:b', '__proto__'];
const methods = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const otherMethods = ['get', 'list', 'LIST', 'WATCH', 'DELETECOLLECTION', 'CREATE', 'UPDATE'];
const queries = ['', '', 'watch=1&', 'watch=0&', 'pretty=1&', 'namespace=b&', 'name=b&'];

function randomPath(): string {
  const any = (): string => of([words, resources, subresources, odd, broken].map(of));
  const segments = of(roots).split('/');
  if (below(6) === 0) segments.push('watch');
  if (below(3) > 0) segments.push('namespaces', of(['a', 'a', 'b', any()]));
  segments.push(of([...resources, any()]));
  if (below(3) > 0) segments.push(of(['a', 'b', any()]));
  if (below(3) === 0) segments.push(of([...subresources, any()]));
  for (let changes = below(2) * below(4); changes > 0; changes--) {
    const at = below(segments.length + 1);
    if (below(2) === 0) segments.splice(at, 0, any());
    else segments.splice(at, below(3), ...(below(2) === 0 ? [any()] : []));
  }
  const encoded = segments.map((segment) => (below(8) === 0 ? escaped(segment) : segment));
  const end = below(8) === 0 ? of(['/', '//', '/.', '/..']) : '';
  return `/${encoded.join('/')}${end}`;
}

/** One character as its escape. */
function escaped(segment: string): string {
  const at = below(segment.length);
  const code = segment.charCodeAt(at);
  if (Number.isNaN(code)) return segment;
  return `${segment.slice(0, at)}%${code.toString(16).padStart(2, '0')}${segment.slice(at + 1)}`;
}

test(`any path touches what was authorized (PATHS_SEED=${String(seed)})`, async () => {
  let touched = 0;
  for (let index = 0; index < count; index++) {
    const method = below(8) === 0 ? of(otherMethods) : of(methods);
    await checked(method, `${randomPath()}?${of(queries)}dryRun=All`);
    touched += asked.length;
  }
  expect(touched).toBeGreaterThan(count / 50); // the paths are not all nonsense
});

test.each([
  ['GET', '/api/v1/namespaces/a/namespaces/b'],
  ['DELETE', '/api/v1/namespaces/a/namespaces/b'],
  ['GET', '/api/v1/namespaces/a/namespaces/a'],
  ['GET', '/api/v1/namespaces/a/namespaces'],
  ['DELETE', '/api/v1/namespaces/a/namespaces'],
  ['GET', '/api/v1/watch/namespaces/a/namespaces/b'],
  ['GET', '/api/v1/namespaces/a/namespaces/b/status'],
  ['GET', '/api/v1/namespaces/a/nodes/a'],
  ['GET', '/api/v1/namespaces/a/nodes'],
  ['DELETE', '/api/v1/namespaces/a/nodes'],
  ['GET', '/api/v1/configmaps/a'],
  ['DELETE', '/api/v1/configmaps/a'],
  ['GET', '/apis/rbac.authorization.svc.io/v1/namespaces/a/clusterroles/x'],
])(
  '%s %s is 404 before anybody is asked: the scope is not the resource’s',
  async (method, path) => {
    expect((await checked(method, path)).status).toBe(404);
    expect({ asked, authorized }).toEqual({ asked: [], authorized: [] });
  },
);

test.each([
  ['GET', '/api/v1/namespaces/a/configmaps/', 200, 'list'],
  ['GET', '/api/v1/namespaces/a/configmaps/a/', 200, 'get'],
  ['GET', '/api/v1/namespaces/a/status/', 200, 'get'],
  ['POST', '/api/v1/namespaces/a/configmaps/?dryRun=All', 422, 'create'],
  ['DELETE', '/api/v1/namespaces/a/configmaps/a//?dryRun=All', 200, 'delete'],
])('%s %s is %d: slashes at the end say nothing', async (method, path, status, verb) => {
  expect((await checked(method, path)).status).toBe(status);
  expect(asked).toMatchObject([{ verb }]);
});

test.each([
  '/api/v1/namespaces/a/configmaps/..%2fsecrets%2fb',
  '/api/v1/namespaces/a/configmaps/%2e%2e/secrets/b',
  '/api/v1/namespaces/a/configmaps/../secrets/b',
  '/api/v1/namespaces/a%2fconfigmaps/configmaps',
  '/api/v1/namespaces/..%2fb/configmaps/a',
  '/api/v1/namespaces//configmaps/a',
  '/api/v1/namespaces/a/configmaps//a',
  '/api/v1/namespaces/a/configmaps/a%00',
  '/api/v1/namespaces/a/configmaps/%ff',
  '//api/v1/namespaces/a/configmaps/a',
  '/API/v1/namespaces/a/configmaps/a',
  '/api/v1/namespaces/a/ConfigMaps/a',
])('%s leads nowhere, whatever the method', async (path) => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    const { status } = await checked(method, path);
    expect(method === 'GET' ? [404] : [404, 405]).toContain(status);
    expect(asked).toEqual([]);
  }
});

test.each([
  ['POST', '/api/v1/watch/namespaces/a/configmaps'],
  ['PUT', '/api/v1/watch/namespaces/a/configmaps/a'],
  ['PATCH', '/api/v1/watch/namespaces/a/configmaps/a'],
  ['DELETE', '/api/v1/watch/namespaces/a/configmaps/a'],
  ['DELETE', '/api/v1/watch/namespaces/a/configmaps'],
  ['LIST', '/api/v1/namespaces/a/configmaps/a'],
  ['list', '/api/v1/namespaces/a/configmaps'],
  ['UPDATE', '/api/v1/namespaces/a/configmaps/a'],
  ['DELETECOLLECTION', '/api/v1/namespaces/a/configmaps'],
])('%s %s is 405: no method is its own verb, and watch paths only watch', async (method, path) => {
  expect((await checked(method, path)).status).toBe(405);
  expect(asked).toEqual([]);
});
