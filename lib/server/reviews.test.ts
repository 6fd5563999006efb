import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionPlugin } from '../admission/plugin.ts';
import type { Authentication, Credentials } from '../authn/authenticator.ts';
import type { Attributes, Decision, ResolvedRules } from '../authz/authorizer.ts';
import { forbidden } from '../base/status.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import { sendTo } from './testing/api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from './testing/api-on-etcd.ts';
import { startApiServer } from './testing/api-server.ts';
import type { TestServer } from './testing/test-server.ts';

const authentication = '/apis/authentication.svc.io/v1';
const authorization = '/apis/authorization.svc.io/v1';
const rules: ResolvedRules = {
  resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [] }],
  nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/version'] }],
  incomplete: true,
  evaluationError: 'others decide, too',
};

let registry: RegistryOnEtcd;
let server: TestServer;
let asked: Attributes[] = [];
let shown: Credentials[] = [];
let decision: Decision;
let verdict: Authentication;
let steps: string[] = [];

/** Sees every review; refuses where a test asks for it by the user's name. */
const plugin: AdmissionPlugin = {
  name: 'Watcher',
  sideEffects: false,
  handles: ({ resource }) => resource.resource.endsWith('reviews'),
  mutate(_request, object) {
    steps.push(`mutate ${String('status' in object)}`);
    const spec = object['spec'] as { user?: string } | undefined;
    if (spec?.user !== 'rename-me') return false;
    spec.user = 'renamed';
    return true;
  },
  validate({ resource, operation, user }, object) {
    steps.push(`validate ${operation} by ${user.name}`);
    const spec = object?.['spec'] as { user?: string } | undefined;
    if (spec?.user === 'refuse-me') throw forbidden(resource, '', 'by a plugin');
  },
};

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const authorizer = {
    name: 'test',
    authorize(attributes: Attributes): Decision {
      asked.push(attributes);
      return decision;
    },
    rulesFor: () => rules,
  };
  const authenticator = {
    name: 'test',
    authenticate(credentials: Credentials): Authentication {
      shown.push(credentials);
      return verdict;
    },
  };
  const replica = await registry.replica({
    admission: admissionChain([plugin]),
    reviews: { authenticator, authorizer, apiAudiences: ['api'] },
  });
  server = await startApiServer(replica, { gates: { CBORServingAndStorage: 'true' } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await registry.stop();
});
beforeEach(() => {
  [asked, shown, steps] = [[], [], []];
  [decision, verdict] = [{ effect: 'noOpinion', reason: '' }, { outcome: 'absent' }];
});

const send = (line: string, sent?: SentRequest): Promise<ApiAnswer> => sendTo(server, line, sent);
type Body = Record<string, unknown> & {
  readonly message: string;
  readonly metadata: Record<string, unknown>;
  readonly status: Record<string, unknown>;
  readonly details?: { readonly causes: readonly { readonly field: string }[] };
};
const bodyOf = ({ json }: ApiAnswer): Body => json as Body;
const access = (spec: object, more: object = {}): Promise<ApiAnswer> =>
  send(`POST ${authorization}/subjectaccessreviews`, { body: { spec, ...more } });
const ofPods = { verb: 'list', resource: 'pods' };

describe('SubjectAccessReview (any user)', () => {
  test.each([
    [
      { effect: 'allow', reason: 'RBAC: it is so' },
      { allowed: true, reason: 'RBAC: it is so' },
    ],
    [{ effect: 'allow', reason: '' }, { allowed: true }],
    [
      { effect: 'deny', reason: 'no' },
      { allowed: false, denied: true, reason: 'no' },
    ],
    [
      { effect: 'noOpinion', reason: '', error: 'broken' },
      { allowed: false, evaluationError: 'broken' },
    ],
  ] as [Decision, object][])('%j is answered as %j', async (made, status) => {
    decision = made;
    const answer = await access({ user: 'a', resourceAttributes: ofPods });
    expect([answer.status, bodyOf(answer).status]).toEqual([201, status]);
  });

  test('asks about all that it says, in every version where none is named', async () => {
    await access({
      user: 'a',
      uid: 'u',
      groups: ['g'],
      extra: { Scopes: ['x'], scopes: ['y'] },
      resourceAttributes: { ...ofPods, group: 'apps', namespace: 'n', subresource: 's', name: 'o' },
    });
    await access({ groups: ['g'], nonResourceAttributes: { path: '/metrics', verb: 'get' } });
    expect(asked).toMatchObject([
      {
        user: { name: 'a', uid: 'u', groups: ['g'], extra: { scopes: ['x', 'y'] } },
        isResourceRequest: true,
        verb: 'list',
        group: 'apps',
        version: '*',
        resource: 'pods',
        subresource: 's',
        namespace: 'n',
        name: 'o',
      },
      { user: { name: '' }, isResourceRequest: false, path: '/metrics', verb: 'get' },
    ]);
  });

  const node = { key: 'spec.nodeName', operator: 'In', values: ['n1'] };
  const readNode = { key: 'spec.nodeName', operator: 'in', values: ['n1'] };
  const odd = { key: 'x', operator: 'Near', values: ['y'] };
  test.each([
    ['fieldSelector', { rawSelector: 'spec.nodeName=n1' }, { requirements: [readNode] }, ''],
    ['fieldSelector', { requirements: [node] }, { requirements: [readNode] }, ''],
    ['fieldSelector', { requirements: [node, odd] }, { requirements: [readNode] }, 'partially '],
    ['fieldSelector', { requirements: [odd] }, undefined, 'all '],
    ['fieldSelector', { requirements: [{ ...node, values: ['a', 'b'] }] }, undefined, 'all '],
    ['fieldSelector', { rawSelector: 'a in (b)' }, { rawSelector: 'a in (b)' }, 'all '],
    [
      'labelSelector',
      { requirements: [{ key: 'a', operator: 'Exists' }] },
      { requirements: [{ key: 'a', operator: 'exists', values: [] }] },
      '',
    ],
    ['labelSelector', { requirements: [odd] }, undefined, 'all '],
  ] as const)('its %s %j is %j', async (member, selector, read, problem) => {
    const answer = await access({
      user: 'a',
      resourceAttributes: { ...ofPods, [member]: selector },
    });
    expect(asked[0]?.[member]).toEqual(read);
    const how = problem === 'all ' ? '' : problem;
    const evaluationError = `spec.resourceAttributes.${member} ${how}ignored due to parse error`;
    expect(bodyOf(answer).status).toEqual({
      allowed: false,
      ...(problem === '' ? {} : { evaluationError }),
    });
  });

  const at = 'spec.resourceAttributes';
  test.each([
    [{}, [at, 'spec.user']],
    [{ user: 'a' }, [at]],
    [{ resourceAttributes: ofPods }, ['spec.user']],
    [
      { user: 'a', resourceAttributes: ofPods, nonResourceAttributes: { path: '/', verb: 'get' } },
      ['spec.nonResourceAttributes'],
    ],
    [
      { user: 'a', resourceAttributes: { fieldSelector: {} } },
      [`${at}.fieldSelector.requirements`],
    ],
    [
      {
        user: 'a',
        resourceAttributes: { labelSelector: { rawSelector: 'a', requirements: [odd] } },
      },
      [`${at}.labelSelector.rawSelector`],
    ],
    [
      {
        user: 'a',
        resourceAttributes: {
          fieldSelector: {
            requirements: [
              { key: '', operator: 'In' },
              { key: 'a', operator: 'Exists', values: ['b'] },
            ],
          },
        },
      },
      ['[0].key', '[0].values', '[1].values'].map(
        (one) => `${at}.fieldSelector.requirements${one}`,
      ),
    ],
    [
      {
        user: 'a',
        resourceAttributes: { labelSelector: { requirements: [{ key: '-', operator: 'In' }] } },
      },
      ['values', 'key'].map((one) => `${at}.labelSelector.requirements[0].${one}`),
    ],
  ])('%j is invalid at %j', async (spec, fields) => {
    const answer = await access(spec);
    expect(answer.status).toBe(422);
    expect(bodyOf(answer).details?.causes.map(({ field }) => field)).toEqual(fields);
    expect(asked).toEqual([]);
  });

  test('its metadata must be empty', async () => {
    const spec = { user: 'a', resourceAttributes: ofPods };
    const answer = await access(spec, { metadata: { labels: { a: 'b' } } });
    expect([answer.status, bodyOf(answer).details?.causes[0]?.field]).toEqual([422, 'metadata']);
    expect((await access(spec, { metadata: { labels: {}, name: '' } })).status).toBe(201);
  });

  test('what it says of the outcome is ignored; its fields are owned by who sent it', async () => {
    const status = { allowed: true, reason: 'because I say so' };
    const answer = await access({ user: 'a', resourceAttributes: ofPods }, { status });
    const body = bodyOf(answer);
    expect(body.status).toEqual({ allowed: false });
    expect(Object.keys(body.metadata)).toEqual(['managedFields']);
    expect(JSON.stringify(body.metadata)).toContain('f:resourceAttributes');
    expect(JSON.stringify(body.metadata)).not.toContain('f:status');
    expect(steps).toEqual(['mutate false', 'validate CREATE by tester']);
  });

  test('admission may change it and refuse it', async () => {
    await access({ user: 'rename-me', resourceAttributes: ofPods });
    expect(asked[0]?.user.name).toBe('renamed');
    const refused = await access({ user: 'refuse-me', resourceAttributes: ofPods });
    expect([refused.status, asked.length]).toEqual([403, 1]);
  });

  test('fields that nobody knows are refused when the client asks for it', async () => {
    const line = `POST ${authorization}/subjectaccessreviews?fieldValidation=Strict`;
    expect((await send(line, { body: { spec: { users: [] } } })).status).toBe(400);
  });

  test.each([
    ['application/yaml', /^apiVersion|^kind/m],
    ['application/cbor', /allowed/],
    ['application/vnd.svc.protobuf', /SubjectAccessReview/],
    ['application/json;as=Table;v=v1;g=meta.svc.io', /"Table"/],
  ])('is answered in %s', async (accept, pattern) => {
    const body = { spec: { user: 'a', resourceAttributes: ofPods } };
    const answer = await send(`POST ${authorization}/subjectaccessreviews`, { body, accept });
    expect(answer.status).toBe(201);
    expect(answer.body.toString('latin1')).toMatch(pattern);
  });

  test('is taken in YAML, and for a dry run', async () => {
    const body = 'spec: {user: a, nonResourceAttributes: {path: /x, verb: get}}\n';
    const sent = { body, contentType: 'application/yaml' };
    await send(`POST ${authorization}/subjectaccessreviews?dryRun=All`, sent);
    expect(asked[0]?.path).toBe('/x');
  });
});

test.each([
  [{ namespace: 'n' }, 201, undefined],
  [{ namespace: 'other' }, 422, 'spec.resourceAttributes.namespace'],
  [{}, 422, 'spec.resourceAttributes.namespace'],
])('LocalSubjectAccessReview (one namespace) of %j is %d', async (where, status, field) => {
  const spec = { user: 'a', resourceAttributes: { ...ofPods, ...where } };
  const line = `POST ${authorization}/namespaces/n/localsubjectaccessreviews`;
  const answer = await send(line, { body: { spec } });
  expect([answer.status, bodyOf(answer).details?.causes[0]?.field]).toEqual([status, field]);
});

test('LocalSubjectAccessReview is of no path, and lies in its own namespace', async () => {
  const line = `POST ${authorization}/namespaces/n/localsubjectaccessreviews`;
  const spec = { user: 'a', nonResourceAttributes: { path: '/', verb: 'get' } };
  expect((await send(line, { body: { spec } })).status).toBe(422);
  const body = { metadata: { namespace: 'm' }, spec };
  expect((await send(line, { body })).status).toBe(400);
});

test('SelfSubjectAccessReview asks about who sends it, and needs no user', async () => {
  decision = { effect: 'allow', reason: 'r' };
  const body = { spec: { user: 'somebody else', resourceAttributes: ofPods } };
  const answer = await send(`POST ${authorization}/selfsubjectaccessreviews`, { body });
  expect(bodyOf(answer).status).toEqual({ allowed: true, reason: 'r' });
  expect(asked[0]?.user.name).toBe('tester');
});

test('SelfSubjectRulesReview (actions a user may do in a namespace) gives rules', async () => {
  const line = `POST ${authorization}/selfsubjectrulesreviews`;
  const answer = await send(line, { body: { spec: { namespace: 'n' } } });
  expect([answer.status, answer.json]).toEqual([
    201,
    {
      kind: 'SelfSubjectRulesReview',
      apiVersion: 'authorization.svc.io/v1',
      metadata: {},
      spec: {},
      status: {
        resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/version'] }],
        incomplete: true,
        evaluationError: 'others decide, too',
      },
    },
  ]);
  expect((await send(line, { body: {} })).status).toBe(400);
});

test('SelfSubjectReview: status.userInfo holds username, uid, groups, extra', async () => {
  const body = { status: { userInfo: { username: 'me' } } };
  const answer = await send(`POST ${authentication}/selfsubjectreviews`, { body });
  expect([answer.status, answer.json]).toMatchObject([
    201,
    {
      kind: 'SelfSubjectReview',
      metadata: { creationTimestamp: expect.any(String) as unknown },
      status: { userInfo: { username: 'tester', uid: '1', groups: ['system:authenticated'] } },
    },
  ]);
});

describe('TokenReview', () => {
  const user = { name: 'u', uid: '7', groups: ['g'], extra: { k: ['v'] } };
  const review = (spec: object): Promise<ApiAnswer> =>
    send(`POST ${authentication}/tokenreviews`, { body: { spec } });

  test.each([
    [
      { outcome: 'accepted', user, audiences: ['api'] },
      {
        authenticated: true,
        user: { username: 'u', uid: '7', groups: ['g'], extra: { k: ['v'] } },
        audiences: ['api'],
      },
    ],
    [
      { outcome: 'rejected', reason: 'too old' },
      { user: {}, error: 'too old' },
    ],
    [{ outcome: 'absent' }, { user: {}, error: 'no authenticator knows this token' }],
  ] as [Authentication, object][])('%j is answered as %j', async (found, status) => {
    verdict = found;
    const answer = await review({ token: 't' });
    expect([answer.status, bodyOf(answer).status]).toEqual([201, status]);
  });

  test.each([
    [undefined, ['api']],
    [
      ['vault', 'other'],
      ['vault', 'other'],
    ],
  ])('spec.audiences %j are verified as %j', async (audiences, wanted) => {
    await review({ token: 't', ...(audiences && { audiences }) });
    expect(shown).toMatchObject([{ token: 't', audiences: wanted, connection: undefined }]);
  });

  test('without spec.token is 400', async () => {
    const answer = await review({});
    expect([answer.status, bodyOf(answer).message]).toEqual([
      400,
      'token is required for TokenReview in authentication',
    ]);
    expect(shown).toEqual([]);
  });
});

test.each([
  [authentication, ['selfsubjectreviews', 'tokenreviews']],
  [
    authorization,
    [
      'localsubjectaccessreviews',
      'selfsubjectaccessreviews',
      'selfsubjectrulesreviews',
      'subjectaccessreviews',
    ],
  ],
])('%s lists %j, which can be created and nothing else', async (path, names) => {
  const { resources } = (await send(`GET ${path}`)).json as {
    resources: { name: string; verbs: string[] }[];
  };
  expect(resources.map(({ name }) => name).sort()).toEqual(names);
  for (const { name, verbs } of resources) {
    expect(verbs).toEqual(['create']);
    const where = name.startsWith('local') ? `${path}/namespaces/n/${name}` : `${path}/${name}`;
    expect((await send(`GET ${where}`)).status).toBe(405);
    expect((await send(`DELETE ${where}/x`)).status).toBe(405);
  }
  expect((await send(`GET ${path.replace(/v1$/, 'v1beta1')}`)).status).toBe(404);
});
