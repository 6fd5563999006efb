// Finds an etcd to run: on PATH, in the project's cache folder, or unpacked there from Debian.
// As a command it prints path, version and source. It changes nothing outside the cache folder.
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEtcdSuite } from './debian-etcd.mjs';
import { newerSuites, NoDebianPackage, run } from './debian-packages.mjs';
import { withLock } from './lock.mjs';

/** The first release whose progress requests can be trusted for consistent reads. */
export const minimumVersion = '3.5.24';
/** How long "this mirror has nothing newer" is believed before it is asked again. */
const believedMs = 24 * 3_600_000;

/**
 * @typedef {{
 *   path: string,
 *   etcdctlPath?: string,
 *   version: string,
 *   source: 'path' | 'cache' | 'debian',
 *   warning?: string,
 * }} FoundEtcd
 * @typedef {(line: string) => void} Log
 */

/**
 * @param {{ minimum?: string, exact?: string, log?: Log }} [options] exact: this version or none
 * @returns {Promise<FoundEtcd>}
 */
export async function findEtcd({ minimum = minimumVersion, exact, log = logToStderr } = {}) {
  const want = { minimum: exact ?? minimum, exact };
  const given = await etcdOnPath();
  if (given !== undefined && (exact === undefined || given.version === exact)) {
    return withWarning(given, want.minimum);
  }
  const cached = bestCached(want);
  if (cached !== undefined) return cached;
  makeCacheFolder();
  return withLock(join(cacheFolder(), 'lock'), { log }, async () => {
    // Another process may have unpacked it while this one waited.
    return bestCached(want) ?? (await unpackNewEnough(want, log));
  });
}

/**
 * The etcd of one Debian suite, for tests of how old and new releases differ.
 * @param {{ suite: string, log?: Log }} options
 * @returns {Promise<FoundEtcd>}
 */
export async function debianEtcd({ suite, log = logToStderr }) {
  const cached = cachedSuite(suite);
  if (cached !== undefined) return cached;
  makeCacheFolder();
  return withLock(join(cacheFolder(), 'lock'), { log }, async () => {
    const now = cachedSuite(suite);
    if (now !== undefined) return now;
    log(`etcd: unpacking the one of Debian ${suite} into ${cacheFolder()}`);
    removeLeftovers();
    const opened = await openEtcdSuite(suite, workFolder(suite));
    try {
      if (opened.version === undefined) throw new NoDebianPackage(`${suite} has no etcd`);
      const found = await unpackInto(opened, opened.version);
      writeFileSync(join(cacheFolder(), `debian-${suite}`), opened.version);
      return found;
    } finally {
      opened.dispose();
    }
  });
}

/**
 * @typedef {{ minimum: string, exact: string | undefined }} Wanted
 * @typedef {Awaited<ReturnType<typeof openEtcdSuite>>} Suite
 */

/**
 * Takes the first suite, from the machine's own on, that is new enough; else the newest there is.
 * @param {Wanted} want
 * @param {Log} log
 * @returns {Promise<FoundEtcd>}
 */
async function unpackNewEnough(want, log) {
  log(`etcd: no ${describe(want)} on PATH; looking for one in this machine's package sources`);
  removeLeftovers();
  /** @type {string[]} */
  const reasons = [];
  /** @type {Suite[]} */
  const opened = [];
  try {
    for (const suite of newerSuites()) {
      try {
        const index = await openEtcdSuite(suite, workFolder(suite));
        opened.push(index);
        const { version } = index;
        log(`etcd: Debian ${suite} has ${version ?? 'none'}`);
        if (version !== undefined && satisfies(version, want)) return await keep(index, log);
      } catch (error) {
        if (!(error instanceof NoDebianPackage)) throw error;
        reasons.push(error.message);
      }
    }
    const older =
      want.exact === undefined ? await keepNewest(opened, want, reasons, log) : undefined;
    if (older !== undefined) return older;
  } finally {
    for (const suite of opened) suite.dispose();
    removeLeftovers();
  }
  throw new Error(
    `etcd: none found; install ${describe(want)} (Debian package etcd-server) so that it is on ` +
      `PATH, or name running ones with --etcd-servers (this machine's package sources: ` +
      `${reasons[0] ?? 'no suite has it'})`,
  );
}

/**
 * @param {Suite[]} opened
 * @param {Wanted} want
 * @param {string[]} reasons
 * @param {Log} log
 */
async function keepNewest(opened, want, reasons, log) {
  const withEtcd = opened.filter((suite) => suite.version !== undefined);
  withEtcd.sort((a, b) => compareVersions(b.version ?? '', a.version ?? ''));
  for (const suite of withEtcd) {
    try {
      const found = await keep(suite, log);
      writeFileSync(newestFile(want.minimum), found.version);
      return withWarning(found, want.minimum);
    } catch (error) {
      if (!(error instanceof NoDebianPackage)) throw error;
      reasons.push(error.message);
    }
  }
  return undefined;
}

/**
 * @param {Suite} suite
 * @param {Log} log
 */
async function keep(suite, log) {
  const found = await unpackInto(suite, suite.version ?? '');
  log(`etcd: unpacked ${found.version} into ${dirname(dirname(dirname(found.path)))}`);
  return found;
}

/**
 * @param {Suite} suite
 * @param {string} version
 * @returns {Promise<FoundEtcd>}
 */
async function unpackInto(suite, version) {
  const folder = join(cacheFolder(), `etcd-${version}`);
  const there = inFolder(folder, version);
  if (there !== undefined) return there;
  await suite.unpack(folder);
  const unpacked = inFolder(folder, version);
  if (unpacked === undefined) throw new NoDebianPackage(`its packages hold no usr/bin/etcd`);
  return { ...unpacked, source: 'debian' };
}

/** @returns {Promise<FoundEtcd | undefined>} */
async function etcdOnPath() {
  const named = process.env.ETCD_BIN;
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = named ? [named] : folders.map((folder) => join(folder, 'etcd'));
  const path = candidates.find(isExecutable);
  if (path === undefined) {
    if (named) throw new Error(`etcd: ETCD_BIN names ${named}, which is no executable file`);
    return undefined;
  }
  const { stdout } = await run(path, ['--version']);
  const version = /^etcd Version: (\d+\.\d+\.\d+)/m.exec(stdout)?.[1];
  if (version === undefined) {
    throw new Error(`etcd: ${path} --version does not tell a version; repair or remove it`);
  }
  return { path, ...etcdctlBeside(path), version, source: 'path' };
}

/**
 * @param {Wanted} want
 * @returns {FoundEtcd | undefined}
 */
function bestCached(want) {
  const root = cacheFolder();
  const versions = existsSync(root)
    ? readdirSync(root).flatMap((name) => /^etcd-(\d+\.\d+\.\d+)$/.exec(name)?.[1] ?? [])
    : [];
  versions.sort((a, b) => compareVersions(b, a));
  for (const version of versions.filter((candidate) => satisfies(candidate, want))) {
    const found = inFolder(join(root, `etcd-${version}`), version);
    if (found !== undefined) return found;
  }
  const newest = want.exact === undefined ? believedNewest(want.minimum) : undefined;
  if (newest === undefined) return undefined;
  const found = inFolder(join(root, `etcd-${newest}`), newest);
  return found && withWarning(found, want.minimum);
}

/**
 * @param {string} suite
 * @returns {FoundEtcd | undefined}
 */
function cachedSuite(suite) {
  const record = join(cacheFolder(), `debian-${suite}`);
  if (!existsSync(record)) return undefined;
  const version = readFileSync(record, 'utf8');
  return inFolder(join(cacheFolder(), `etcd-${version}`), version);
}

/**
 * What the package sources were lately seen to have at best, when that is older than wanted.
 * @param {string} minimum
 */
function believedNewest(minimum) {
  const file = newestFile(minimum);
  if (!existsSync(file) || Date.now() - statSync(file).mtimeMs > believedMs) return undefined;
  return readFileSync(file, 'utf8');
}

/** @param {string} minimum */
function newestFile(minimum) {
  return join(cacheFolder(), `newest-below-${minimum}`);
}

/**
 * @param {string} folder
 * @param {string} version
 * @returns {FoundEtcd | undefined}
 */
function inFolder(folder, version) {
  const path = join(folder, 'usr/bin/etcd');
  if (!isExecutable(path)) return undefined;
  return { path, ...etcdctlBeside(path), version, source: 'cache' };
}

/** @param {string} etcdPath */
function etcdctlBeside(etcdPath) {
  const etcdctlPath = join(dirname(etcdPath), 'etcdctl');
  return isExecutable(etcdctlPath) ? { etcdctlPath } : {};
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // Absent or not for this user: either way it cannot be run.
  }
}

/** Where this project keeps what it brings to a machine. */
export function cacheFolder() {
  const given = process.env.XDG_CACHE_HOME;
  return join(given && isAbsolute(given) ? given : join(homedir(), '.cache'), 'svc-apiserver');
}

function makeCacheFolder() {
  try {
    mkdirSync(cacheFolder(), { recursive: true });
    accessSync(cacheFolder(), constants.W_OK);
  } catch (error) {
    const hint = 'let XDG_CACHE_HOME name one that can, or install etcd';
    throw new Error(`etcd: ${cacheFolder()} cannot be written; ${hint}`, { cause: error });
  }
}

/** @param {string} suite */
function workFolder(suite) {
  return join(cacheFolder(), `unpacking-${suite}-${process.pid}`);
}

/** Removes what an interrupted run left; call it with the lock held. */
function removeLeftovers() {
  for (const name of readdirSync(cacheFolder())) {
    if (name.startsWith('unpacking-')) {
      rmSync(join(cacheFolder(), name), { recursive: true, force: true });
    }
  }
}

/**
 * @param {FoundEtcd} found
 * @param {string} minimum
 * @returns {FoundEtcd}
 */
function withWarning(found, minimum) {
  if (compareVersions(found.version, minimum) >= 0) return found;
  const warning =
    `etcd ${found.version} (${found.path}) is older than ${minimum}: ` +
    'consistent reads may go to etcd instead of the cache';
  return { ...found, warning };
}

/** @param {Wanted} want */
function describe({ minimum, exact }) {
  return exact === undefined ? `etcd ${minimum} or newer` : `etcd ${exact}`;
}

/**
 * @param {string} version
 * @param {Wanted} want
 */
function satisfies(version, { minimum, exact }) {
  return exact === undefined ? compareVersions(version, minimum) >= 0 : version === exact;
}

/**
 * @param {string} a
 * @param {string} b
 */
export function compareVersions(a, b) {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** @param {string} line */
function logToStderr(line) {
  process.stderr.write(`${line}\n`);
}

async function main() {
  const suite = /^--suite=(\w+)$/.exec(process.argv[2] ?? '')?.[1];
  try {
    const found = suite === undefined ? await findEtcd() : await debianEtcd({ suite });
    if (found.warning) logToStderr(`warning: ${found.warning}`);
    process.stdout.write(`${found.path}\t${found.version}\t${found.source}\n`);
  } catch (error) {
    logToStderr(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

const startedAs = process.argv[1];
if (startedAs !== undefined && existsSync(startedAs)) {
  if (realpathSync(startedAs) === fileURLToPath(import.meta.url)) await main();
}
