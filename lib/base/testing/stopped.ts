// A process that is stopped, and known to be.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * SIGSTOP; resolves once no thread of the process runs any more: on a busy machine its other
 * threads go on for a while after the signal was sent. Without a /proc it resolves at once.
 */
export async function stopProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  const threads = `/proc/${String(pid)}/task`;
  while (
    existsSync(threads) &&
    !readdirSync(threads).every((id) => isStopped(`${threads}/${id}`))
  ) {
    await sleep(1);
  }
}

/** The state stands behind the command's name, which may hold spaces and brackets (proc(5)). */
function isStopped(thread: string): boolean {
  try {
    const stat = readFileSync(`${thread}/stat`, 'utf8');
    return 'TtZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2));
  } catch {
    return true; // the thread is gone
  }
}
