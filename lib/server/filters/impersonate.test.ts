import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import WebSocket from 'ws';
import type { Authentication } from '../../authn/authenticator.ts';
import { innerFilters } from '../chain.ts';
import type { Filter } from '../request-context.ts';
import { sendNow } from '../respond.ts';
import {
  connect2,
  connectRaw,
  eventually,
  request1,
  request2,
  startTestServer,
} from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';

let server: TestServer;
let handled = 0;
let authorized = 0;
const handle: Filter = (request, response) => {
  handled++;
  const head = { status: 200, contentType: 'text/plain' };
  sendNow(request, response, head, Buffer.from('handled'));
};
/** Everybody is who the token says, nobody without one. */
const authenticate = ({ token }: { readonly token: string | undefined }): Authentication =>
  token === undefined
    ? { outcome: 'absent' }
    : {
        outcome: 'accepted',
        user: { name: token, uid: '', groups: ['system:masters'], extra: {} },
      };

beforeAll(async () => {
  server = await startTestServer({
    filters: innerFilters({
      authenticator: { name: 'test', authenticate },
      authorizer: {
        name: 'test',
        authorize: () => {
          authorized++;
          return { effect: 'allow', reason: '' };
        },
      },
      allowAnonymous: true,
      resources: handle,
      operatorPaths: handle,
    }),
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const path = '/api/v1/namespaces/a/pods';
const headers = [
  ['Impersonate-User', 'jane'],
  ['impersonate-user', ''],
  ['IMPERSONATE-GROUP', 'system:masters'],
  ['Impersonate-Uid', 'u'],
  ['Impersonate-Extra-Scopes', 'view'],
  ['impersonate-extra-acme.com%2fproject', 'x'],
  ['Impersonate-Anything', 'x'],
] as const;
const callers = [
  ['an administrator', { authorization: 'Bearer admin' }],
  ['nobody', {}],
] as const;

test.each(callers.flatMap(([who, own]) => headers.map((header) => [who, ...header, own] as const)))(
  '%s with %s: %p is 403, and no authorizer is asked',
  async (_who, name, value, own) => {
    [handled, authorized] = [0, 0];
    const session = await connect2(server);
    const sent = { headers: { ...own, [name.toLowerCase()]: value } };
    const upgrade = new WebSocket(`wss://127.0.0.1:${String(server.port)}${path}?watch=1`, {
      ca: server.ca,
      headers: { ...own, [name]: value },
    });
    upgrade.on('error', () => undefined);
    const [, refusal] = (await once(upgrade, 'unexpected-response')) as [
      unknown,
      { statusCode: number; resume(): void },
    ];
    refusal.resume();
    const answers = [
      await request1(server, path, { headers: { ...own, [name]: value } }),
      await request2(session, path, sent),
      await request1(server, '/livez', { headers: { ...own, [name]: value } }),
    ];
    session.destroy();
    upgrade.terminate();
    expect([refusal.statusCode, ...answers.map(({ status }) => status)]).toEqual([
      403, 403, 403, 403,
    ]);
    const body = answers[0]?.body.toString() ?? '';
    expect(JSON.parse(body)).toMatchObject({ kind: 'Status', reason: 'Forbidden' });
    expect(body).toContain(name.toLowerCase());
    expect({ handled, authorized }).toEqual({ handled: 0, authorized: 0 });
  },
);

test.each([100, 150, 197, 198, 199, 200, 201, 300, 1_000])(
  'behind %d other headers it is not overlooked',
  async (count) => {
    [handled, authorized] = [0, 0];
    const others = Array.from({ length: count }, (_, index) => `X-${String(index)}: a\r\n`);
    const raw = await connectRaw(server);
    raw.socket.write(
      `GET ${path} HTTP/1.1\r\nHost: a\r\n${others.join('')}Impersonate-User: jane\r\n\r\n`,
    );
    await eventually(() => raw.received() !== '');
    expect(raw.received()).toMatch(/^HTTP\/1\.1 4(03|31) /);
    raw.socket.destroy();
    const session = await connect2(server);
    const many = Object.fromEntries(others.map((_, index) => [`x-${String(index)}`, 'a']));
    const stream = session.request({ ':path': path, ...many, 'impersonate-user': 'jane' });
    stream.on('error', () => undefined);
    stream.on('response', ({ ':status': status }) => expect(status).toBe(403));
    stream.resume();
    await new Promise((resolve) => stream.once('close', resolve));
    session.destroy();
    expect({ handled, authorized }).toEqual({ handled: 0, authorized: 0 });
  },
);

test('other headers are nobody’s business', async () => {
  handled = 0;
  const answer = await request1(server, path, { headers: { 'x-impersonate-user': 'jane' } });
  expect([answer.status, handled]).toEqual([200, 1]);
});
