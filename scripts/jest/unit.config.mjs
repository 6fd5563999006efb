// The tests that start no other process: what `npm run check` has time for. `npm test` runs the
// others, too.
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import all from '../../jest.config.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Fixtures that bring an etcd, a server on a socket, or npm. */
const fixtures = [
  'EtcdCluster',
  'RegistryOnEtcd',
  'ApiOnEtcd',
  'RestorableStore',
  'WatchServer',
  'CacheFixture',
  'startTestServer',
  'node:child_process',
  'startTinyServer',
];

/** @type {string[]} */
const slow = [];
for await (const file of glob('{lib,cmd,scripts,e2e}/**/*.test.ts', { cwd: root })) {
  const text = readFileSync(`${root}${file}`, 'utf8');
  if (fixtures.some((name) => text.includes(name))) slow.push(`/${file}$`);
}

export default {
  ...all,
  // Other steps of the check run beside it.
  maxWorkers: 2,
  rootDir: '../..',
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...slow],
};
