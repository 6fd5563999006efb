// Groups of a token that come from elsewhere.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { signingAlgorithms } from '../../config/authentication-flags.ts';
import type { Authentication } from '../authenticator.ts';
import { ask, jwtOf, jwtParts, testContext } from '../testing/jwt-parts.ts';
import { TokenIssuer, issuerKey } from '../testing/token-issuer.ts';
import { JwtAuthenticator, JwtIssuer } from './jwt-authenticator.ts';
import { compileJwt } from './validate.ts';

let issuer: TokenIssuer;
let other: TokenIssuer;
let one: JwtIssuer;
let authenticator: JwtAuthenticator;
const bearers: (string | undefined)[] = [];

beforeAll(async () => {
  issuer = await TokenIssuer.start([await issuerKey('1')]);
  other = await TokenIssuer.start([await issuerKey('1')]);
  ({ one, authenticator } = await open({ claim: 'groups', prefix: 'g:', expression: '' }));
});
afterAll(async () => {
  one.close();
  await Promise.all([issuer[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
});

async function open(groups: { claim: string; prefix: string | undefined; expression: string }) {
  const parts = jwtParts();
  const compiled = compileJwt(jwtOf(issuer, { claimMappings: { groups } }), testContext());
  const made = new JwtIssuer(compiled, signingAlgorithms, parts);
  await made.keys.ready;
  return { one: made, authenticator: new JwtAuthenticator([made], parts) };
}

/** What the source of claims answers, to whoever asks. */
function serve(text: string): string {
  issuer.answers.set('/groups', (request: IncomingMessage, response: ServerResponse) => {
    bearers.push(request.headers.authorization);
    response.end(text);
  });
  return `${issuer.url}/groups`;
}

const named = (source: object | undefined) => ({
  _claim_names: { groups: 'src' },
  _claim_sources: { src: source },
});
const groupsOf = (answer: Authentication) =>
  answer.outcome === 'accepted' ? answer.user.groups : answer.outcome;
const asked = async (claims: Record<string, unknown>) =>
  groupsOf(await ask(authenticator, await issuer.sign(claims)));

test('are verified, and asked for with the token of the source', async () => {
  const endpoint = serve(await issuer.sign({ groups: ['dev', 'ops'] }));
  expect(await asked(named({ endpoint, access_token: 'abc' }))).toEqual(['g:dev', 'g:ops']);
  expect(await asked({ ...named({ endpoint }), jti: '2' })).toEqual(['g:dev', 'g:ops']);
  expect(bearers).toEqual(['Bearer abc', undefined]);
});

test('of another issuer count once its keys are known', async () => {
  const endpoint = serve(await other.sign({ groups: 'dev' }));
  const answers = new Set<unknown>();
  for (let at = 0; !answers.has('g:dev') && at < 2_000; at++) {
    const answer = await asked({ ...named({ endpoint }), jti: String(at) });
    answers.add(Array.isArray(answer) ? answer.join() : answer);
  }
  expect(answers).toEqual(new Set(['rejected', 'g:dev']));
});

test.each<[claim: string, claims: Record<string, unknown>]>([
  ['the token has them itself', { ...named({ endpoint: 'https://none.tests' }), groups: [] }],
  ['no source is named', { _claim_names: { roles: 'src' } }],
  ['the source is an aggregated one', named({ JWT: 'x' })],
])('there are none where %s', async (_claim, claims) => {
  expect(await asked(claims)).toEqual([]);
});

test.each<[claim: string, claims: () => Promise<Record<string, unknown>>]>([
  ['the source is missing', () => Promise.resolve(named(undefined))],
  ['the source does not answer', () => Promise.resolve(named({ endpoint: `${issuer.url}/none` }))],
  ['the source is without TLS', () => Promise.resolve(named({ endpoint: 'http://127.0.0.1/' }))],
  ['the source answers no token', () => Promise.resolve(named({ endpoint: serve('groups') }))],
  [
    'the token is for somebody else',
    async () => named({ endpoint: serve(await issuer.sign({ groups: 'a', aud: 'x' })) }),
  ],
  [
    'the token is forged',
    async () => named({ endpoint: serve(await other.sign({ iss: issuer.url, groups: 'a' })) }),
  ],
  ['the token has none', async () => named({ endpoint: serve(await issuer.sign({ iat: 1 })) })],
])('the token is rejected where %s', async (_claim, claims) => {
  expect(await asked(await claims())).toBe('rejected');
});

test('Distributed claims do not work with expressions', async () => {
  const expression = "has(claims.groups) ? claims.groups : 'none'";
  const byExpression = await open({ claim: '', prefix: undefined, expression });
  const endpoint = serve(await issuer.sign({ groups: 'dev' }));
  const answer = await ask(byExpression.authenticator, await issuer.sign(named({ endpoint })));
  expect(groupsOf(answer)).toEqual(['none']);
  byExpression.one.close();
});
