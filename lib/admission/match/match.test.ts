// Which requests the rules and selectors of webhooks and policies are for, in which version.
import { describe, expect, test } from '@jest/globals';
import { StatusError } from '../../base/status.ts';
import type { JsonObject, ResourceInfo } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { asked, naming, resourceOf, scheme } from '../testing/asked.ts';
import { partsOf } from '../testing/cluster.ts';
import { fitOf, resourcesCriteria, wayFor, webhookCriteria } from './criteria.ts';
import { isConfiguration, isReview } from './excluded.ts';
import { MatchIndex } from './match-index.ts';
import { namespaceOf, selects, storedNamespace } from './namespace.ts';
import { requestRecord } from './request-record.ts';

const { signal } = new AbortController();

const rule = (resources: readonly string[], more: JsonObject = {}): JsonObject => ({
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: [...resources],
  scope: '*',
  ...more,
});

/** As all versions of a resource that share its objects. */
const equivalentsOf = (resource: ResourceInfo): readonly ResourceInfo[] =>
  scheme.resources.filter(({ storagePrefix }) => storagePrefix === resource.storagePrefix);

const fitting = (webhook: JsonObject, request: AdmissionRequest): string | undefined => {
  const fit = fitOf(webhookCriteria(webhook), request, equivalentsOf(request.resource));
  const way = fit && wayFor(fit, request.name);
  if (way === undefined) return undefined;
  const { group, version } = way.as?.resource ?? request.resource;
  return way.as === undefined ? 'as named' : `${group}/${version}`;
};

const doing = (
  resource: string,
  change: Partial<AdmissionRequest> = {},
  group = '',
): AdmissionRequest => asked({ resource: resourceOf(resource, group), ...change }).request;

describe('h.rules: operations, groups, versions, resources and scope', () => {
  const pods = doing('pods');
  const status = doing('pods', { subresource: 'status', operation: 'UPDATE' });
  const nodes = doing('nodes', { namespace: '' });
  const namespaces = doing('namespaces', { namespace: '' });
  const deployments = doing('deployments', {}, 'apps');
  test.each<[string, JsonObject, AdmissionRequest, boolean]>([
    ['a resource by name', rule(['pods']), pods, true],
    ['another resource', rule(['secrets']), pods, false],
    ['a resource without its subresources', rule(['pods']), status, false],
    ['a subresource by name', rule(['pods/status']), status, true],
    ['a subresource without its resource', rule(['pods/status']), pods, false],
    ['all subresources and the resource', rule(['pods/*']), pods, true],
    ['a star for the subresource', rule(['pods/*']), status, true],
    ['a star for the resource', rule(['*/status']), status, true],
    ['a star has no subresources', rule(['*']), status, false],
    ['a star is all resources', rule(['*']), pods, true],
    ['two stars are everything', rule(['*/*']), status, true],
    ['one of the operations', rule(['pods'], { operations: ['UPDATE', 'CREATE'] }), pods, true],
    ['no other operation', rule(['pods'], { operations: ['DELETE'] }), pods, false],
    ['the core group', rule(['pods'], { apiGroups: [''] }), pods, true],
    ['no other group', rule(['deployments'], { apiGroups: [''] }), deployments, false],
    ['no other version', rule(['pods'], { apiVersions: ['v2'] }), pods, false],
    ['Namespaced: what is in one', rule(['*'], { scope: 'Namespaced' }), pods, true],
    ['Namespaced: not the cluster', rule(['*'], { scope: 'Namespaced' }), nodes, false],
    ['Namespaced: not namespaces', rule(['*'], { scope: 'Namespaced' }), namespaces, false],
    ['Cluster: namespaces', rule(['*'], { scope: 'Cluster' }), namespaces, true],
    ['Cluster: not what is in one', rule(['*'], { scope: 'Cluster' }), pods, false],
  ])('%s', (_claim, one, request, isFor) => {
    expect(fitting({ rules: [one] }, request) !== undefined).toBe(isFor);
  });
  test('without rules a webhook is for nothing', () => {
    expect(fitting({}, pods)).toBeUndefined();
  });
});

describe('h.matchPolicy, a.equivalent: the same objects in other versions', () => {
  const scalers = (version: string): AdmissionRequest => {
    const resource = scheme.resource({
      group: 'autoscaling',
      version,
      resource: 'horizontalpodautoscalers',
    });
    if (resource === undefined) throw new Error(version);
    return asked({ resource }).request;
  };
  const first = rule(['horizontalpodautoscalers'], { apiVersions: ['v1'] });
  const second = rule(['horizontalpodautoscalers'], { apiVersions: ['v2'] });
  test.each<[string, JsonObject, string | undefined]>([
    ['Exact: only as named', { matchPolicy: 'Exact', rules: [first] }, undefined],
    ['Equivalent: in the version of the rule', { rules: [first] }, 'autoscaling/v1'],
    ['as named wins, whatever the order', { rules: [first, second] }, 'as named'],
  ])('%s', (_claim, webhook, as) => {
    expect(fitting({ matchPolicy: 'Equivalent', ...webhook }, scalers('v2'))).toBe(as);
  });
  test('events of both groups are the same', () => {
    const events = rule(['events'], { apiGroups: [naming.resolve('events.{v}')] });
    const webhook = { matchPolicy: 'Equivalent', rules: [events] };
    expect(fitting(webhook, doing('events'))).toBe(naming.resolve('events.{v}/v1'));
  });
  test('the kind is that of the same subresource there', () => {
    const request = { ...scalers('v2'), subresource: 'status' };
    const status = rule(['horizontalpodautoscalers/status'], { apiVersions: ['v1'] });
    const criteria = webhookCriteria({ matchPolicy: 'Equivalent', rules: [status] });
    const fit = fitOf(criteria, request, equivalentsOf(request.resource));
    expect(fit && wayFor(fit, 'x')?.as?.kind).toMatchObject({ version: 'v1' });
  });
});

describe('v.match: names, and rules that leave out', () => {
  const named = (resources: JsonObject, name: string): boolean => {
    const fit = fitOf(resourcesCriteria(resources), doing('pods', { name }), []);
    return fit !== undefined && wayFor(fit, name) !== undefined;
  };
  const a = rule(['pods'], { resourceNames: ['a'] });
  test.each<[string, JsonObject, string, boolean]>([
    ['no rules are all', {}, 'a', true],
    ['a name that is listed', { resourceRules: [a] }, 'a', true],
    ['a name that is not', { resourceRules: [a] }, 'b', false],
    ['another rule has it', { resourceRules: [a, rule(['pods'])] }, 'b', true],
    ['left out wins', { resourceRules: [a], excludeResourceRules: [rule(['pods'])] }, 'a', false],
    ['left out by name', { excludeResourceRules: [a] }, 'a', false],
    ['another name stays', { excludeResourceRules: [a] }, 'b', true],
  ])('%s', (_claim, resources, name, isFor) => {
    expect(named(resources, name)).toBe(isFor);
  });
});

describe('h.namespaceSelector and h.objectSelector', () => {
  const cluster = partsOf({
    memory: { namespaces: [{ metadata: { name: 'a', labels: { tier: 'x' } } }] },
  });
  const isSelected = async (
    selectors: JsonObject,
    change: Partial<AdmissionRequest>,
    object?: object,
  ): Promise<boolean> => {
    const { request } = asked(change);
    const namespaces = cluster.objects('', 'namespaces');
    const namespace = await storedNamespace(request, namespaces, signal);
    return selects(webhookCriteria(selectors), request, object as ApiObject, namespace);
  };
  const tier = (value: string): JsonObject => ({
    namespaceSelector: { matchLabels: { tier: value } },
  });
  const own = { objectSelector: { matchLabels: { own: '1' } } };
  const pod = (labels: object): object => ({ metadata: { labels } });
  const nodes = { resource: resourceOf('nodes'), namespace: '' };
  const namespaces = { resource: resourceOf('namespaces'), namespace: '', name: 'a' };
  test.each<[string, JsonObject, Partial<AdmissionRequest>, object | undefined, boolean]>([
    ['labels of the namespace', tier('x'), {}, undefined, true],
    ['other labels', tier('y'), {}, undefined, false],
    ['the cluster always', tier('y'), nodes, undefined, true],
    ['a new namespace by its own', tier('n'), namespaces, pod({ tier: 'n' }), true],
    ['a new namespace not by the old', tier('x'), namespaces, pod({ tier: 'n' }), false],
    [
      'a deleted one by the stored',
      tier('x'),
      { ...namespaces, operation: 'DELETE' },
      undefined,
      true,
    ],
    [
      'its status by the stored',
      tier('x'),
      { ...namespaces, subresource: 'status' },
      pod({}),
      true,
    ],
    ['labels of the object', own, {}, pod({ own: '1' }), true],
    ['of the old object', own, { old: pod({ own: '1' }) as ApiObject }, pod({}), true],
    ['of neither', own, { old: pod({}) as ApiObject }, pod({}), false],
    [
      'options have none',
      { objectSelector: { matchExpressions: [{ key: 'o', operator: 'DoesNotExist' }] } },
      {},
      { command: [] },
      false,
    ],
    ['options match all', { objectSelector: {} }, {}, { command: [] }, true],
    [
      'names of prototypes are no labels',
      { objectSelector: { matchLabels: { constructor: '' } } },
      {},
      pod({}),
      false,
    ],
  ])('%s', async (_claim, selectors, change, object, isFor) => {
    expect(await isSelected(selectors, change, object)).toBe(isFor);
  });
  test('a namespace that is missing is 404, where its labels matter', async () => {
    expect(await isSelected({}, { namespace: 'gone' })).toBe(true);
    await expect(isSelected(tier('x'), { namespace: 'gone' })).rejects.toMatchObject({ code: 404 });
  });
  test('h.match: a selector that cannot be evaluated is an error where rules match', async () => {
    const wrong = { objectSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } };
    await expect(isSelected(wrong, {}, pod({}))).rejects.toBeInstanceOf(StatusError);
    expect(fitting({ ...wrong, rules: [] }, doing('pods'))).toBeUndefined();
  });
});

describe('what is never judged', () => {
  const six = [
    'validatingwebhookconfigurations',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ];
  test.each(six)('a.excluded-configuration: %s', (resource) => {
    const request = doing(resource, {}, 'admissionregistration.{v}');
    expect(isConfiguration(naming)(request)).toBe(true);
  });
  test.each([
    ['tokenreviews', 'authentication.{v}', true],
    ['selfsubjectreviews', 'authentication.{v}', true],
    ['subjectaccessreviews', 'authorization.{v}', true],
    ['localsubjectaccessreviews', 'authorization.{v}', true],
    ['selfsubjectaccessreviews', 'authorization.{v}', true],
    ['selfsubjectrulesreviews', 'authorization.{v}', true],
    ['bindings', '', false],
    ['serviceaccounts', '', false],
  ])('a.excluded-reviews: %s', (resource, group, isExcluded) => {
    expect(isReview(naming)(doing(resource, {}, group))).toBe(isExcluded);
    expect(isConfiguration(naming)(doing(resource, {}, group))).toBe(false);
  });
});

test('a.namespace, a.user: the record of a request', () => {
  const { request } = asked({
    resource: resourceOf('namespaces'),
    namespace: '',
    name: 'n',
    dryRun: true,
    user: { name: 'u', uid: '1', groups: ['g'], extra: { ['__proto__']: ['x'] } },
  });
  const kind = { group: '', version: 'v1', kind: 'Namespace' };
  const resource = { group: '', version: 'v1', resource: 'namespaces' };
  expect(namespaceOf(request)).toBe('n');
  expect(JSON.parse(JSON.stringify(requestRecord(request, undefined)))).toEqual({
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name: 'n',
    namespace: 'n',
    operation: 'CREATE',
    userInfo: { username: 'u', uid: '1', groups: ['g'], extra: { ['__proto__']: ['x'] } },
    dryRun: true,
    options: null,
  });
});

describe('the index over many configurations', () => {
  const entries = [rule(['pods']), rule(['secrets']), rule(['*'])].map((one) => ({ rules: [one] }));
  test('has candidates in order, and looks at rules once until what is served changes', () => {
    let looks = 0;
    const served = { version: 1, equivalentsOf };
    const index = new MatchIndex(entries, (entry) => (looks++, webhookCriteria(entry)), served);
    const names = (request: AdmissionRequest): unknown[] =>
      index.candidates(request).map(({ entry }) => entries.indexOf(entry));
    expect(names(doing('pods'))).toEqual([0, 2]);
    expect(names(doing('secrets'))).toEqual([1, 2]);
    expect(names(doing('pods', { name: 'other' }))).toEqual([0, 2]);
    expect(looks).toBe(2 * entries.length);
    served.version = 2;
    expect(names(doing('pods'))).toEqual([0, 2]);
    expect(looks).toBe(3 * entries.length);
  });

  test('looks at selectors of namespaces once for each state of a namespace', () => {
    const looked: string[] = [];
    const webhookOf = (team: string): JsonObject => ({
      rules: [rule(['pods'])],
      namespaceSelector: { matchLabels: { team } },
    });
    const { served } = partsOf({});
    const of = (team: string) => webhookCriteria(webhookOf(team));
    const counted = (team: string): ReturnType<typeof of> => {
      const { namespaceSelector, ...criteria } = of(team);
      const matches: typeof namespaceSelector.matches = (labels) => {
        looked.push(team);
        return namespaceSelector.matches(labels);
      };
      return { ...criteria, namespaceSelector: { ...namespaceSelector, matches } };
    };
    const index = new MatchIndex(['x', 'y', 'z'], counted, served);
    const request = doing('pods');
    const inNamespace = (team: string): ApiObject => ({
      metadata: { name: 'a', labels: { team } },
    });
    const [before, after] = [inNamespace('x'), inNamespace('y')];
    const found = (namespace: ApiObject): string[] =>
      index.candidatesIn(request, namespace).map(({ entry }) => entry);
    expect([found(before), found(before), looked.length]).toEqual([['x'], ['x'], 3]);
    expect([found(after), found(after), looked.length]).toEqual([['y'], ['y'], 6]);
    expect(index.candidatesIn(request, 'absent')).toHaveLength(3);
  });

  test('h.match: a selector that cannot be evaluated stays among the candidates', () => {
    const namespaceSelector = { matchExpressions: [{ key: 'a', operator: 'Beside', values: [] }] };
    const criteria = webhookCriteria({ rules: [rule(['pods'])], namespaceSelector });
    const index = new MatchIndex(['x'], () => criteria, partsOf({}).served);
    expect(index.candidatesIn(doing('pods'), { metadata: { name: 'a' } })).toHaveLength(1);
  });
});
