// One connection by hand to real members and to what is none.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { diagnose } from './diagnosis.ts';
import type { EtcdTlsFiles } from './endpoint.ts';
import { EtcdCluster } from './testing/etcd-process.ts';
import type { TestTlsFiles } from './testing/tls-files.ts';
import { writeTlsFiles } from './testing/tls-files.ts';

let plain: EtcdCluster;
let secure: EtcdCluster;
let own: TestTlsFiles;
let foreign: TestTlsFiles;
const folder = mkdtempSync(join(tmpdir(), 'diagnosis-'));
const servers: Server[] = [];

beforeAll(async () => {
  [plain, secure] = await Promise.all([EtcdCluster.start(), EtcdCluster.start({ tls: true })]);
  own = secure.tlsFiles ?? foreign;
  foreign = await writeTlsFiles(folder);
});
afterAll(async () => {
  for (const server of servers) server.close();
  await Promise.all([plain.stop(), secure.stop()]);
  rmSync(folder, { recursive: true });
});

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

const plainUrl = (): string => plain.endpoints[0] ?? '';
const secureUrl = (): string => secure.endpoints[0] ?? '';
const withScheme = (scheme: string, url: string): string => url.replace(/^https?/, scheme);

test('a member that can be used has no problem', async () => {
  expect(await diagnose(plainUrl(), {})).toBeUndefined();
  expect(await diagnose(secureUrl(), own)).toBeUndefined();
  expect(await diagnose(secureUrl().replace('127.0.0.1', 'localhost'), own)).toBeUndefined();
});

test.each<[string, () => [string, EtcdTlsFiles], string]>([
  ['TLS is missing', () => [withScheme('http', secureUrl()), {}], 'speaks TLS: write https://'],
  ['TLS is too much', () => [withScheme('https', plainUrl()), {}], 'without TLS: write http://'],
  ['no CA', () => [secureUrl(), {}], 'of an unknown CA: name it with --etcd-cafile'],
  [
    'another CA',
    () => [secureUrl(), { ...own, caFile: foreign.caFile }],
    'that --etcd-cafile did not sign',
  ],
  [
    'no client certificate',
    () => [secureUrl(), { caFile: own.caFile }],
    'wants a client certificate: give --etcd-certfile and --etcd-keyfile',
  ],
  [
    "another CA's client certificate",
    () => [secureUrl(), { ...foreign, caFile: own.caFile }],
    'does not take the certificate of --etcd-certfile (unknown ca)',
  ],
])('%s: waiting will not help', async (_, given, problem) => {
  const [url, tls] = given();
  const found = await diagnose(url, tls);
  expect(found?.problem).toContain(problem);
  expect(found?.isFinal).toBe(true);
});

test('what may yet come up is told apart', async () => {
  const silent = await listening(createServer());
  const closing = await listening(createServer((socket) => socket.destroy()));
  const http = await listening(createHttp((_, response) => response.end('hello')));
  const claims = [
    ['http://127.0.0.1:1', 'refuses connections'],
    ['https://127.0.0.1:1', 'refuses connections'],
    ['http://no-such-host.invalid:1', 'has a name that cannot be resolved'],
    [`http://${silent}`, 'takes connections and is silent'],
    [`https://${silent}`, 'takes connections and is silent'],
    [`http://${closing}`, 'is no etcd'],
    [`https://${closing}`, 'is no etcd'],
    [`http://${http}`, 'is no etcd'],
    [`https://${http}`, 'is no etcd'],
  ] as const;
  await Promise.all(
    claims.map(async ([url, problem]) => {
      const found = await diagnose(url, {});
      expect([url, found?.problem]).toEqual([url, expect.stringContaining(problem) as unknown]);
      expect(found?.isFinal).toBe(false);
    }),
  );
});
