import { describe, expect, test } from '@jest/globals';
import type { User } from '../base/user.ts';
import { AuditPolicy, levels } from './policy.ts';
import type { AuditedRequest, PolicyRule } from './policy.ts';

const user = (name: string, ...groups: readonly string[]): User => ({
  name,
  uid: '',
  groups,
  extra: {},
});
const jane = user('jane', 'team-a', 'team-b');
const resource = (given: Partial<AuditedRequest> = {}): AuditedRequest => ({
  verb: 'get',
  isResourceRequest: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'x',
  path: '/api/v1/namespaces/a/pods/x',
  ...given,
});
const path = (of: string): AuditedRequest =>
  resource({ isResourceRequest: false, resource: '', namespace: '', name: '', path: of });
const rule = (given: Partial<PolicyRule>, level = levels[1] as PolicyRule['outcome']['level']) => ({
  users: [],
  userGroups: [],
  verbs: [],
  resources: [],
  namespaces: [],
  nonResourceURLs: [],
  outcome: { level, omittedStages: new Set<never>(), omitsManagedFields: false },
  ...given,
});
const of = (...resources: readonly string[]) => [{ group: '', resources, resourceNames: [] }];

type Row = readonly [string, Partial<PolicyRule>, AuditedRequest, User | undefined, boolean];

describe('a rule', () => {
  test.each<Row>([
    ['without conditions holds for a resource', {}, resource(), jane, true],
    ['without conditions holds for a path', {}, path('/metrics'), jane, true],
    ['without conditions holds for whom nobody knows', {}, resource(), undefined, true],
    ['users: that one', { users: ['bob', 'jane'] }, resource(), jane, true],
    ['users: not another one', { users: ['bob'] }, resource(), jane, false],
    ['users: not whom nobody knows', { users: ['jane'] }, resource(), undefined, false],
    ['userGroups: one of them', { userGroups: ['x', 'team-b'] }, resource(), jane, true],
    ['userGroups: none of them', { userGroups: ['team-c'] }, resource(), jane, false],
    ['userGroups: not whom nobody knows', { userGroups: ['x'] }, resource(), undefined, false],
    ['verbs: that one', { verbs: ['list', 'get'] }, resource(), jane, true],
    ['verbs: not another one', { verbs: ['list'] }, resource(), jane, false],
    ['verbs: those of paths', { verbs: ['get'] }, path('/x'), jane, true],
    ['namespaces: that one', { namespaces: ['a'] }, resource(), jane, true],
    ['namespaces: not another one', { namespaces: ['b'] }, resource(), jane, false],
    ['namespaces: no path', { namespaces: [''] }, path('/x'), jane, false],
    [
      'namespaces: empty is the cluster',
      { namespaces: [''] },
      resource({ namespace: '' }),
      jane,
      true,
    ],
    [
      'resources: the group alone',
      { resources: of() },
      resource({ subresource: 'log' }),
      jane,
      true,
    ],
    ['resources: not another group', { resources: of() }, resource({ group: 'apps' }), jane, false],
    ['resources: no path', { resources: of() }, path('/x'), jane, false],
    ['resources: that one', { resources: of('pods') }, resource(), jane, true],
    [
      'resources: not its subresource',
      { resources: of('pods') },
      resource({ subresource: 'log' }),
      jane,
      false,
    ],
    ['resources: *', { resources: of('*') }, resource(), jane, true],
    [
      'resources: * has subresources',
      { resources: of('*') },
      resource({ subresource: 'log' }),
      jane,
      true,
    ],
    [
      'resources: pods/log',
      { resources: of('pods/log') },
      resource({ subresource: 'log' }),
      jane,
      true,
    ],
    ['resources: pods/log is not pods', { resources: of('pods/log') }, resource(), jane, false],
    [
      'resources: pods/*',
      { resources: of('pods/*') },
      resource({ subresource: 'log' }),
      jane,
      true,
    ],
    ['resources: pods/* has pods', { resources: of('pods/*') }, resource(), jane, true],
    ['resources: */log', { resources: of('*/log') }, resource({ subresource: 'log' }), jane, true],
    ['resources: */log is no pod', { resources: of('*/log') }, resource(), jane, false],
    [
      'resources: */log is no exec',
      { resources: of('*/log') },
      resource({ subresource: 'exec' }),
      jane,
      false,
    ],
    ['nonResourceURLs: that path', { nonResourceURLs: ['/x'] }, path('/x'), jane, true],
    ['nonResourceURLs: not another one', { nonResourceURLs: ['/x'] }, path('/x/y'), jane, false],
    ['nonResourceURLs: a prefix', { nonResourceURLs: ['/x*'] }, path('/x/y'), jane, true],
    ['nonResourceURLs: *', { nonResourceURLs: ['*'] }, path('/'), jane, true],
    ['nonResourceURLs: no resource', { nonResourceURLs: ['*'] }, resource(), jane, false],
    ['all conditions hold together', { users: ['jane'], verbs: ['list'] }, resource(), jane, false],
  ])('%s', (_claim, given, request, who, isMatch) => {
    const policy = new AuditPolicy([rule(given)]);
    expect(policy.outcomeOf(request, who).level).toBe(isMatch ? 'Metadata' : 'None');
  });

  test('resourceNames are of the resources that they stand beside', () => {
    const resources = [
      { group: '', resources: ['pods'], resourceNames: ['x'] },
      { group: '', resources: ['secrets'], resourceNames: ['y'] },
    ];
    const policy = new AuditPolicy([rule({ resources })]);
    const levelOf = (given: Partial<AuditedRequest>) =>
      policy.outcomeOf(resource(given), jane).level;
    expect(levelOf({ resource: 'pods', name: 'x' })).toBe('Metadata');
    expect(levelOf({ resource: 'pods', name: 'y' })).toBe('None');
    expect(levelOf({ resource: 'secrets', name: 'y' })).toBe('Metadata');
  });
});

test('the first rule that matches decides, whatever comes later', () => {
  const policy = new AuditPolicy([
    rule({ resources: of('secrets') }, 'None'),
    rule({ users: ['jane'] }, 'Request'),
    rule({}, 'RequestResponse'),
  ]);
  expect(policy.outcomeOf(resource({ resource: 'secrets' }), jane).level).toBe('None');
  expect(policy.outcomeOf(resource(), jane).level).toBe('Request');
  expect(policy.outcomeOf(resource(), user('bob')).level).toBe('RequestResponse');
});

describe('many rules decide as one after the other would', () => {
  const pick = <T>(random: () => number, list: readonly T[]): T =>
    list[Math.floor(random() * list.length)] as T;
  const some = (random: () => number, list: readonly string[]): string[] =>
    random() < 0.5 ? [] : list.filter(() => random() < 0.4);
  /** Mulberry32. */
  const randomOf = (seed: number) => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  test.each([1, 2, 3])('with seed %d', (seed) => {
    const random = randomOf(seed);
    const users = ['jane', 'bob', 'eve'];
    const groups = ['team-a', 'team-b', 'team-c'];
    const verbs = ['get', 'list', 'create'];
    const names = ['pods', 'pods/log', 'pods/*', '*/log', 'secrets', '*'];
    const rules = Array.from({ length: 200 }, (_, index) => {
      const isPath = random() < 0.3;
      const made = rule({
        users: some(random, users),
        userGroups: some(random, groups),
        verbs: some(random, verbs),
        ...(isPath
          ? { nonResourceURLs: some(random, ['/x', '/x*', '/api*']) }
          : {
              namespaces: some(random, ['a', 'b', '']),
              resources: some(random, ['', 'apps']).map((group) => ({
                group,
                resources: some(random, names),
                resourceNames: [],
              })),
            }),
      });
      return { ...made, users: [...made.users, ...(random() < 0.7 ? [`u${String(index)}`] : [])] };
    });
    const whole = new AuditPolicy(rules);
    const each = rules.map((one) => new AuditPolicy([one]));
    for (let count = 0; count < 2_000; count++) {
      const request =
        random() < 0.3
          ? path(pick(random, ['/x', '/x/y', '/api', '/other']))
          : resource({
              verb: pick(random, verbs),
              group: pick(random, ['', 'apps']),
              resource: pick(random, ['pods', 'secrets', 'nodes']),
              subresource: pick(random, ['', 'log']),
              namespace: pick(random, ['a', 'b', '']),
            });
      const who = user(pick(random, [...users, 'u7', 'u190']), ...some(random, groups));
      const first = each.findIndex((policy) => policy.outcomeOf(request, who).level !== 'None');
      const expected = first < 0 ? 'None' : rules[first]?.outcome;
      const found = whole.outcomeOf(request, who);
      if (first < 0) expect(found.level).toBe('None');
      else expect(found).toBe(expected);
    }
  });
});
