import { describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import type { SentHeaders } from '../../base/raw-headers.ts';
import { describeObjects, describeUser } from './described-user.ts';
import { dropImpersonationHeaders, mentionsImpersonation, readWantedUser } from './wanted-user.ts';

const read = (...rawHeaders: string[]): unknown => readWantedUser(rawHeaders, describeUser);

test.each([
  [['Impersonate-User', 'jane'], { name: 'jane', uid: '', groups: [], extra: {} }],
  [['IMPERSONATE-USER', 'jane', 'impersonate-user', 'john'], { name: 'jane' }],
  [['Impersonate-User', 'a', 'Impersonate-Uid', 'u'], { uid: 'u' }],
  [
    ['Impersonate-Group', 'b', 'Impersonate-User', 'a', 'impersonate-group', 'a, c'],
    { groups: ['b', 'a, c'] },
  ],
  [
    ['Impersonate-User', 'a', 'Impersonate-Extra-Scopes', 'x', 'impersonate-extra-sCOPES', 'Y'],
    { extra: { scopes: ['x', 'Y'] } },
  ],
  [
    ['Impersonate-User', 'a', 'Impersonate-Extra-Acme.com%2FProject', ''],
    { extra: { 'acme.com/project': [''] } },
  ],
  [['Impersonate-User', 'a', 'Impersonate-Extra-%2541%42', 'x'], { extra: { '%41b': ['x'] } }],
  [['Impersonate-User', 'a', 'Impersonate-Extra-5%', 'x'], { extra: { '5%': ['x'] } }],
  [['Impersonate-User', 'a', 'Impersonate-Extra-', 'x'], { extra: { '': ['x'] } }],
  [['Impersonate-User', Buffer.from('jörg').toString('latin1')], { name: 'jörg' }],
  [['Impersonate-User', 'a', 'Impersonate-Whatever', 'x'], { groups: [], extra: {} }],
])('%j is %j', (headers, user) => {
  expect(read(...headers)).toMatchObject(user);
});

test('a key named as a member of all objects is a key', () => {
  const user = readWantedUser(
    ['Impersonate-User', 'a', 'Impersonate-Extra-__proto__', 'x'],
    describeUser,
  );
  expect(Object.keys(user?.extra ?? {})).toEqual(['__proto__']);
});

test.each([[[]], [['Impersonate-User', '']], [['Impersonate-User', '', 'Impersonate-Uid', '']]])(
  '%j wants nobody',
  (headers) => {
    expect(read(...headers)).toBeUndefined();
  },
);

describe('Requires Impersonate-User', () => {
  const group = 'authentication.svc.io';
  test.each([
    [
      ['Impersonate-Group', 'g', 'Impersonate-Uid', 'u'],
      'requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string{"g"}, ' +
        'Extra:map[string][]string(nil)} without impersonating a user name',
      'requested [{Group  g    } {UID  u  authentication.svc.io/v1  }] ' +
        'without impersonating a user',
    ],
    [
      ['Impersonate-User', '', 'Impersonate-Extra-B', 'x', 'Impersonate-Extra-A', 'y'],
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), ' +
        'Extra:map[string][]string{"a":[]string{"y"}, "b":[]string{"x"}}} ' +
        'without impersonating a user name',
      'requested [{UserExtra  x  authentication.svc.io/v1  b} ' +
        '{UserExtra  y  authentication.svc.io/v1  a}] without impersonating a user',
    ],
  ])('%j is 400', (headers, constrained, plain) => {
    expect(() => readWantedUser(headers, describeUser)).toThrow(constrained);
    expect(() => readWantedUser(headers, (user) => describeObjects(user, group))).toThrow(plain);
  });
});

test('their number is bounded', () => {
  const groups = (count: number): string[] =>
    Array.from({ length: count }, () => ['Impersonate-Group', 'g']).flat();
  const user = ['Impersonate-User', 'a'];
  const most = limits.impersonationHeadersMax - 1;
  expect(read(...user, ...groups(most))).toBeDefined();
  expect(() => read(...user, ...groups(most + 1))).toThrow('at most 150');
});

test('text that is no UTF-8 is refused', () => {
  expect(() => read('Impersonate-User', '\xff')).toThrow('must be UTF-8');
});

test.each([
  [['Host', 'a', 'impersonate-user', 'x'], true],
  [['IMPERSONATE-ANYTHING', 'x'], true],
  [['impersonate-', 'x'], true],
  [['Host', 'Impersonate-User', 'X-Impersonate-User', 'x', 'impersonated', 'x'], false],
])('%j mentions it: %p', (headers, expected) => {
  expect(mentionsImpersonation(headers)).toBe(expected);
});

test('all of them are deleted, and nothing else', () => {
  const headers = {
    host: 'a',
    'impersonate-user': '',
    'impersonate-x': 'y',
    'x-impersonate-': 'z',
  };
  const rawHeaders = ['Host', 'a', 'Impersonate-User', '', 'IMPERSONATE-X', 'y', 'impersonate-x'];
  rawHeaders.push('z', 'X-Impersonate-', 'z');
  const request: SentHeaders = { headers, rawHeaders };
  dropImpersonationHeaders(request);
  expect(request.headers).toEqual({ host: 'a', 'x-impersonate-': 'z' });
  expect(rawHeaders).toEqual(['Host', 'a', 'X-Impersonate-', 'z']);
});
