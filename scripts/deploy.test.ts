// What lies in deploy/ beside images: units of systemd are hardened, and the flags in their
// environment are flags of this product.
import { expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseFlags } from '../lib/config/parse-flags.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'deploy/systemd');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const units = readdirSync(folder).filter((name) => name.endsWith('.service'));
/** Of ten; less is better. */
const exposureMax = 2.5;

const hasTool = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasTool) process.stdout.write('units are not judged: systemd-analyze is not here\n');

test('there are units', () => {
  expect(units).toEqual(['apiserver.service', 'etcd.service']);
});

(hasTool ? test.each(units) : test.skip.each(units))('%s is hardened', (name) => {
  const args = ['security', '--offline=true', '--no-pager', join(folder, name)];
  const text = execFileSync('systemd-analyze', args, { encoding: 'utf8' });
  const exposure = Number(/exposure level for .*: ([\d.]+)/.exec(text)?.[1]);
  expect(exposure).toBeLessThanOrEqual(exposureMax);
});

(hasTool ? test.each(units) : test.skip.each(units))('%s has no setting unknown', (name) => {
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', join(folder, name)]);
  const text = `${String(stdout)}${String(stderr)}`;
  // The programs themselves are not at their places here.
  expect(text.split('\n').filter((line) => /Unknown|Failed to parse|Invalid/i.test(line))).toEqual(
    [],
  );
});

test('the flags of apiserver.env are known, and none of them is warned of', () => {
  const text = read('apiserver.env').replaceAll('\\\n', '');
  const value = /^APISERVER_FLAGS="([^"]*)"$/m.exec(text)?.[1] ?? '';
  const words = value
    .trim()
    .split(/\s+/)
    .map((word) => word.replace('=ADDRESS', '=10.0.0.1').replace('ETCD_SERVERS', 'https://a:1'));
  expect(words.length).toBeGreaterThan(10);
  expect(parseFlags(words).warnings).toEqual([]);
});

test('the unit starts Node as `npm start` does', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const given = scripts.start.match(/--[\w=-]+|MALLOC_\w+=\d+/g) ?? [];
  expect(given.length).toBeGreaterThan(3);
  for (const setting of given) expect(read('apiserver.service')).toContain(setting);
});

test('a drain ends before systemd ends it', () => {
  const stopSeconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(read('apiserver.service'))?.[1]);
  const delaySeconds = Number(/--shutdown-delay-duration=(\d+)s/.exec(read('apiserver.env'))?.[1]);
  expect(stopSeconds).toBeGreaterThan(delaySeconds + 60);
});
