import { describe, expect, test } from '@jest/globals';
import { clientCertificateAuthenticator } from '../../authn/client-cert.ts';
import { parseTokenFile, staticTokenAuthenticator } from '../../authn/static-token.ts';
import { unionAuthenticator } from '../../authn/union.ts';
import { createTestCa } from '../../base/testing/certificates.ts';
import type { Filter } from '../request-context.ts';
import { sendNow } from '../respond.ts';
import { connect2, request1, request2, startTestServer, testTls } from '../testing/test-server.ts';
import { authenticateFilter } from './authenticate.ts';

const authenticator = unionAuthenticator([
  clientCertificateAuthenticator(() => Date.now()),
  staticTokenAuthenticator(parseTokenFile('secret-token,alice,1,"dev"')),
]);
const whoAmI: Filter = (request, response) => {
  const { user } = request.context;
  const body = `${user?.name ?? ''} ${user?.groups.join() ?? ''}`;
  sendNow(request, response, { status: 200, contentType: 'text/plain' }, Buffer.from(body));
};
const start = (allowAnonymous = true) =>
  startTestServer({ filters: [authenticateFilter({ authenticator, allowAnonymous }), whoAmI] });

describe('authentication of a request', () => {
  test.each([
    ['a token', 'Bearer secret-token', 'alice dev,system:authenticated'],
    ['a token, scheme in lower case', 'bearer  secret-token', 'alice dev,system:authenticated'],
    ['nothing', undefined, 'system:anonymous system:unauthenticated'],
    ['another scheme', 'Basic secret-token', 'system:anonymous system:unauthenticated'],
    ['an empty token', 'Bearer ', 'system:anonymous system:unauthenticated'],
    ['a wrong token', 'Bearer wrong', 401],
  ])('by %s', async (_name, authorization, expected) => {
    await using server = await start();
    const headers = authorization === undefined ? {} : { authorization };
    const session = await connect2(server);
    for (const answer of [
      await request1(server, '/', { headers }),
      await request2(session, '/', { headers }),
    ]) {
      expect(answer.status === 200 ? answer.body.toString() : answer.status).toBe(expected);
    }
    session.destroy();
  });

  test('without credentials is 401 with --anonymous-auth=false', async () => {
    await using server = await start(false);
    expect((await request1(server, '/')).status).toBe(401);
  });

  test.each([
    ['of the client CA', {}, 'bob dev,ops,system:authenticated'],
    ['that has expired', { notAfter: new Date(Date.now() - 1_000) }, 401],
    ['made for servers', { use: 'serverAuth' }, 401],
    ['of another CA', { isForeign: true }, 401],
  ] as const)('by a certificate %s', async (_name, change, expected) => {
    await using server = await start();
    const ca = 'isForeign' in change ? await createTestCa('other') : (await testTls()).ca;
    const organizations = ['dev', 'ops'];
    const client = await ca.issue({
      use: 'clientAuth',
      commonName: 'bob',
      organizations,
      ...('notAfter' in change || 'use' in change ? change : {}),
    });
    const session = await connect2(server, client);
    for (const answer of [await request1(server, '/', { client }), await request2(session, '/')]) {
      expect(answer.status === 200 ? answer.body.toString() : answer.status).toBe(expected);
    }
    const headers = { authorization: 'Bearer secret-token' };
    const withToken = await request1(server, '/', { client, headers });
    expect(withToken.status).toBe(200); // a token counts beside a bad certificate
    session.destroy();
  });
});
