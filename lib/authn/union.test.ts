import { describe, expect, test } from '@jest/globals';
import type { Authentication, Authenticator, Credentials } from './authenticator.ts';
import { testConnection, testCredentials } from './testing/credentials.ts';
import { staticTokenAuthenticator } from './static-token.ts';
import { unionAuthenticator } from './union.ts';

const signal = new AbortController().signal;
const user = { name: 'u', uid: '', groups: ['g'], extra: {} };
const accepted: Authentication = { outcome: 'accepted', user };
const absent: Authentication = { outcome: 'absent' };
const rejected: Authentication = { outcome: 'rejected', reason: 'no' };
const now = (answer: Authentication): Authenticator => ({
  name: 'now',
  authenticate: () => answer,
});
const later = (answer: Authentication): Authenticator => ({
  name: 'later',
  authenticate: () => Promise.resolve(answer),
});
const ask = (members: readonly Authenticator[]) =>
  unionAuthenticator(members).authenticate(testCredentials(), signal);

describe.each([
  ['at once', now],
  ['later', later],
])('members that answer %s', (_name, member) => {
  test.each([
    ['nobody', [], 'absent'],
    ['absent everywhere', [absent, absent], 'absent'],
    ['a rejection is remembered', [rejected, absent], 'rejected'],
    ['acceptance wins over an earlier rejection', [rejected, accepted], 'accepted'],
    ['the first acceptance wins', [accepted, rejected], 'accepted'],
  ])('%s', async (_claim, answers, outcome) => {
    expect((await ask(answers.map(member))).outcome).toBe(outcome);
  });
  test('the user becomes a member of system:authenticated, once', async () => {
    const answer = await ask([member(accepted)]);
    expect(answer).toMatchObject({ user: { groups: ['g', 'system:authenticated'] } });
    const again = await ask([member(answer)]);
    expect(again).toMatchObject({ user: { groups: ['g', 'system:authenticated'] } });
  });
  test('audiences are those of each answer', async () => {
    for (const audiences of [['a'], ['b'], undefined]) {
      const answer = await ask([member({ ...accepted, ...(audiences && { audiences }) })]);
      expect((answer as { audiences?: unknown }).audiences).toEqual(audiences);
    }
  });
});

test('each member sees all credentials, and the audiences that are asked for', async () => {
  const seen: Credentials[] = [];
  const member: Authenticator = {
    name: 'seeing',
    authenticate(credentials) {
      seen.push(credentials);
      return seen.length === 1 ? absent : { ...accepted, audiences: credentials.audiences };
    },
  };
  const credentials = testCredentials({
    token: 't',
    connection: testConnection(),
    rawHeaders: ['X-Remote-User', 'jane'],
    audiences: ['vault'],
  });
  const answer = await unionAuthenticator([member, member]).authenticate(credentials, signal);
  expect(answer).toMatchObject({ outcome: 'accepted', audiences: ['vault'] });
  expect(seen).toEqual([credentials, credentials]);
});

test.each([
  ['its own', ['api'], ['api']],
  ['some of its own', ['other', 'api'], ['api']],
  ['others', ['other'], undefined],
])('a member that knows no audiences, asked for %s', async (_whose, wanted, good) => {
  const union = unionAuthenticator([now(accepted)], ['api', 'api2']);
  const answer = await union.authenticate({ ...testCredentials(), audiences: wanted }, signal);
  expect(answer).toMatchObject(
    good === undefined ? { outcome: 'rejected' } : { outcome: 'accepted', audiences: good },
  );
});

test('a token that is not for the audiences may be good for the next member', async () => {
  const aware: Authentication = { ...accepted, audiences: ['other'] };
  const union = unionAuthenticator([now(accepted), later(aware)], ['api']);
  const answer = await union.authenticate({ ...testCredentials(), audiences: ['other'] }, signal);
  expect(answer).toMatchObject({ outcome: 'accepted', audiences: ['other'] });
});

test('a token that no member is for is rejected', async () => {
  const asked = (members: readonly Authenticator[]) =>
    unionAuthenticator(members).authenticate(testCredentials({ token: 't' }), signal);
  expect(await asked([])).toMatchObject({ outcome: 'rejected' });
  expect(await asked([now(absent), later(absent)])).toMatchObject({ outcome: 'rejected' });
  expect(await asked([now(absent), later(accepted)])).toMatchObject({ outcome: 'accepted' });
});

test.each([
  ['system:anonymous', []],
  ['u', ['system:unauthenticated']],
])('whom a proxy names as nobody (%s %j) is not authenticated', async (name, groups) => {
  const nobody: Authentication = { outcome: 'accepted', user: { ...user, name, groups } };
  expect(await ask([now(nobody)])).toMatchObject({ user: { groups } });
});

test('bad credentials cost each member one question and no wait: no storm slows others', () => {
  const asked = [0, 0];
  const counting = (index: number): Authenticator => ({
    name: String(index),
    authenticate() {
      asked[index] = (asked[index] ?? 0) + 1;
      return rejected;
    },
  });
  const users = new Map<string, typeof user>();
  const lookups: string[] = [];
  const get = users.get.bind(users);
  users.get = (digest) => {
    lookups.push(digest);
    return get(digest);
  };
  const members = [counting(0), staticTokenAuthenticator(users), counting(1)];
  const union = unionAuthenticator(members);
  for (let count = 0; count < 100; count++) {
    const token = `bad-${String(count % 2)}`;
    const answer = union.authenticate(testCredentials({ token }), signal);
    expect(answer).toMatchObject({ outcome: 'rejected' }); // no promise: no turn of anybody else
  }
  expect(asked).toEqual([100, 100]);
  expect(lookups).toHaveLength(100);
  expect(lookups.join()).not.toContain('bad');
});
