// Who the server is for which host: the order of the names, and files that cannot be used.
import { describe, expect, test } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { limits } from '../base/limits.ts';
import { followIdentities, readIdentities } from './host-identities.ts';
import type { HostIdentities } from './host-identities.ts';
import { clientParts, until } from './testing/open-calls.ts';
import { hookTls } from './testing/raw-server.ts';

const { parse } = clientParts();
const folder = mkdtempSync(join(tmpdir(), 'host-identities-'));
let fileCount = 0;
function fileOf(content: unknown): string {
  const path = join(folder, `${String(fileCount++)}.yaml`);
  writeFileSync(path, JSON.stringify(content));
  return path;
}
const user = (name: string, fields: object = { token: `of-${name}` }): object => ({
  name,
  user: fields,
});
const names = ['a.b.c:443', '*.b.c:443', 'x.b.c', '*.c', 'y.z:8443', '*.z:8443', '*.net:443'];
const contexts = [{ name: 'main', context: { user: 'fallback' } }];
const users = [...names, 'fallback'].map((name) => user(name));

describe('h.client-auth: a host is whom the first of these names', () => {
  test.each([
    ['itself with its port', 'a.b.c:443', 'a.b.c:443'],
    ['labels dropped, with the port, before itself without', 'x.b.c:443', '*.b.c:443'],
    ['labels dropped, without the port', 'q.c:443', '*.c'],
    ['more labels dropped', 'one.two.net:443', '*.net:443'],
    ['another port is never left out', 'x.b.c:8443', 'fallback'],
    ['another port', 'y.z:8443', 'y.z:8443'],
    ['labels dropped, another port', 'q.z:8443', '*.z:8443'],
    ['the current context', 'elsewhere:443', 'fallback'],
  ])('%s', async (_what, host, name) => {
    const { make } = await readOf({ users, contexts, 'current-context': 'main' });
    expect(make()(host)).toEqual({ authorization: `Bearer of-${name}` });
  });

  test('a star before the current context; nobody without either', async () => {
    const starred = await readOf({
      users: [user('*'), user('fallback')],
      ...{ contexts, 'current-context': 'main' },
    });
    expect(starred.make()('any:443')).toEqual({ authorization: 'Bearer of-*' });
    expect((await readOf({ users: [user('a')] })).make()('any:443')).toEqual({});
  });
});

const readOf = async (content: unknown): Promise<{ make: () => HostIdentities }> => {
  const read = await readIdentities(fileOf(content), parse);
  return { make: () => read.make() };
};

test('h.client-auth: token file, basic and client certificate', async () => {
  const { pair } = await hookTls();
  const token = join(folder, 'token');
  writeFileSync(token, 'from-file\n');
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { make } = await readOf({
    users: [
      user('a:1', { tokenFile: token }),
      user('b:1', { username: 'me', password: 'pw' }),
      user('c:1', {
        'client-certificate-data': base64(pair.cert),
        'client-key-data': base64(pair.key),
      }),
    ],
  });
  expect(make()('a:1')).toEqual({ authorization: 'Bearer from-file' });
  expect(make()('b:1')).toEqual({ authorization: `Basic ${base64('me:pw')}` });
  expect(make()('c:1')).toEqual({ clientCertificate: pair });
});

test.each<[problem: string, content: unknown]>([
  ['the file must hold named fields', 'text'],
  ['users must be a list', { users: {} }],
  ['an entry of users has no name', { users: [{}] }],
  ['exec.apiVersion must be one of', { users: [user('a', { exec: { command: 'x' } })] }],
  ['contexts has no entry "main"', { 'current-context': 'main' }],
  ['users has no entry "fallback"', { contexts, 'current-context': 'main' }],
  ['are no pair of PEM texts', { users: [user('a', broken())] }],
])('a file is refused: %s', async (problem, content) => {
  const using = readOf(content).then(({ make }) => make());
  await expect(using).rejects.toThrow(problem);
});

function broken(): object {
  const data = Buffer.from('none').toString('base64');
  return { 'client-certificate-data': data, 'client-key-data': data };
}

test('a changed file is used; one that cannot be used changes nothing', async () => {
  const clock = new ManualClock();
  const file = fileOf({ users: [user('*', { token: 'one' })] });
  const used: unknown[] = [];
  const parts = { ...clientParts(), clock };
  const followed = await followIdentities(file, parts, (now) => used.push(now('a:1')));
  expect(followed.current('a:1')).toEqual({ authorization: 'Bearer one' });
  for (const content of [{ users: 1 }, { users: [user('*', { token: 'two' })] }]) {
    writeFileSync(file, JSON.stringify(content));
    await until(() => clock.waitsMs.length === 1);
    clock.pass(limits.clientFilesIntervalMs);
  }
  await until(() => used.length === 1);
  expect(used).toEqual([{ authorization: 'Bearer two' }]);
  followed.close();
});
