// The processes of a replica with several workers, as the system knows them.
import { readFileSync } from 'node:fs';

/** PIDs of its workers, the oldest first. */
export function workersOf({ pid }: { readonly pid: number }): number[] {
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8');
  return children
    .trim()
    .split(' ')
    .filter((word) => word !== '')
    .map(Number);
}

/** A zombie is gone. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 25));
}
