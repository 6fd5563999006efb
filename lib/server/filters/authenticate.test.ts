import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import https from 'node:https';
import WebSocket from 'ws';
import { anonymousRule } from '../../authn/anonymous.ts';
import type { AllowsAnonymous } from '../../authn/anonymous.ts';
import type { Authenticator, Credentials } from '../../authn/authenticator.ts';
import { namingProfile } from '../../api/vendor.ts';
import { CertificateBundle } from '../../base/certificate-bundle.ts';
import { certificateProofs } from '../../authn/certificate-proofs.ts';
import { clientCertificateAuthenticator } from '../../authn/client-cert.ts';
import { parseTokenFile, staticTokenAuthenticator } from '../../authn/static-token.ts';
import { digestOf } from '../../authn/token-digest.ts';
import { unionAuthenticator } from '../../authn/union.ts';
import { createTestCa } from '../../base/testing/certificates.ts';
import type { Filter } from '../request-context.ts';
import { sendNow } from '../respond.ts';
import { connect2, request1, request2, startTestServer, testTls } from '../testing/test-server.ts';
import { authenticateFilter } from './authenticate.ts';

const bundle = new CertificateBundle((await testTls()).ca.cert);
const authenticator = unionAuthenticator([
  clientCertificateAuthenticator({
    proofs: certificateProofs(() => bundle, Date.now),
    naming: namingProfile('svc'),
    hasUid: true,
    nowMs: Date.now,
  }),
  staticTokenAuthenticator(parseTokenFile('secret-token,alice,1,"dev"')),
]);
const whoAmI: Filter = (request, response) => {
  const { user } = request.context;
  const body = `${user?.name ?? ''} ${user?.groups.join() ?? ''}`;
  sendNow(request, response, { status: 200, contentType: 'text/plain' }, Buffer.from(body));
};
const start = (allowsAnonymous: AllowsAnonymous = () => true) =>
  startTestServer({ filters: [authenticateFilter({ authenticator, allowsAnonymous }), whoAmI] });

describe('authentication of a request', () => {
  test.each([
    ['a token', 'Bearer secret-token', 'alice dev,system:authenticated'],
    ['a token, scheme in lower case', 'bearer secret-token', 'alice dev,system:authenticated'],
    ['a token and more', 'Bearer secret-token more', 'alice dev,system:authenticated'],
    ['two spaces', 'Bearer  secret-token', 'system:anonymous system:unauthenticated'],
    ['a scheme alone', 'Bearer', 'system:anonymous system:unauthenticated'],
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

  test('asks each time who shows a token, and digests it once a connection', async () => {
    const users = parseTokenFile('one,alice,1\ntwo,bob,2');
    const digests: (string | undefined)[] = [];
    const members = staticTokenAuthenticator(users);
    const seen: Authenticator = {
      name: 'seen',
      authenticate(credentials, end) {
        digests.push(credentials.tokenDigest);
        return members.authenticate(credentials, end);
      },
    };
    const first = authenticateFilter({ authenticator: seen, allowsAnonymous: () => false });
    await using server = await startTestServer({ filters: [first, whoAmI] });
    const session = await connect2(server);
    const ask = async (authorization: string): Promise<string> => {
      const answer = await request2(session, '/', { headers: { authorization } });
      return answer.status === 200 ? answer.body.toString().trim() : String(answer.status);
    };
    const [one = '', two = ''] = ['one', 'two'].map(digestOf);
    expect(await ask('Bearer one')).toBe('alice');
    expect(await ask('Bearer one')).toBe('alice');
    expect(await ask('Bearer two')).toBe('bob');
    expect(await ask('Bearer two')).toBe('bob');
    expect(await ask('Bearer wrong')).toBe('401');
    expect(await ask('Bearer two')).toBe('bob');
    users.delete(two); // what it says is no longer so
    expect(await ask('Bearer two')).toBe('401');
    expect(await ask('Bearer one')).toBe('alice');
    const none = undefined;
    expect(digests).toEqual([none, one, none, two, none, two, two, none]);
    session.destroy();
  });

  test('may come with remarks: warnings, and annotations of the audit event', async () => {
    const remarks: Authenticator = {
      name: 'remarking',
      authenticate: () => ({
        outcome: 'accepted',
        user: { name: 'u', uid: '', groups: [], extra: {} },
        annotations: new Map([['key', 'text']]),
        warnings: ['use another one'],
      }),
    };
    const told: unknown[] = [];
    const tell: Filter = (request, response, next) => {
      const { warnings, auditAnnotations } = request.context;
      told.push([...warnings], [...(auditAnnotations ?? [])]);
      return next();
    };
    const first = authenticateFilter({ authenticator: remarks, allowsAnonymous: () => true });
    await using server = await startTestServer({ filters: [first, tell, whoAmI] });
    expect((await request1(server, '/')).status).toBe(200);
    expect(told).toEqual([['use another one'], [['key', 'text']]]);
  });

  test('without credentials is 401 with --anonymous-auth=false', async () => {
    await using server = await start(() => false);
    expect((await request1(server, '/')).status).toBe(401);
  });

  test.each([
    ['/livez', 200],
    ['/livez?verbose', 200],
    ['/live%7A', 200],
    ['/livez/', 401],
    ['/livez/ping', 401],
    ['/LIVEZ', 401],
    ['/', 401],
  ])('anonymous conditions: /livez alone, %s is %i', async (path, status) => {
    const conditions = [{ path: '/livez' }];
    await using server = await start(anonymousRule({ enabled: true, conditions }));
    expect((await request1(server, path)).status).toBe(status);
    const headers = { authorization: 'Bearer secret-token' };
    expect((await request1(server, path, { headers })).status).toBe(200);
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

describe('an authenticator', () => {
  const seen: Credentials[] = [];
  const seeing = authenticateFilter({
    allowsAnonymous: () => true,
    authenticator: {
      name: 'test',
      authenticate(credentials) {
        seen.push({ ...credentials, rawHeaders: [...credentials.rawHeaders] });
        return { outcome: 'absent' };
      },
    },
  });
  const startSeeing = () => {
    seen.length = 0;
    return startTestServer({ filters: [seeing, whoAmI] });
  };
  /** Values of a header, each as it was sent. */
  const valuesOf = (rawHeaders: readonly string[], name: string): string[] =>
    rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  const certificate = async (isForeign: boolean) => {
    const ca = isForeign ? await createTestCa('other') : (await testTls()).ca;
    return ca.issue({ use: 'clientAuth', commonName: 'bob' });
  };
  const headers = { 'x-remote-group': ['a', 'b, c'] };

  test.each([
    ['HTTP/1.1', false],
    ['HTTP/1.1', true],
    ['HTTP/2', false],
    ['HTTP/2', true],
  ] as const)(
    'sees over %s who is connected, once a connection (certificate of a foreign CA: %p)',
    async (protocol, isForeign) => {
      await using server = await startSeeing();
      const client = await certificate(isForeign);
      if (protocol === 'HTTP/2') {
        const session = await connect2(server, client);
        await request2(session, '/', { headers });
        await request2(session, '/');
        session.destroy();
      } else {
        const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca: server.ca });
        await request1(server, '/', { agent, client, headers });
        await request1(server, '/', { agent, client });
        agent.destroy();
      }
      const [first, second] = seen;
      expect(first?.connection?.remoteAddress).toBe('127.0.0.1');
      expect(first?.connection?.certificate?.subject).toBe('CN=bob');
      expect(valuesOf(first?.rawHeaders ?? [], 'x-remote-group')).toEqual(['a', 'b, c']);
      expect(second?.connection).toBe(first?.connection);
      expect(second?.connection?.certificate).toBe(first?.connection?.certificate);
      expect(first?.audiences).toEqual([]);
    },
  );

  test('sees them of a WebSocket, with the token in its subprotocols', async () => {
    await using server = await startSeeing();
    const token = Buffer.from('my-token').toString('base64url');
    const socket = new WebSocket(
      `wss://127.0.0.1:${String(server.port)}/api/v1/pods?watch=1`,
      [`base64url.bearer.authorization.k8s.io.${token}`, 'binary.k8s.io'],
      { ca: server.ca, ...(await certificate(false)), headers: { 'X-Remote-User': 'jane' } },
    );
    socket.on('error', () => undefined);
    await once(socket, 'unexpected-response');
    socket.terminate();
    expect(seen[0]).toMatchObject({ token: 'my-token' });
    expect(seen[0]?.connection?.certificate?.subject).toBe('CN=bob');
    expect(valuesOf(seen[0]?.rawHeaders ?? [], 'x-remote-user')).toEqual(['jane']);
  });
});

describe('behind authentication', () => {
  const names = [
    ...['X-Remote-User', 'x-remote-group', 'X-REMOTE-UID', 'X-Remote-Extra-Scopes'],
    ...['Authorization', 'X-Own-User', 'x-own-extra-a'],
  ];
  const others = ['x-remote-userx', 'X-Forwarded-For', 'Accept'];
  const identityHeaders = {
    ...{ username: ['x-own-user'], uid: [], groups: [] },
    extraPrefixes: ['x-own-extra-'],
  };

  test.each(['HTTP/1.1', 'HTTP/2'])('%s has no header that says who asks', async (protocol) => {
    const seen: string[][] = [];
    const look: Filter = (request, response, next) => {
      seen.push(Object.keys(request.headers));
      seen.push(request.rawHeaders.filter((_, at) => at % 2 === 0).map((one) => one.toLowerCase()));
      return whoAmI(request, response, next);
    };
    const filter = authenticateFilter({
      authenticator,
      allowsAnonymous: () => true,
      identityHeaders,
    });
    await using server = await startTestServer({ filters: [filter, look] });
    const headers = Object.fromEntries(
      [...names, ...others].map((name) => [
        name,
        name === 'Authorization' ? 'Basic x' : ['a', 'b'],
      ]),
    );
    const session = await connect2(server);
    const answer =
      protocol === 'HTTP/2'
        ? await request2(session, '/', { headers })
        : await request1(server, '/', { headers });
    session.destroy();
    expect(answer.body.toString()).toBe('system:anonymous system:unauthenticated');
    expect(seen).toHaveLength(2);
    for (const left of seen) {
      expect(left).toEqual(expect.arrayContaining(others.map((name) => name.toLowerCase())));
      for (const name of names) expect(left).not.toContain(name.toLowerCase());
    }
  });
});

test('a space too many before a token is warned of, and there are no credentials', async () => {
  const warnings: string[] = [];
  const look: Filter = (request, response, next) => {
    warnings.push(...request.context.warnings);
    return whoAmI(request, response, next);
  };
  const filter = authenticateFilter({ authenticator, allowsAnonymous: () => true });
  await using server = await startTestServer({ filters: [filter, look] });
  await request1(server, '/', { headers: { authorization: 'Bearer  secret-token' } });
  expect(warnings).toEqual([expect.stringContaining('contains extra space')]);
});
