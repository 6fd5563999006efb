import { afterEach, expect, test } from '@jest/globals';
import type { Authorizer, Decision } from '../authorizer.ts';
import { attributesOf } from '../testing/attributes.ts';
import type { AuthorizerConfig } from './configuration.ts';
import { SwitchedAuthorizer } from './switched-authorizer.ts';

const { signal } = new AbortController();
const closed: string[] = [];
const openedNames: string[] = [];
afterEach(() => {
  closed.length = 0;
  openedNames.length = 0;
});

const rbac: AuthorizerConfig = { type: 'RBAC', name: 'rbac' };
const node: AuthorizerConfig = { type: 'Node', name: 'node' };
const hook = (name: string, timeoutMs = 1_000): AuthorizerConfig => ({
  type: 'Webhook',
  name,
  webhook: {
    kubeconfigFile: '/a',
    timeoutMs,
    authorizedTtlMs: 0,
    unauthorizedTtlMs: 0,
    version: 'v1',
    failurePolicy: 'Deny',
    expressions: [],
  },
});

/** Without an opinion; says its name, at once or later. */
function member(name: string): Authorizer {
  const decision: Decision = { effect: 'noOpinion', reason: name };
  const isLate = name.startsWith('late');
  return { name, authorize: () => (isLate ? Promise.resolve(decision) : decision) };
}

const open = ({ name }: AuthorizerConfig) => {
  if (name === 'bad') throw new Error('cannot be opened');
  openedNames.push(name);
  return { authorizer: member(name), close: () => void closed.push(name) };
};
const start = (...configs: readonly AuthorizerConfig[]) => SwitchedAuthorizer.start(configs, open);
const asked = async (authorizer: Authorizer): Promise<string> =>
  (await authorizer.authorize(attributesOf(), signal)).reason;

test('authorizers can be reordered; what changes is opened and closed', async () => {
  const authorizer = await start(hook('a'), node, rbac, hook('b'));
  expect(await asked(authorizer)).toBe('a\nnode\nrbac\nb');
  expect(await authorizer.replace([rbac, hook('b'), node, hook('c')])).toBe(true);
  expect(await asked(authorizer)).toBe('rbac\nb\nnode\nc');
  expect(openedNames).toEqual(['a', 'node', 'rbac', 'b', 'c']);
  expect(closed).toEqual(['a']);
  expect(await authorizer.replace([rbac, hook('b', 2_000), node, hook('c')])).toBe(true);
  expect(closed).toEqual(['a', 'b']);
  authorizer.close();
  expect(closed).toEqual(['a', 'b', 'rbac', 'b', 'node', 'c']);
});

test('the same again is no change', async () => {
  const authorizer = await start(node, rbac);
  expect(await authorizer.replace([node, rbac])).toBe(false);
  expect(await authorizer.replace([rbac, node])).toBe(true);
});

test.each<[configs: AuthorizerConfig[], message: string]>([
  [[rbac], 'authorizers: Node cannot be removed while the server runs'],
  [[hook('x')], 'authorizers: Node, RBAC cannot be removed while'],
  [[node, rbac, { type: 'ABAC', name: 'abac' }], 'authorizers: ABAC cannot be added while'],
  [
    [rbac, { type: 'AlwaysAllow', name: 'all' }],
    'authorizers: Node cannot be removed and AlwaysAllow cannot be added while',
  ],
  [[node, rbac, hook('fine'), hook('bad')], 'cannot be opened'],
])(
  'Node and RBAC authorizers cannot be added or removed on reload: %j changes nothing',
  async (configs, message) => {
    const authorizer = await start(node, rbac, hook('a'));
    await expect(authorizer.replace(configs)).rejects.toThrow(message);
    expect(await asked(authorizer)).toBe('node\nrbac\na');
    expect(closed).toEqual(openedNames.includes('fine') ? ['fine'] : []);
  },
);

test('one that cannot be opened ends the start', async () => {
  await expect(start(node, hook('a'), hook('bad'))).rejects.toThrow('cannot be opened');
  expect(closed).toEqual(['node', 'a']);
});

test('a request is decided wholly by one configuration', async () => {
  const authorizer = await start(hook('late-a'), rbac, hook('late-b'));
  const pending = asked(authorizer);
  await authorizer.replace([hook('late-c'), rbac]);
  expect(await pending).toBe('late-a\nrbac\nlate-b');
  expect(await asked(authorizer)).toBe('late-c\nrbac');
});
