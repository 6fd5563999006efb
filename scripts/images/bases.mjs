// The images that the set-up is made of, and how each is made of Debian packages where no registry
// offers it: the packages and their libraries unpacked into an empty folder, nothing configured.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
} from 'node:fs';
import { realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { newerSuites, openSuite } from '../debian-packages.mjs';
import { compareVersions } from '../etcd.mjs';

/**
 * @typedef {{
 *   variable: string,
 *   local: string,
 *   what: string,
 *   packages: readonly string[],
 *   minimum: string,
 *   optional?: boolean,
 *   add?: (tree: string) => void,
 * }} Base variable: names another image in its place; minimum: of the first package
 */

/** Of every base: what a C++ program needs. */
const runtime = ['libc6', 'libstdc++6', 'base-files', 'netbase'];

/** @type {readonly Base[]} */
export const bases = [
  {
    variable: 'BASE_IMAGE',
    local: 'svc-apiserver/base:debian',
    what: 'what the product runs on beside Node',
    packages: runtime,
    minimum: '2.28',
  },
  {
    variable: 'NODE_IMAGE',
    local: 'svc-apiserver/node:debian',
    what: 'Node 24 and npm, which build the product',
    packages: runtime,
    minimum: '2.28',
    add: addNode,
  },
  {
    variable: 'ETCD_IMAGE',
    local: 'svc-apiserver/etcd:debian',
    what: 'etcd and etcdctl',
    packages: ['etcd-server', 'etcd-client', ...runtime],
    minimum: '3.5.24',
  },
  {
    variable: 'HAPROXY_IMAGE',
    local: 'svc-apiserver/haproxy:debian',
    // Its health check is a line of bash, as in the published image.
    what: 'haproxy and bash',
    packages: ['haproxy', 'bash', ...runtime],
    minimum: '3.2.0',
    add: addHaproxyPath,
  },
  {
    variable: 'PROMETHEUS_IMAGE',
    local: 'svc-apiserver/prometheus:debian',
    what: 'Prometheus and promtool',
    packages: ['prometheus', 'promtool', ...runtime],
    minimum: '3.5.0',
  },
];

const root = join(import.meta.dirname, '../..');
/** Of no use in a container. */
const unused = [
  'usr/share/doc',
  'usr/share/man',
  'usr/share/info',
  'usr/share/locale',
  'etc/init.d',
];
const userId = 65532;

/**
 * Unpacks bases, each of the first suite that is new enough; an index is read once for all.
 * @param {readonly Base[]} wanted
 * @param {{ workFolder: string, log: (line: string) => void }} options
 * @param {(base: Base, tree: string, labels: Record<string, string>) => Promise<void>} use
 */
export async function unpackBases(wanted, { workFolder, log }, use) {
  const left = new Set(wanted);
  /** @type {string[]} */
  const seen = [];
  for (const suite of newerSuites()) {
    if (left.size === 0) return;
    const folder = join(workFolder, suite);
    const opened = await openSuite(suite, folder).catch((error) => {
      seen.push(error instanceof Error ? error.message : String(error));
      return undefined;
    });
    if (opened === undefined) continue;
    for (const base of left) {
      const version = await opened.version(base.packages[0] ?? '');
      seen.push(`${suite} has ${base.packages[0]} ${version ?? 'not'}`);
      if (version === undefined || compareVersions(version, base.minimum) < 0) continue;
      const packages = await opened.withLibraries(base.packages);
      log(`${base.local}: ${packages.length} packages of Debian ${suite}`);
      const tree = join(folder, base.variable);
      await opened.unpack(packages, tree);
      finishTree(tree);
      base.add?.(tree);
      await use(base, tree, { 'org.opencontainers.image.version': version, suite });
      rmSync(tree, { recursive: true, force: true });
      left.delete(base);
    }
    opened.dispose();
  }
  if (left.size > 0) {
    const names = [...left].map(({ packages, minimum }) => `${packages[0]} ${minimum} or newer`);
    throw new Error(`no suite has ${names.join(', ')} (${seen.join('; ')})`);
  }
}

/** @param {string} tree */
function finishTree(tree) {
  for (const folder of ['bin', 'sbin', 'lib', 'lib64']) mergeIntoUsr(tree, folder);
  mkdirSync(join(tree, 'tmp'), { recursive: true });
  chmodSync(join(tree, 'tmp'), 0o1777);
  for (const folder of unused) rmSync(join(tree, folder), { recursive: true, force: true });
  removeGconv(join(tree, 'usr/lib'));
  const users = [`root:x:0:0:root:/root:/nologin`, `nonroot:x:${userId}:${userId}::/home:/nologin`];
  writeFileSync(join(tree, 'etc/passwd'), `${users.join('\n')}\n`);
  writeFileSync(join(tree, 'etc/group'), `root:x:0:\nnonroot:x:${userId}:\n`);
  writeFileSync(join(tree, 'etc/nsswitch.conf'), 'hosts: files dns\n');
}

/**
 * Older suites have packages that still lie outside of /usr.
 * @param {string} tree
 * @param {string} folder
 */
function mergeIntoUsr(tree, folder) {
  const outside = join(tree, folder);
  const inside = join(tree, 'usr', folder);
  mkdirSync(inside, { recursive: true });
  if (existsSync(outside) && !lstatSync(outside).isSymbolicLink()) {
    cpSync(outside, inside, { recursive: true, verbatimSymlinks: true });
    rmSync(outside, { recursive: true });
  }
  if (!existsSync(outside)) symlinkSync(`usr/${folder}`, outside);
}

/**
 * Conversions between character sets: 9 MB that nothing here asks for.
 * @param {string} libraries
 */
function removeGconv(libraries) {
  for (const machine of readdirSync(libraries)) {
    rmSync(join(libraries, machine, 'gconv'), { recursive: true, force: true });
  }
}

/**
 * The Node that runs the project, and the npm of this machine, at the paths of the published image.
 * @param {string} tree
 */
function addNode(tree) {
  const node = realpathSync(join(root, 'node_modules/.bin/node'));
  mkdirSync(join(tree, 'usr/local/bin'), { recursive: true });
  copyFileSync(node, join(tree, 'usr/local/bin/node'));
  cpSync(npmFolder(), join(tree, 'usr/local/lib/node_modules/npm'), { recursive: true });
}

/** The folder of npm: the one that runs this, else the one beside the Node of the machine. */
function npmFolder() {
  const runs = process.env.npm_execpath;
  const folders = [
    ...(runs === undefined ? [] : [dirname(dirname(runs))]),
    join(dirname(dirname(process.execPath)), 'lib/node_modules/npm'),
    '/usr/lib/node_modules/npm',
    '/usr/share/nodejs/npm',
  ];
  const found = folders.find((folder) => existsSync(join(folder, 'bin/npm-cli.js')));
  if (found === undefined) throw new Error('npm is not found: run this by `npm run images`');
  return found;
}

/**
 * The published image has it there.
 * @param {string} tree
 */
function addHaproxyPath(tree) {
  mkdirSync(join(tree, 'usr/local/sbin'), { recursive: true });
  symlinkSync('../../sbin/haproxy', join(tree, 'usr/local/sbin/haproxy'));
}

/**
 * Imports a tree as an image of one layer.
 * @param {string} tree
 * @param {{ image: string, labels: Record<string, string>, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<void>}
 */
export function importTree(tree, { image, labels, env }) {
  const changes = Object.entries(labels).flatMap(([name, value]) => [
    '-c',
    `LABEL ${name}=${value}`,
  ]);
  const tar = spawn('tar', ['--numeric-owner', '--owner=0', '--group=0', '-C', tree, '-c', '.'], {
    stdio: ['ignore', 'pipe', 2],
  });
  const docker = spawn('docker', ['import', ...changes, '-', image], {
    stdio: [tar.stdout, 'ignore', 2],
    env,
  });
  return new Promise((resolve, reject) => {
    docker.on('error', reject);
    docker.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`docker import of ${image} failed`));
    });
  });
}
