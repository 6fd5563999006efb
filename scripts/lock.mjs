// A lock file held by one living process at a time; one left behind by a dead process is removed.
// It serialises set-up work on one machine. It does not work across machines that share a disk.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs `work` while holding the lock file.
 * @template T
 * @param {string} path
 * @param {{ log?: (line: string) => void, deadlineMs?: number }} options
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(path, options, work) {
  await acquire(path, options);
  // Ctrl-C must not leave the file: the owner would be dead, but the next run need not find out.
  const release = () => rmSync(path, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

/**
 * @param {string} path
 * @param {{ log?: (line: string) => void, deadlineMs?: number }} options
 */
async function acquire(path, { log, deadlineMs = 600_000 }) {
  const endMs = Date.now() + deadlineMs;
  let told = '';
  while (!tryAcquire(path)) {
    const owner = readOwner(path);
    if (owner !== '' && !isAlive(owner)) {
      removeStale(path, owner);
      continue;
    }
    if (Date.now() > endMs) {
      throw new Error(`${path} has been held by process ${owner} for ${deadlineMs / 1000} s`);
    }
    if (owner !== '' && told !== owner) {
      log?.(`waiting for process ${owner.split(' ')[0]}, which is doing the same work`);
      told = owner;
    }
    await sleep(100);
  }
}

/** @param {string} path */
function tryAcquire(path) {
  // Written elsewhere and linked into place, so that nobody ever reads a half-written lock.
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, identity(process.pid));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** @param {string} path */
function readOwner(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}

/**
 * Two waiters may see the same dead owner: each takes the file away under a name of its own, and
 * the one that caught a newer owner's lock puts it back.
 * @param {string} path
 * @param {string} deadOwner
 */
function removeStale(path, deadOwner) {
  const taken = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, taken);
    if (readFileSync(taken, 'utf8') !== deadOwner) linkSync(taken, path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(taken, { force: true });
  }
}

/** @param {string} owner */
function isAlive(owner) {
  const pid = Number(owner.split(' ')[0]);
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!hasCode(error, 'EPERM')) return false;
  }
  return identity(pid) === owner;
}

/**
 * The process id and, where the system tells it, the start time: ids are used again after a reboot.
 * @param {number} pid
 */
function identity(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return `${pid} -`; // No /proc here (macOS): the id alone has to do.
  }
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function hasCode(error, code) {
  return error !== null && typeof error === 'object' && 'code' in error && error.code === code;
}
