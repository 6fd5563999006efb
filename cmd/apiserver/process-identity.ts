// Which process a PID really is: PIDs are reused, a PID together with its start time is not.
import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';

export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque text; equal for the same process only. */
  readonly startedAt: string;
}

/** undefined: no such process (a zombie is none). */
export function identify(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : otherStart(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startedAt === identity.startedAt;
}

/** Of this boot: ticks since boot come again after the next one. */
const bootId = readBootId();

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return ''; // not on Linux, or hidden: the start time alone has to do
  }
}

/**
 * Field 22 of /proc/PID/stat: clock ticks from boot to start; the command before it may hold
 * spaces.
 */
function linuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    return state === 'Z' || ticks === undefined ? undefined : `${bootId}/${ticks}`;
  } catch {
    return undefined; // the process is gone
  }
}

function otherStart(pid: number): string | undefined {
  const result = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  if (result.error !== undefined) throw result.error;
  const text = result.stdout.trim();
  return text === '' ? undefined : text;
}
