// Child processes of tests that must not outlive them: a shell waits at a pipe from this process
// and kills them when the pipe ends, however this process ended.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/** Lines `+ PID` and `- PID` say whom to kill in the end; a negative PID is a process group. */
const script = `
while read -r sign pid; do
  if [ "$sign" = + ]; then
    pids="$pids $pid"
  else
    rest=
    for other in $pids; do [ "$other" = "$pid" ] || rest="$rest $other"; done
    pids=$rest
  fi
done
for pid in $pids; do kill -s KILL -- "$pid"; done
`;

let pipe: Socket | undefined;

/** A child that was started with `detached` is killed with its whole process group. */
export function endWithThisProcess(
  child: ChildProcess,
  { isDetached = false }: { readonly isDetached?: boolean } = {},
): void {
  const { pid } = child;
  if (pid === undefined) return;
  const target = String(isDetached ? -pid : pid);
  const lines = (pipe ??= startShell());
  lines.write(`+ ${target}\n`);
  child.once('exit', () => lines.write(`- ${target}\n`));
}

function startShell(): Socket {
  // In a group of its own: it is still there when a terminal interrupts all others.
  const shell = spawn('/bin/sh', ['-c', script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  // Neither the shell nor its pipe keeps this process running. The pipe is a socket of Node's.
  const stdin = shell.stdin as Socket;
  stdin.unref();
  return stdin;
}
