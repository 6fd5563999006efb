// `npm run images`: what the set-up of docker-compose.yml needs. Bases that are missing are made of
// Debian packages, images that variables name are pulled, and the product's image is built.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { run } from '../debian-packages.mjs';
import { findDocker } from '../docker.mjs';
import { cacheFolder } from '../etcd.mjs';
import { withLock } from '../lock.mjs';
import { bases, importTree, unpackBases } from './bases.mjs';

const root = join(import.meta.dirname, '../..');
const product = 'svc-apiserver:local';
/** @param {string} line */
const say = (line) => process.stderr.write(`images: ${line}\n`);

const usage =
  'usage: npm run images -- [--renew] [--bases | --product [--commit=REVISION]] [--install-docker]';

/**
 * Variables of the process, else of the file that compose reads.
 * @returns {Record<string, string | undefined>}
 */
function variables() {
  const file = join(root, '.env');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const lines = [...text.matchAll(/^\s*([A-Z_]+)=["']?([^"'\n]*)["']?\s*$/gm)];
  return { ...Object.fromEntries(lines.map(([, name, value]) => [name, value])), ...process.env };
}

async function main() {
  const commitFlag = '--commit=';
  const words = process.argv.slice(2);
  // The product of what git has, in place of the files that are here.
  const commit = words.find((word) => word.startsWith(commitFlag))?.slice(commitFlag.length);
  const args = new Set(words.filter((word) => !word.startsWith(commitFlag)));
  const known = ['--renew', '--bases', '--product', '--install-docker'];
  const unknown = [...args].find((arg) => !known.includes(arg));
  if (unknown !== undefined) throw new Error(`there is no ${unknown}\n${usage}`);
  const docker = await findDocker(args.has('--install-docker') ? { install: true, log: say } : {});
  const given = variables();
  if (!args.has('--product')) {
    mkdirSync(cacheFolder(), { recursive: true });
    const lock = join(cacheFolder(), 'images.lock');
    await withLock(lock, { log: say }, () => bringBases(docker.env, given, args.has('--renew')));
  }
  if (!args.has('--bases')) buildProduct(docker.env, given, commit);
  const host = docker.host === undefined ? '' : `DOCKER_HOST=${docker.host} `;
  say(`done; ${host}docker compose up -d --wait`);
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Record<string, string | undefined>} given
 * @param {boolean} renew
 */
async function bringBases(env, given, renew) {
  /** @type {(typeof bases)[number][]} */
  const missing = [];
  for (const base of bases) {
    const image = given[base.variable] ?? base.local;
    const isThere = (await run('docker', ['image', 'inspect', image], undefined, env)).code === 0;
    if (image !== base.local) {
      if (!isThere || renew) docker(env, ['pull', '--quiet', image]);
      say(`${image}: taken by ${base.variable}`);
    } else if (isThere && !renew) say(`${image}: is there (${base.what})`);
    else missing.push(base);
  }
  const workFolder = join(cacheFolder(), `unpacking-images-${process.pid}`);
  try {
    await unpackBases(missing, { workFolder, log: say }, (base, tree, labels) =>
      importTree(tree, { base, labels, env }),
    );
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {Record<string, string | undefined>} given
 * @param {string | undefined} commit undefined: the files that are here
 */
function buildProduct(env, given, commit) {
  const named = ['rev-parse', '--verify', `${commit ?? 'HEAD'}^{commit}`];
  const revision = spawnSync('git', named, { cwd: root, encoding: 'utf8' }).stdout;
  if (commit !== undefined && !revision) throw new Error(`git knows no commit ${commit}`);
  const options = [
    ...bases
      .filter(({ variable }) => variable === 'BASE_IMAGE' || variable === 'NODE_IMAGE')
      .map(({ variable, local }) => `${variable}=${given[variable] ?? local}`),
    `REVISION=${revision?.trim() || 'unknown'}`,
    ...(given.NPM_CONFIG_REGISTRY === undefined
      ? []
      : [`NPM_CONFIG_REGISTRY=${given.NPM_CONFIG_REGISTRY}`]),
  ].flatMap((option) => ['--build-arg', option]);
  const image = given.APISERVER_IMAGE ?? product;
  say(`${image}: building${commit === undefined ? '' : ` what ${commit} is`}`);
  const args = ['--file', 'deploy/Dockerfile', '--network', 'host', '--tag', image];
  if (commit === undefined) docker(env, ['build', ...args, ...options, '.']);
  else docker(env, ['build', ...args, ...options, '-'], filesOf(revision.trim()));
}

/** @param {string} revision */
function filesOf(revision) {
  const maxBuffer = 1024 ** 3;
  const archive = spawnSync('git', ['archive', '--format=tar', revision], { cwd: root, maxBuffer });
  if (archive.status !== 0) throw new Error(`git archive ${revision}: ${archive.stderr}`);
  return archive.stdout;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} args
 * @param {Buffer} [input]
 */
function docker(env, args, input) {
  const options = { cwd: root, env, maxBuffer: 1024 ** 3 };
  const done =
    input === undefined
      ? spawnSync('docker', args, { ...options, stdio: ['ignore', 2, 2] })
      : spawnSync('docker', args, { ...options, input, stdio: ['pipe', 2, 2] });
  if (done.status !== 0) throw new Error(`docker ${args[0]} failed`);
}

main().catch((/** @type {unknown} */ error) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
