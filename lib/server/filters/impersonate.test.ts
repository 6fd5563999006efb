import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import WebSocket from 'ws';
import { namingProfile } from '../../api/vendor.ts';
import type { Authentication, Credentials } from '../../authn/authenticator.ts';
import type { Attributes, Decision } from '../../authz/authorizer.ts';
import { systemClock } from '../../base/clock.ts';
import { innerFilters } from '../chain.ts';
import type { InnerFilterOptions } from '../chain.ts';
import { ResourceMapHolder } from '../../registry/resource-map.ts';
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
import type { TestAnswer, TestServer } from '../testing/test-server.ts';

interface Handled {
  readonly user: unknown;
  readonly by: string | undefined;
  readonly headers: readonly string[];
}

let handled: Handled[] = [];
let asked: string[] = [];
/** Tells who it is answered to, and which headers are left. */
const handle: Filter = (request, response) => {
  const { user, impersonator } = request.context;
  const headers = Object.keys(request.headers).filter((name) => name.includes('impersonate'));
  handled.push({ user, by: impersonator?.name, headers });
  const head = { status: 200, contentType: 'text/plain' };
  sendNow(request, response, head, Buffer.from('handled'));
};
/** Everybody is who the token says, nobody without one. */
const authenticate = ({ token }: Credentials): Authentication =>
  token === undefined
    ? { outcome: 'absent' }
    : { outcome: 'accepted', user: { name: token, uid: '', groups: [], extra: {} } };
/** The administrator may act as anybody, and everybody may do everything else, but jane. */
const authorize = ({ user, verb }: Attributes): Decision => {
  asked.push(`${user.name} ${verb}`);
  const isAllowed = verb.startsWith('impersonate') ? user.name === 'admin' : user.name !== 'jane';
  return { effect: isAllowed ? 'allow' : 'noOpinion', reason: '' };
};
const filtersOf = (change: Partial<InnerFilterOptions> = {}): readonly Filter[] =>
  innerFilters({
    authenticator: { name: 'test', authenticate },
    authorizer: { name: 'test', authorize },
    allowsAnonymous: () => true,
    naming: namingProfile('svc'),
    clock: systemClock,
    isConstrained: true,
    resourceMap: new ResourceMapHolder(),
    resources: handle,
    operatorPaths: handle,
    ...change,
  });

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ filters: filtersOf() });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  [handled, asked] = [[], []];
});

const path = '/api/v1/namespaces/a/pods';
const admin = { authorization: 'Bearer admin' };
type Headers = Readonly<Record<string, string | string[]>>;

/** The statuses of one request over HTTP/1.1, HTTP/2 and as a handshake of a WebSocket. */
async function everywhere(headers: Headers): Promise<TestAnswer[]> {
  const session = await connect2(server);
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const answers = [
    await request1(server, path, { headers }),
    await request2(session, path, { headers: Object.fromEntries(lower) as Headers }),
  ];
  session.destroy();
  const socket = new WebSocket(`wss://127.0.0.1:${String(server.port)}${path}?watch=1`, {
    ca: server.ca,
    headers: headers as Record<string, string>,
  });
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    { statusCode: number; headers: Record<string, string>; resume(): void },
  ];
  response.resume();
  socket.terminate();
  const { statusCode: status } = response;
  return [...answers, { status, headers: response.headers, body: Buffer.alloc(0) }];
}
const statuses = async (headers: Headers): Promise<number[]> =>
  (await everywhere(headers)).map(({ status }) => status);

test('who may becomes the target for all that follows, over every protocol', async () => {
  const headers = {
    ...admin,
    'Impersonate-User': 'john',
    'Impersonate-Group': ['a', 'b,c'],
    'Impersonate-Uid': 'u',
    'Impersonate-Extra-Acme.com%2FScopes': ['X', 'Y'],
  };
  expect(await statuses(headers)).toEqual([200, 200, 200]);
  const user = {
    name: 'john',
    uid: 'u',
    groups: ['a', 'b,c', 'system:authenticated'],
    extra: { 'acme.com/scopes': ['X', 'Y'] },
  };
  expect(handled).toEqual(Array(3).fill({ user, by: 'admin', headers: [] }));
});

test('names are UTF-8 over both versions of HTTP', async () => {
  const bytes = Buffer.from('jörg').toString('latin1');
  await request1(server, path, { headers: { ...admin, 'Impersonate-User': bytes } });
  const session = await connect2(server);
  await request2(session, path, { headers: { ...admin, 'impersonate-user': bytes } });
  session.destroy();
  expect(handled).toMatchObject(Array(2).fill({ user: { name: 'jörg' } }));
});

test('the target is authorized, not the caller', async () => {
  expect(await statuses({ ...admin, 'Impersonate-User': 'jane' })).toEqual([403, 403, 403]);
  expect(handled).toEqual([]);
  expect(asked.filter((text) => text.startsWith('jane'))).toEqual([
    'jane list',
    'jane list',
    'jane watch',
  ]);
});

test.each([
  ['a user without the permission', { authorization: 'Bearer bob' }],
  ['nobody', {}],
])('%s is refused, and nothing is done', async (_who, own) => {
  expect(await statuses({ ...own, 'Impersonate-User': 'john' })).toEqual([403, 403, 403]);
  expect(handled).toEqual([]);
  expect(asked.filter((text) => !text.includes('impersonate'))).toEqual([]);
});

test.each([
  [{ 'Impersonate-Group': 'system:masters' }],
  [{ 'Impersonate-Uid': 'u' }],
  [{ 'impersonate-extra-scopes': 'view' }],
  [{ 'IMPERSONATE-USER': '', 'impersonate-group': 'g' }],
])('%j alone is 400 for everybody', async (headers) => {
  expect(await statuses({ ...admin, ...headers })).toEqual([400, 400, 400]);
  expect([handled, asked]).toEqual([[], []]);
});

test.each([[{ 'Impersonate-User': '' }], [{ 'Impersonate-Anything': 'x' }]])(
  '%j wants nobody, and is not passed on',
  async (headers) => {
    expect(await statuses({ ...admin, ...headers })).toEqual([200, 200, 200]);
    expect(handled).toMatchObject(
      Array(3).fill({ user: { name: 'admin' }, by: undefined, headers: [] }),
    );
  },
);

test('paths that are no resources are asked for in the name of the target, too', async () => {
  const headers = { authorization: 'Bearer bob', 'Impersonate-User': 'john' };
  const answer = await request1(server, '/livez', { headers });
  expect(JSON.parse(answer.body.toString())).toMatchObject({
    code: 403,
    message: 'forbidden: User "bob" cannot impersonate-on:user-info:get path "/livez"',
  });
});

test.each([100, 150, 197, 198, 199, 200, 201, 300, 1_000])(
  'behind %d other headers it is not overlooked',
  async (count) => {
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
    expect(handled).toEqual([]);
  },
);

test('other headers are nobody’s business', async () => {
  const headers = { ...admin, 'x-impersonate-user': 'jane' };
  expect(await statuses(headers)).toEqual([200, 200, 200]);
  expect(asked.some((text) => text.includes('impersonate'))).toBe(false);
});

describe('ConstrainedImpersonation', () => {
  test('without the gate only impersonate is asked for', async () => {
    await using plain = await startTestServer({ filters: filtersOf({ isConstrained: false }) });
    const headers = { ...admin, 'Impersonate-User': 'john' };
    expect((await request1(plain, path, { headers })).status).toBe(200);
    expect(asked).toEqual(['admin impersonate', 'john list']);
    asked = [];
    expect((await request1(server, path, { headers })).status).toBe(200);
    expect(asked).toContain('admin impersonate-on:user-info:list');
  });
});
