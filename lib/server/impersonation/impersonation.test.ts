import { beforeEach, describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import type { Attributes, Decision } from '../../authz/authorizer.ts';
import { systemClock } from '../../base/clock.ts';
import type { User } from '../../base/user.ts';
import { Impersonation } from './impersonation.ts';
import type { Impersonated } from './impersonation.ts';

const { signal } = new AbortController();
const naming = namingProfile('svc');
const own = 'authentication.svc.io';

const nodeName = naming.resolve('authentication.{kubernetes}.io/node-name');

let asked: string[] = [];
let first: Attributes | undefined;
let last: Attributes | undefined;
let allowed: ReadonlySet<string> = new Set();
beforeEach(() => {
  asked = [];
});

/** `VERB GROUP/RESOURCE[/SUBRESOURCE][ in NAMESPACE] NAME` */
function textOf(of: Attributes): string {
  const { verb, group, resource, subresource, namespace, name, path } = of;
  if (!of.isResourceRequest) return `${verb} ${path}`;
  const what = `${group}/${resource}${subresource === '' ? '' : `/${subresource}`}`;
  return `${verb} ${what}${namespace === '' ? '' : ` in ${namespace}`} ${name}`.trim();
}

const authorizer = {
  name: 'test',
  authorize(attributes: Attributes): Decision {
    const text = textOf(attributes);
    asked.push(text);
    if (asked.length === 1) first = attributes;
    last = attributes;
    return { effect: allowed.has(text) ? 'allow' : 'noOpinion', reason: '' };
  },
};

const bob: User = { name: 'bob', uid: '', groups: [], extra: {} };
const request = (user: User): Attributes => ({
  user,
  verb: 'list',
  isResourceRequest: true,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'n',
  name: '',
  fieldSelector: { requirements: [{ key: 'a', operator: 'in', values: ['b'] }] },
  labelSelector: undefined,
  path: '',
});
const open = (isConstrained: boolean): Impersonation =>
  new Impersonation({ authorizer, naming, clock: systemClock, isConstrained });

interface Case {
  readonly rights: readonly string[];
  readonly wanted: Partial<User>;
  readonly by?: User;
}
const become = (
  impersonation: Impersonation,
  { rights, wanted, by = bob }: Case,
): Promise<Impersonated> => {
  allowed = new Set(rights);
  const user = { name: 'jane', uid: '', groups: [], extra: {}, ...wanted };
  return impersonation.as(user, request(by), signal);
};

describe('Permission is the verb impersonate', () => {
  const users = 'impersonate /users jane';
  test.each([
    [{}, [users], ['system:authenticated']],
    [
      { groups: ['g', 'h'] },
      [users, 'impersonate /groups g', 'impersonate /groups h'],
      ['g', 'h', 'system:authenticated'],
    ],
    [{ uid: 'u' }, [users, `impersonate ${own}/uids u`], ['system:authenticated']],
    [
      { extra: { a: ['x', 'y'] }, uid: 'u' },
      [
        users,
        `impersonate ${own}/userextras/a x`,
        `impersonate ${own}/userextras/a y`,
        `impersonate ${own}/uids u`,
      ],
      ['system:authenticated'],
    ],
    [
      { name: 'system:serviceaccount:n:a' },
      ['impersonate /serviceaccounts in n a'],
      ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated'],
    ],
    [
      { name: 'system:serviceaccount:n:a', groups: ['only'] },
      ['impersonate /serviceaccounts in n a', 'impersonate /groups only'],
      ['only', 'system:authenticated'],
    ],
    [
      { name: 'system:serviceaccount:n' },
      ['impersonate /users system:serviceaccount:n'],
      ['system:authenticated'],
    ],
    [{ name: 'system:node:n1' }, ['impersonate /users system:node:n1'], ['system:authenticated']],
    [
      { name: 'system:anonymous' },
      ['impersonate /users system:anonymous'],
      ['system:unauthenticated'],
    ],
    [
      { groups: ['system:unauthenticated'] },
      [users, 'impersonate /groups system:unauthenticated'],
      ['system:unauthenticated'],
    ],
    [
      { groups: ['system:authenticated'] },
      [users, 'impersonate /groups system:authenticated'],
      ['system:authenticated'],
    ],
  ] as [Partial<User>, string[], string[]][])('%j needs %j', async (wanted, rights, groups) => {
    const { user, constraint } = await become(open(false), { rights, wanted });
    expect(asked).toEqual(rights);
    expect(user).toEqual({ name: 'jane', uid: '', extra: {}, ...wanted, groups });
    expect(constraint).toBe('');
    for (const missing of rights) {
      const others = rights.filter((right) => right !== missing);
      await expect(become(open(false), { rights: others, wanted })).rejects.toMatchObject({
        code: 403,
      });
    }
  });

  test('with constraints on, it is asked for last, and does what it did', async () => {
    const rights = [users, 'impersonate /groups system:masters'];
    const wanted = { groups: ['system:masters'] };
    const { user, constraint } = await become(open(true), { rights, wanted });
    expect([user.groups, constraint]).toEqual([['system:masters', 'system:authenticated'], '']);
    expect(asked).toEqual(['impersonate-on:user-info:list /pods in n', ...rights]);
  });
});

describe('constrained', () => {
  const on = (mode: string): string => `impersonate-on:${mode}:list /pods in n`;
  const agent: User = {
    name: 'system:serviceaccount:n:agent',
    uid: '',
    groups: [],
    extra: { [nodeName]: ['another'] },
  };
  const onNode = { ...agent, extra: { [nodeName]: ['n1'], a: ['1'] } };
  const asUser = `impersonate:user-info ${own}/users jane`;
  const groups = ['a', 'b', 'c', 'd'];
  test.each([
    ['user-info', {}, bob, [on('user-info'), asUser], ['system:authenticated']],
    [
      'user-info',
      { uid: 'u', groups: ['g'], extra: { 'a.io/b': ['x'] } },
      bob,
      [
        on('user-info'),
        asUser,
        `impersonate:user-info ${own}/uids u`,
        `impersonate:user-info ${own}/groups g`,
        `impersonate:user-info ${own}/userextras/a.io/b x`,
      ],
      ['g', 'system:authenticated'],
    ],
    [
      'user-info',
      { groups },
      bob,
      [on('user-info'), asUser, `impersonate:user-info ${own}/groups *`],
      [...groups, 'system:authenticated'],
    ],
    [
      'user-info',
      { extra: { 'a.io/b': groups } },
      bob,
      [on('user-info'), asUser, `impersonate:user-info ${own}/userextras/* *`],
      ['system:authenticated'],
    ],
    [
      'serviceaccount',
      { name: 'system:serviceaccount:m:sa' },
      bob,
      [on('serviceaccount'), `impersonate:serviceaccount ${own}/serviceaccounts in m sa`],
      ['system:serviceaccounts', 'system:serviceaccounts:m', 'system:authenticated'],
    ],
    [
      'arbitrary-node',
      { name: 'system:node:n1' },
      agent,
      [on('arbitrary-node'), `impersonate:arbitrary-node ${own}/nodes n1`],
      ['system:nodes', 'system:authenticated'],
    ],
    [
      'associated-node',
      { name: 'system:node:n1' },
      onNode,
      [on('associated-node'), `impersonate:associated-node ${own}/nodes *`],
      ['system:nodes', 'system:authenticated'],
    ],
  ] as [string, Partial<User>, User, string[], string[]][])(
    '%s lets %j be whom it is about',
    async (mode, wanted, by, rights, result) => {
      const made = await become(open(true), { rights, wanted, by });
      expect(asked).toEqual(rights);
      expect(made.user.groups).toEqual(result);
      expect(made.constraint).toBe(`impersonate:${mode}`);
      for (const missing of rights) {
        const others = rights.filter((right) => right !== missing);
        const again = become(open(true), { rights: others, wanted, by });
        await expect(again).rejects.toMatchObject({ code: 403 });
      }
    },
  );

  test.each([
    [{ groups: ['system:masters'] }, 'impersonating the system:masters group is not allowed'],
    [{ groups: ['g', ''] }, 'impersonating the empty string group is not allowed'],
    [{ extra: { plain: ['x'] } }, 'impersonating an invalid key in extra is not allowed'],
    [{ extra: { '': ['x'] } }, 'impersonating the empty string key in extra is not allowed'],
    [{ extra: { 'a.io/b': [''] } }, 'impersonating the empty string value in extra is not allowed'],
  ])('%j is refused whatever is granted: %s', async (wanted, why) => {
    const rights = [on('user-info'), asUser];
    await expect(become(open(true), { rights, wanted })).rejects.toThrow(why);
  });

  test('the first refusal is told; what the request selects is asked about, too', async () => {
    await expect(become(open(true), { rights: [], wanted: {} })).rejects.toThrow(
      'pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" ' +
        'in API group "" in the namespace "n"',
    );
    expect(asked).toEqual([on('user-info'), 'impersonate /users jane']);
    expect(first?.fieldSelector).toEqual(request(bob).fieldSelector);
  });

  test('authorizers see the keys of an agent, not the node it is on', async () => {
    const rights = [on('associated-node'), `impersonate:associated-node ${own}/nodes *`];
    await become(open(true), { rights, wanted: { name: 'system:node:n1' }, by: onNode });
    expect(last?.user.extra).toEqual({
      [naming.resolve('authentication.{kubernetes}.io/associated-node-keys')]: Object.keys(
        onNode.extra,
      ).sort(),
    });
  });

  test('the mode that was last allowed is asked for first', async () => {
    const impersonation = open(true);
    const rights = ['impersonate /users jane'];
    await become(impersonation, { rights, wanted: {} });
    asked = [];
    await become(impersonation, { rights, wanted: {} });
    expect(asked).toEqual(rights);
    asked = [];
    const refusal = become(impersonation, { rights: [], wanted: {} });
    await expect(refusal).rejects.toThrow('cannot impersonate resource "users"');
    expect(asked).toEqual([...rights, on('user-info')]);
  });
});
