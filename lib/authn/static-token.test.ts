import { describe, expect, test } from '@jest/globals';
import { parseTokenFile, staticTokenAuthenticator } from './static-token.ts';
import { testCredentials } from './testing/credentials.ts';

const never = new AbortController().signal;
const ask = (text: string, token: string | undefined) =>
  staticTokenAuthenticator(parseTokenFile(text)).authenticate(testCredentials({ token }), never);

describe('a token file', () => {
  test.each([
    ['t,u,1', { name: 'u', uid: '1', groups: [] }],
    ['t,u,', { name: 'u', uid: '', groups: [] }],
    ['t,u,1,g', { groups: ['g'] }],
    ['t,u,1,"a,b"', { groups: ['a', 'b'] }],
    ['t , u , 1 , " a , ,b "', { name: 'u', uid: '1', groups: ['a', 'b'] }],
    ['t,"a ""b""",1', { name: 'a "b"' }],
    ['# t,x,1\n\n  \nt,u,1\r\n', { name: 'u' }],
    ['other,x,1\nt,u,1,"g"\n', { name: 'u', groups: ['g'] }],
    ['t,__proto__,constructor', { name: '__proto__', uid: 'constructor' }],
  ])('%j gives the user', (text, user) => {
    expect(ask(text, 't')).toMatchObject({ outcome: 'accepted', user });
  });

  test.each([
    ['t,u', /line 1: expected token,user,uid/],
    ['x,u,1\n\nt', /line 3: expected/],
    [',u,1', /line 1: expected/],
    ['t,,1', /line 1: expected/],
    ['t,u,1\nt,v,2', /line 2: the token stands in an earlier line already/],
    ['t,u,1,"a', /line 1: a quote/],
    ['t,u,1,"a"b', /line 1: a quote/],
    ['t,a"b,1', /line 1: a quote/],
  ])('%j is refused, without the token in the message', (text, message) => {
    expect(() => parseTokenFile(text)).toThrow(message);
  });
});

test('other tokens are rejected, no token is absent, and one is good again and again', () => {
  expect(ask('t,u,1', 'other')).toMatchObject({ outcome: 'rejected' });
  expect(ask('t,u,1', undefined)).toEqual({ outcome: 'absent' });
  const authenticator = staticTokenAuthenticator(parseTokenFile('t,u,1'));
  const credentials = testCredentials({ token: 't' });
  const [first, second] = [1, 2].map(() => authenticator.authenticate(credentials, never));
  expect(first).toEqual(second);
});
