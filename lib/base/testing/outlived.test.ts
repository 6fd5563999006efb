// Claims: what a test process started ends with it, even when it is killed; what ended before is
// left alone.
import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Starts two sleeping children, ends the first, prints the second's PID and then waits. */
const parent = `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { endWithThisProcess } from ${JSON.stringify(import.meta.resolve('./outlived.ts'))};
  const [isDetached, ending] = [process.argv[1] === 'group', process.argv[2]];
  const start = () => {
    const child = spawn('sleep', ['600'], { detached: isDetached, stdio: ['ignore', 1, 'ignore'] });
    endWithThisProcess(child, { isDetached });
    return child;
  };
  const [first, second] = [start(), start()];
  first.kill();
  await once(first, 'exit');
  console.log(second.pid);
  second.unref();
  if (ending === 'waits') setInterval(() => undefined, 1_000);
`;

test.each([
  ['group', 'waits', 'SIGKILL'],
  ['single', 'waits', 'SIGKILL'],
  ['single', 'waits', 'SIGTERM'],
  ['single', 'ends', null],
] as const)('a %s child of a process that %s ends by %s', async (kind, ending, signal) => {
  const args = ['--input-type=module', '--eval', parent, kind, ending];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  const [pid] = (await once(lines, 'line')) as [string];
  expect(Number(pid)).toBeGreaterThan(0);
  const ended = once(child, 'exit');
  // The child of the child holds the other end of the pipe: it closes when both are gone.
  const allGone = once(lines, 'close');
  if (signal !== null) child.kill(signal);
  const [, endedBy] = (await ended) as [number | null, NodeJS.Signals | null];
  expect(endedBy).toBe(signal);
  await allGone;
});
