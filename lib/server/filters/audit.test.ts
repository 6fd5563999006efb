import { beforeAll, expect, test } from '@jest/globals';
import https from 'node:https';
import type { Scheme } from '../../api/scheme.ts';
import { namingProfile } from '../../api/vendor.ts';
import type { Authenticator } from '../../authn/authenticator.ts';
import { abortable } from '../../base/abort.ts';
import { forbiddenRequest } from '../../base/status.ts';
import type { User } from '../../base/user.ts';
import { builtInScheme } from '../../kinds/built-in-kinds.ts';
import { Auditing } from '../testing/auditing.ts';
import { eventually, request1, startTestServer } from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';
import type { Filter } from '../request-context.ts';
import { sendNow } from '../respond.ts';
import { auditFilter, auditRefusedCredentials } from './audit.ts';
import { authenticateFilter } from './authenticate.ts';

const path = '/api/v1/namespaces/a/pods/x';
const userOf = (name: string): User => ({ name, uid: '', groups: [], extra: {} });
const authenticator: Authenticator = {
  name: 'test',
  authenticate: ({ token = '' }) => ({ outcome: 'accepted', user: userOf(token) }),
};

let scheme: Scheme;
beforeAll(() => {
  scheme = builtInScheme({ profile: namingProfile('kubernetes') });
});

/** Filters of the product around one of the test's. */
async function start(inner: Filter, omitStages: readonly string[] = ['RequestReceived']) {
  const auditing = new Auditing(scheme, { rules: [{ level: 'RequestResponse', omitStages }] });
  const filters = [
    authenticateFilter({
      authenticator,
      allowsAnonymous: () => true,
      onRefused: auditRefusedCredentials(auditing.auditor),
    }),
    auditFilter(auditing.auditor),
    inner,
  ];
  const server = await startTestServer({ filters, requestTimeoutMs: 300 });
  return { auditing, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
const ask = (server: TestServer) =>
  request1(server, path, { headers: { authorization: 'Bearer jane' } });

test('a fault of the server is the stage Panic, which quotes nothing of it', async () => {
  await using running = await start(() => {
    throw new Error('a bug with CANARY in it');
  });
  expect((await ask(running.server)).status).toBe(500);
  const [event, ...more] = running.auditing.events();
  expect(more).toEqual([]);
  expect(event).toMatchObject({
    stage: 'Panic',
    user: { username: 'jane' },
    responseStatus: { code: 500, status: 'Failure', reason: 'InternalError' },
  });
  expect(JSON.stringify(event)).not.toContain('CANARY');
});

test('a fault that comes later, and after the event before it waited', async () => {
  await using running = await start(() => Promise.reject(new Error('a bug')), ['ResponseComplete']);
  running.auditing.process = () => new Promise((resolve) => setTimeout(() => resolve(true), 5));
  expect((await ask(running.server)).status).toBe(500);
  expect(running.auditing.stages()).toEqual(['RequestReceived', 'Panic']);
});

test('a refusal is complete, with the Status that is sent', async () => {
  await using running = await start(() => Promise.reject(forbiddenRequest('no')));
  const answer = await ask(running.server);
  const sent = JSON.parse(answer.body.toString()) as object;
  expect(running.auditing.events()).toMatchObject([
    {
      stage: 'ResponseComplete',
      responseStatus: { code: 403, message: 'no' },
      responseObject: sent,
    },
  ]);
});

test('a request that is not answered in time is complete with its 504', async () => {
  await using running = await start(({ context }) =>
    abortable(new Promise<void>(() => undefined), context),
  );
  expect((await ask(running.server)).status).toBe(504);
  expect(running.auditing.events()).toMatchObject([
    { stage: 'ResponseComplete', responseStatus: { code: 504, reason: 'Timeout' } },
  ]);
});

test('a client that leaves before the answer is told so in the event', async () => {
  let isReached = false;
  await using running = await start(({ context }) => {
    isReached = true;
    return abortable(new Promise<void>(() => undefined), context);
  });
  const { port, ca } = running.server;
  const request = https.get({ host: '127.0.0.1', port, ca, path });
  request.on('error', () => undefined);
  await eventually(() => isReached);
  request.destroy();
  await eventually(() => running.auditing.events().length === 1);
  expect(running.auditing.events()).toMatchObject([
    {
      stage: 'ResponseComplete',
      responseStatus: { code: 200, status: 'Success', message: 'Connection closed early' },
    },
  ]);
});

test('whoever acts as another one is the user, and the other one is beside them', async () => {
  await using running = await start((request, response) => {
    const { context } = request;
    context.impersonator = context.user;
    context.user = { ...userOf('bob'), groups: ['g'], extra: { k: ['v'] } };
    context.impersonationConstraint = 'impersonate:user-info';
    sendNow(request, response, { status: 200, contentType: 'text/plain' }, Buffer.from('ok'));
  }, []);
  await ask(running.server);
  const [received, complete] = running.auditing.events();
  expect(received).toMatchObject({ user: { username: 'jane' } });
  expect(received).not.toHaveProperty('impersonatedUser');
  expect(complete).toMatchObject({
    user: { username: 'jane' },
    impersonatedUser: { username: 'bob', groups: ['g'], extra: { k: ['v'] } },
    authenticationMetadata: { impersonationConstraint: 'impersonate:user-info' },
  });
});

test('a request does not wait longer for its event than it has time', async () => {
  await using running = await start(() => undefined, ['ResponseComplete']);
  running.auditing.process = () => new Promise(() => undefined);
  expect((await ask(running.server)).status).toBe(504);
});

test('stages that are omitted make no event', async () => {
  const all = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'];
  await using running = await start(() => Promise.reject(forbiddenRequest('no')), all);
  await ask(running.server);
  expect(running.auditing.events()).toEqual([]);
  expect(running.auditing.observer.recordedCount).toBe(0);
  expect(running.auditing.observer.levels).toEqual(['RequestResponse']);
});
