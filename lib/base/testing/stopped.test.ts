import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { stopProcess } from './stopped.ts';

test('a process with busy threads says nothing more once it is stopped', async () => {
  const program = `
    const { Worker } = require('node:worker_threads');
    for (let i = 0; i < 4; i += 1) new Worker('for (;;) ;', { eval: true });
    setInterval(() => process.stdout.write('.'), 1);
  `;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    await stopProcess(child.pid ?? 0);
    let said = 0;
    const count = (bytes: Buffer): number => (said += bytes.length);
    child.stdout.on('data', count);
    // What was said before.
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    said = 0;
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    expect(said).toBe(0);
    child.kill('SIGCONT');
    await once(child.stdout, 'data');
  } finally {
    child.kill('SIGKILL');
  }
});
