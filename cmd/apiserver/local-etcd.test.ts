// The etcd of a single machine: a real process below a temporary folder.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectory, parseIdentity } from './data-directory.ts';
import { startLocalEtcd } from './local-etcd.ts';
import { isAlive } from './process-identity.ts';

let directory: DataDirectory;
const never = new AbortController().signal;
const start = () => startLocalEtcd(directory, () => undefined, never);

beforeEach(() => {
  directory = DataDirectory.open(mkdtempSync(join(tmpdir(), 'local-etcd-')));
});
afterEach(() => rmSync(directory.path, { recursive: true }));

test('an etcd that cannot start says why in its own words', async () => {
  writeFileSync(directory.file('etcd'), 'a file in the place of the folder');
  const failure = await start().catch((error: unknown) => error);
  expect(failure).toMatchObject({
    name: 'FlagError',
    message: expect.stringMatching(
      /^the etcd of this server ended \(exit 1\): .*not a directory; its log is \/.*etcd\.log$/,
    ) as unknown,
  });
  expect(directory.read('etcd.pid')).toBeUndefined();
});

test('a log that cannot be written is named', async () => {
  mkdirSync(directory.file('etcd.log'));
  await expect(start()).rejects.toThrow(/^--data-dir: .*etcd\.log: is a folder, not a file$/);
});

test('a start that is given up leaves no process', async () => {
  const stopping = new AbortController();
  const stopBeforeSpawn = (line: string): void => {
    if (line.startsWith('etcd 3.')) stopping.abort(new Error('stopped'));
  };
  await expect(startLocalEtcd(directory, stopBeforeSpawn, stopping.signal)).rejects.toThrow(
    'stopped',
  );
  expect(directory.read('etcd.pid')).toBeUndefined();
  await (await start()).stop(); // which could not have the data while another process does
});

test('an etcd that ends by itself is told of', async () => {
  const etcd = await start();
  const identity = parseIdentity(directory.read('etcd.pid'));
  process.kill(identity?.pid ?? 0, 'SIGKILL');
  expect((await etcd.ended).message).toMatch(
    /^the etcd of this server ended \(exit SIGKILL\); its log is \/.*etcd\.log$/,
  );
  await etcd.stop();
  expect(identity !== undefined && isAlive(identity)).toBe(false);
});

/** What stands in the place of etcd runs `serve(port)`, and ends as etcd where it cannot listen. */
async function startStandIn(serve: string): Promise<void> {
  const path = directory.file('etcd.cjs');
  const script = `#!${process.execPath}
const { createServer } = require('node:net');
const { existsSync, writeFileSync } = require('node:fs');
const end = (error) => {
  console.error(JSON.stringify({ level: 'fatal', msg: 'discovery failed', error }));
  process.exit(1);
};
const serve = (port) => { ${serve} };
const flag = process.argv.find((one) => one.startsWith('--listen-client-urls='));
if (flag === undefined) console.log('etcd Version: 3.6.0');
else serve(Number(flag.slice(flag.lastIndexOf(':') + 1)));
`;
  writeFileSync(path, script, { mode: 0o700 });
  const before = process.env['ETCD_BIN'];
  process.env['ETCD_BIN'] = path;
  try {
    await (await start()).stop();
  } finally {
    if (before === undefined) delete process.env['ETCD_BIN'];
    else process.env['ETCD_BIN'] = before;
  }
}
const healthy = "socket.end('HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n')";
const listen = ".listen(port, '127.0.0.1').on('error', ({ message }) => end(message));";

test('a connection that is never answered is not waited for', () =>
  startStandIn(`
    let count = 0;
    createServer((socket) => {
      socket.on('error', () => undefined); // who gives up resets it
      if (count++ > 0) ${healthy};
    })${listen}
  `));

test('ports that somebody else has taken are not insisted on', () =>
  startStandIn(`
    const marker = ${JSON.stringify(directory.file('tried'))};
    if (existsSync(marker)) createServer((socket) => ${healthy})${listen}
    else {
      writeFileSync(marker, '');
      end('listen tcp 127.0.0.1: bind: address already in use');
    }
  `));
