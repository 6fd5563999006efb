// What filters may do around what follows them, by three that could be files of this folder: one
// that follows the stages of a request, one that makes it wait for a seat, one that makes it
// another user's.
import { describe, expect, test } from '@jest/globals';
import https from 'node:https';
import { once } from 'node:events';
import type { Authorizer } from '../../authz/authorizer.ts';
import { abortable } from '../../base/abort.ts';
import type { Waiter } from '../../base/abort.ts';
import { StatusError, forbiddenRequest } from '../../base/status.ts';
import type { User } from '../../base/user.ts';
import type { Filter } from '../request-context.ts';
import { sendNow, writeHead } from '../respond.ts';
import { eventually, request1, startTestServer } from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';
import { authenticateFilter } from './authenticate.ts';
import { attributesOf, authorizeFilter } from './authorize.ts';

const text = { status: 200, contentType: 'text/plain' };
const userOf = (name: string): User => ({ name, uid: '', groups: [], extra: {} });
/** Everybody is who the token says. */
const authenticate = authenticateFilter({
  allowsAnonymous: () => true,
  authenticator: {
    name: 'test',
    authenticate: ({ token }) =>
      token === undefined ? { outcome: 'absent' } : { outcome: 'accepted', user: userOf(token) },
  },
});
/** Streams watches until their client leaves; fails as the name says; says who asks. */
const handle: Filter = async (request, response) => {
  const { context } = request;
  if (context.info.name === 'bug') throw new Error('a bug');
  if (context.info.name === 'refused') throw forbiddenRequest('no');
  if (context.info.verb !== 'watch') {
    sendNow(request, response, text, Buffer.from(context.user?.name ?? ''));
    return;
  }
  writeHead(request, response, text, undefined);
  (response as { flushHeaders(): void }).flushHeaders();
  context.startStreaming(Infinity);
  await once(context.signal, 'abort');
};
const pods = '/api/v1/namespaces/a/pods';
const as = (name: string, more: object = {}) => ({
  headers: { authorization: `Bearer ${name}`, ...more },
});

/** A watch whose answer has begun; the function given leaves it. */
async function watching(server: TestServer): Promise<() => void> {
  const path = `${pods}?watch=1`;
  const request = https.get({ port: server.port, host: '127.0.0.1', path, ca: server.ca });
  request.on('error', () => undefined);
  await once(request, 'response');
  return () => request.destroy();
}

describe('a filter that audits', () => {
  const stages: string[] = [];
  const audit: Filter = async ({ context }, response, next) => {
    const { info, user } = context;
    const note = (stage: string): void => {
      stages.push(`${stage} ${info.verb} ${user?.name ?? ''} ${String(response.statusCode)}`);
    };
    let isComplete = true;
    note('RequestReceived');
    context.whenStreaming(() => note('ResponseStarted'));
    response.once('close', () => {
      if (isComplete) note('ResponseComplete');
    });
    try {
      await next();
    } catch (error) {
      if (!(error instanceof StatusError)) {
        isComplete = false;
        note('Panic');
      }
      throw error;
    }
  };
  const start = () => startTestServer({ filters: [authenticate, audit, handle] });

  test.each([
    ['', 'list', 'ResponseComplete list jane 200'],
    ['/refused', 'get', 'ResponseComplete get jane 403'],
    ['/bug', 'get', 'Panic get jane 200'],
  ])('sees %s %s received, and how it ended', async (name, verb, ending) => {
    await using server = await start();
    stages.length = 0;
    await request1(server, `${pods}${name}`, as('jane'));
    await eventually(() => stages.length === 2);
    expect(stages).toEqual([`RequestReceived ${verb} jane 200`, ending]);
  });

  test('sees a watch begin its answer before it ends', async () => {
    await using server = await start();
    stages.length = 0;
    const leave = await watching(server);
    expect(stages.map((stage) => stage.split(' ', 1)[0])).toEqual([
      'RequestReceived',
      'ResponseStarted',
    ]);
    leave();
    await eventually(() => stages[2]?.startsWith('ResponseComplete watch') === true);
  });
});

describe('a filter that has one seat', () => {
  let waiting: (() => void)[] = [];
  let isTaken = false;
  const take = async (end: Waiter): Promise<() => void> => {
    if (isTaken) {
      let turn = (): void => undefined;
      const seat = new Promise<void>((resolve) => waiting.push((turn = resolve)));
      try {
        await abortable(seat, end);
      } catch (error) {
        waiting = waiting.filter((one) => one !== turn);
        throw error;
      }
    }
    isTaken = true;
    let isMine = true;
    return () => {
      if (!isMine) return;
      isMine = false;
      isTaken = false;
      waiting.shift()?.();
    };
  };
  const seats: Filter = async ({ context }, response, next) => {
    const leave = await take(context);
    context.whenStreaming(leave);
    response.once('close', leave);
    await next();
  };
  const held: (() => void)[] = [];
  const slow: Filter = async (request, response, next) => {
    if (request.context.info.name === 'slow') {
      await new Promise<void>((resolve) => held.push(resolve));
    }
    return next();
  };
  const start = () => startTestServer({ filters: [authenticate, seats, slow, handle] });

  test('lets the next one in when the response before it has ended, failed or not', async () => {
    await using server = await start();
    const [first, second] = [`${pods}/slow`, `${pods}/refused`].map((path) =>
      request1(server, path),
    );
    await eventually(() => held.length === 1 && waiting.length === 1);
    held.pop()?.();
    expect((await first)?.status).toBe(200);
    expect((await second)?.status).toBe(403);
    expect((await request1(server, pods)).status).toBe(200);
    await eventually(() => !isTaken);
  });

  test('gets it back from a watch that has begun', async () => {
    await using server = await start();
    const leave = await watching(server);
    expect((await request1(server, pods)).status).toBe(200);
    leave();
  });

  test('forgets a client that does not wait for it', async () => {
    await using server = await start();
    const first = request1(server, `${pods}/slow`);
    await eventually(() => held.length === 1);
    const impatient = https.get({
      port: server.port,
      host: '127.0.0.1',
      path: pods,
      ca: server.ca,
    });
    impatient.on('error', () => undefined);
    await eventually(() => waiting.length === 1);
    impatient.destroy();
    await eventually(() => waiting.length === 0);
    held.pop()?.();
    expect((await first).status).toBe(200);
    await eventually(() => !isTaken);
  });
});

test('a filter that swaps the user: authorization and handlers see the other one', async () => {
  const asked: string[] = [];
  const authorizer: Authorizer = {
    name: 'test',
    authorize: ({ user, verb, resource, name }) => {
      asked.push(`${user.name} ${verb} ${resource} ${name}`.trim());
      const isAllowed = verb !== 'impersonate' || user.name === 'admin';
      return { effect: isAllowed ? 'allow' : 'noOpinion', reason: '' };
    },
  };
  const impersonate: Filter = async ({ context, headers }, _response, next) => {
    const name = headers['impersonate-user'];
    if (typeof name !== 'string') return next();
    const right = { verb: 'impersonate', resource: 'users', namespace: '', name };
    const { effect } = await authorizer.authorize(attributesOf(context, right), context);
    if (effect !== 'allow') throw forbiddenRequest('no');
    context.user = userOf(name);
    return next();
  };
  const filters = [authenticate, impersonate, authorizeFilter(authorizer), handle];
  await using server = await startTestServer({ filters });
  const header = { 'impersonate-user': 'jane' };
  const answer = await request1(server, pods, as('admin', header));
  expect(answer.body.toString()).toBe('jane');
  expect(asked).toEqual(['admin impersonate users jane', 'jane list pods']);
  asked.length = 0;
  expect((await request1(server, pods, as('mallory', header))).status).toBe(403);
  expect(asked).toEqual(['mallory impersonate users jane']);
});
