// Finds a Docker engine and compose 2, or says what is missing and how to get it. With `install`
// (a flag of the command, or SVC_DOCKER=install) it brings and starts an engine of its own.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { openSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newerSuites, openSuite, run } from './debian-packages.mjs';
import { cacheFolder } from './etcd.mjs';
import { withLock } from './lock.mjs';

const startSecondsMax = 60;
const stopSecondsMax = 60;

/**
 * @typedef {{
 *   host: string | undefined,
 *   env: Record<string, string | undefined>,
 *   engine: string,
 *   compose: string,
 * }} Docker host: for DOCKER_HOST; undefined: the default of the client
 */

/** Says what is missing, a line each, and how to get it. */
export class NoDocker extends Error {}

/**
 * @param {{ install?: boolean, log?: (line: string) => void }} [options]
 * @returns {Promise<Docker>}
 * @throws {NoDocker}
 */
export async function findDocker({ install = process.env.SVC_DOCKER === 'install', log } = {}) {
  const say = log ?? ((line) => process.stderr.write(`docker: ${line}\n`));
  const found = await look();
  if (found.missing.length === 0) return asDocker(found);
  if (!install) throw new NoDocker(advice(found.missing));
  mkdirSync(cacheFolder(), { recursive: true });
  return withLock(join(cacheFolder(), 'docker.lock'), { log: say }, async () => {
    // Another process may have done it while this one waited.
    let now = await look();
    if (now.missing.some((part) => part === 'client' || part === 'engine')) await bringEngine(say);
    if (now.missing.includes('compose')) await bringCompose(say);
    now = await look();
    if (now.missing.length > 0) throw new NoDocker(advice(now.missing));
    return asDocker(now);
  });
}

/** @typedef {'client' | 'engine' | 'compose'} Part */
/** @typedef {{ host: string | undefined, engine: string, compose: string, missing: Part[] }} Seen */

/** @returns {Promise<Seen>} */
async function look() {
  const client = await run('docker', ['--version']);
  if (client.code !== 0) {
    return { host: undefined, engine: '', compose: '', missing: ['client', 'engine', 'compose'] };
  }
  const compose = composeVersion((await run('docker', ['compose', 'version', '--short'])).stdout);
  let host = process.env.DOCKER_HOST;
  let engine = await engineVersion(host);
  if (engine === undefined && host === undefined && existsSync(ownPaths().socket)) {
    host = `unix://${ownPaths().socket}`;
    engine = await engineVersion(host);
  }
  /** @type {Part[]} */
  const missing = [];
  if (engine === undefined) missing.push('engine');
  if (compose === undefined) missing.push('compose');
  return { host, engine: engine ?? '', compose: compose ?? '', missing };
}

/**
 * @param {string} text what `docker compose version --short` says
 * @returns {string | undefined} undefined: none, or version 1
 */
export function composeVersion(text) {
  const version = /^v?(\d+)\.\d+\.\d+/.exec(text.trim());
  return version !== null && Number(version[1]) >= 2 ? version[0].replace('v', '') : undefined;
}

/** @param {string | undefined} host */
async function engineVersion(host) {
  const before = host === undefined ? [] : ['--host', host];
  const said = await run('docker', [...before, 'version', '--format', '{{.Server.Version}}']);
  return said.code === 0 ? said.stdout.trim() : undefined;
}

/**
 * @param {Seen} seen
 * @returns {Docker}
 */
function asDocker({ host, engine, compose }) {
  const env = host === undefined ? { ...process.env } : { ...process.env, DOCKER_HOST: host };
  return { host, env, engine, compose };
}

/** @param {readonly Part[]} missing */
export function advice(missing) {
  const told = {
    client: 'there is no docker command: install the package docker.io (or docker-cli)',
    engine:
      'no Docker engine answers: start one (systemctl start docker), let DOCKER_HOST name one, ' +
      'or install the package docker.io',
    compose:
      'docker compose 2 is not there: install the package docker-compose-v2 or ' +
      'docker-compose-plugin; on Debian docker-compose of a suite that has version 2',
  };
  return [
    ...missing.map((part) => told[part]),
    'as root on Debian `node scripts/docker.mjs install` does all of it',
  ].join('\n');
}

/** Where an engine that was started by hand keeps everything. SVC_DOCKER_ROOT moves it. */
function ownPaths() {
  const root = process.env.SVC_DOCKER_ROOT ?? join(cacheFolder(), 'docker');
  return {
    root,
    data: join(root, 'data'),
    exec: join(root, 'exec'),
    log: join(root, 'log'),
    pid: join(root, 'pid'),
    socket: join(root, 'docker.sock'),
  };
}

/** @param {(line: string) => void} say */
async function bringEngine(say) {
  if (process.getuid?.() !== 0) throw new NoDocker('an engine can be brought by root alone');
  if ((await run('dockerd', ['--version'])).code !== 0) {
    say('installing docker.io from the package sources of this machine');
    await mustRun('apt-get', ['-qq', 'update']);
    const options = ['-qq', '-y', '--no-install-recommends'];
    await mustRun('apt-get', ['install', ...options, 'docker.io', 'iptables']);
    // Debian has the command in a package of its own since its suite trixie.
    if ((await run('docker', ['--version'])).code !== 0) {
      await mustRun('apt-get', ['install', ...options, 'docker-cli']);
    }
  }
  if ((await engineVersion(process.env.DOCKER_HOST)) === undefined) await startEngine(say);
}

/** @param {(line: string) => void} say */
async function startEngine(say) {
  const paths = ownPaths();
  mkdirSync(paths.root, { recursive: true, mode: 0o700 });
  if (livingPid(paths.pid) !== undefined)
    throw new NoDocker(`see ${paths.log}: it does not answer`);
  rmSync(paths.pid, { force: true });
  const args = ['--data-root', paths.data, '--exec-root', paths.exec, '--pidfile', paths.pid];
  const log = openSync(paths.log, 'a');
  const child = spawn('dockerd', [...args, '--host', `unix://${paths.socket}`], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  child.on('error', () => undefined); // It does not answer then, which is said below.
  child.unref();
  for (let second = 0; second < startSecondsMax; second++) {
    if ((await engineVersion(`unix://${paths.socket}`)) !== undefined) {
      say(`an engine runs: DOCKER_HOST=unix://${paths.socket} (end it: docker.mjs stop)`);
      return;
    }
    await sleep(1_000);
  }
  throw new NoDocker(`the engine did not start in ${startSecondsMax} s; ${paths.log} says why`);
}

/** Compose 2 from the first suite that has it, for this user alone. */
async function bringCompose(/** @type {(line: string) => void} */ say) {
  const folder = join(process.env.DOCKER_CONFIG ?? join(homedir(), '.docker'), 'cli-plugins');
  for (const suite of newerSuites()) {
    const work = join(cacheFolder(), `unpacking-compose-${process.pid}`);
    try {
      const opened = await openSuite(suite, work).catch(() => undefined);
      if (composeVersion((await opened?.version('docker-compose')) ?? '') === undefined) continue;
      say(`unpacking docker-compose of Debian ${suite} into ${folder}`);
      const tree = join(work, 'root');
      await opened?.unpack(['docker-compose'], tree);
      mkdirSync(folder, { recursive: true });
      const plugin = join(folder, 'docker-compose');
      copyFileSync(join(tree, 'usr/libexec/docker/cli-plugins/docker-compose'), plugin);
      chmodSync(plugin, 0o755);
      return;
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
}

/** Ends the engine that this script started, by its process id. */
async function stopEngine() {
  const { pid: file } = ownPaths();
  const pid = livingPid(file);
  if (pid === undefined) return 'no engine of this script runs';
  process.kill(pid, 'SIGTERM');
  for (let second = 0; second < stopSecondsMax; second++) {
    if (livingPid(file) === undefined) return `the engine (process ${pid}) has ended`;
    await sleep(1_000);
  }
  throw new NoDocker(`process ${pid} did not end in ${stopSecondsMax} s`);
}

/** @param {string} file */
function livingPid(file) {
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, 'utf8'));
  try {
    // The id alone may be somebody else's by now.
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'dockerd' ? pid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {string} command
 * @param {string[]} args
 */
async function mustRun(command, args) {
  const done = spawnSync(command, args, {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (done.status !== 0) throw new NoDocker(`${command} ${args.join(' ')} failed`);
}

async function main() {
  const [what = 'check', ...rest] = process.argv.slice(2);
  if (!['check', 'install', 'stop'].includes(what) || rest.length > 0) {
    process.stderr.write('usage: docker.mjs [check | install | stop]\n');
    process.exitCode = 2;
    return;
  }
  try {
    if (what === 'stop') {
      process.stdout.write(`${await stopEngine()}\n`);
      return;
    }
    const found = await findDocker(what === 'install' ? { install: true } : {});
    const { host = 'the default of the client', engine, compose } = found;
    process.stdout.write(`engine ${engine}, compose ${compose}, DOCKER_HOST: ${host}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

const startedAs = process.argv[1];
if (startedAs !== undefined && existsSync(startedAs)) {
  if (realpathSync(startedAs) === fileURLToPath(import.meta.url)) await main();
}
