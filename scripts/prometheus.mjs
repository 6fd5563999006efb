// Finds a Prometheus with its promtool to run: on PATH, in the project's cache folder, or unpacked
// there from Debian. As a command it prints path, promtool's path and source. It changes nothing
// outside the cache folder.
import { accessSync, constants, existsSync, mkdirSync, realpathSync, renameSync } from 'node:fs';
import { rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstLine, newerSuites, NoDebianPackage, openSuite, run } from './debian-packages.mjs';
import { cacheFolder } from './etcd.mjs';
import { withLock } from './lock.mjs';

/**
 * @typedef {{ path: string, promtoolPath: string, source: 'path' | 'cache' | 'debian' }} Found
 */

/**
 * @param {{ log?: (line: string) => void }} [options]
 * @returns {Promise<Found>}
 * @throws Error that says why there is none, and how to get one.
 */
export async function findPrometheus({ log = logToStderr } = {}) {
  const given = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const there = inFolders(given, 'path') ?? inFolders([cachedFolder()], 'cache');
  if (there !== undefined) return there;
  mkdirSync(cacheFolder(), { recursive: true });
  return withLock(join(cacheFolder(), 'prometheus.lock'), { log }, async () => {
    // Another process may have unpacked it while this one waited.
    return inFolders([cachedFolder()], 'cache') ?? (await unpackOne(log));
  });
}

/**
 * From the machine's own suite: programs of newer ones may need newer libraries. Else the first
 * whose program runs here.
 * @param {(line: string) => void} log
 * @returns {Promise<Found>}
 */
async function unpackOne(log) {
  log(`prometheus: none on PATH; looking for one in this machine's package sources`);
  /** @type {string[]} */
  const reasons = [];
  const work = join(cacheFolder(), `prometheus-${process.pid}`);
  for (const suite of newerSuites()) {
    try {
      const opened = await openSuite(suite, work);
      const tree = join(work, 'root');
      // Newer suites have promtool in a package of its own.
      const names = ['prometheus', 'promtool'];
      const versions = await Promise.all(names.map((name) => opened.version(name)));
      const packages = names.filter((_name, index) => versions[index] !== undefined);
      if (!packages.includes('prometheus')) throw new NoDebianPackage(`${suite} has none`);
      await opened.unpack(packages, tree);
      const tried = await run(join(tree, 'usr/bin/promtool'), ['--version']);
      if (tried.code !== 0) {
        throw new NoDebianPackage(`that of ${suite} does not run: ${firstLine(tried.stderr)}`);
      }
      const destination = join(cacheFolder(), 'prometheus');
      rmSync(destination, { recursive: true, force: true });
      renameSync(tree, destination);
      const found = inFolders([cachedFolder()], 'debian');
      if (found === undefined) throw new NoDebianPackage(`the package of ${suite} lacks programs`);
      log(`prometheus: unpacked ${versions[0]} of Debian ${suite} into ${destination}`);
      return found;
    } catch (error) {
      if (!(error instanceof NoDebianPackage)) throw error;
      reasons.push(error.message);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  throw new Error(
    'prometheus: none found; install it (Debian package prometheus) so that prometheus and ' +
      `promtool are on PATH (this machine's package sources: ${reasons[0] ?? 'no suite has it'})`,
  );
}

function cachedFolder() {
  return join(cacheFolder(), 'prometheus/usr/bin');
}

/**
 * @param {readonly string[]} folders
 * @param {Found['source']} source
 * @returns {Found | undefined}
 */
function inFolders(folders, source) {
  const path = programIn(folders, 'prometheus');
  const promtoolPath = programIn(folders, 'promtool');
  if (path === undefined || promtoolPath === undefined) return undefined;
  return { path, promtoolPath, source };
}

/**
 * @param {readonly string[]} folders
 * @param {string} name
 */
function programIn(folders, name) {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Absent or not for this user: either way it cannot be run.
  }
}

/** @param {string} line */
function logToStderr(line) {
  process.stderr.write(`${line}\n`);
}

const startedAs = process.argv[1];
if (startedAs !== undefined && existsSync(startedAs)) {
  if (realpathSync(startedAs) === fileURLToPath(import.meta.url)) {
    try {
      const { path, promtoolPath, source } = await findPrometheus();
      process.stdout.write(`${path}\t${promtoolPath}\t${source}\n`);
    } catch (error) {
      logToStderr(error instanceof Error ? error.message : String(error));
      process.exitCode = 1;
    }
  }
}
