// A port that takes no connection and refuses none, as behind a firewall that drops packets: its
// process is stopped and its queue is full.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import type { Socket } from 'node:net';
import { stopProcess } from '../../base/testing/stopped.ts';

const program = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.stdout.write(String(server.address().port));
  });
`;

export interface StoppedServer {
  readonly port: number;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startStoppedServer(): Promise<StoppedServer> {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(text.toString());
  await stopProcess(child.pid ?? 0);
  // The kernel finishes as many connections as its queue holds, one more than the backlog.
  const fillers = Array.from({ length: 8 }, () => net.connect(port, '127.0.0.1'));
  const connected = new Set<Socket>();
  await new Promise<void>((resolve) => {
    for (const filler of fillers) {
      filler
        .on('error', () => undefined)
        .once('connect', () => {
          connected.add(filler);
          if (connected.size === 2) resolve();
        });
    }
  });
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
