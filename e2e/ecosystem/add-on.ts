// An add-on as a process of its own, which a test starts and ends.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { adminToken } from '../harness.ts';
import type { Replica } from '../harness.ts';
import type { AddOnStart } from './api-client.ts';

/** `port` stays over restarts. */
export class AddOn {
  port = 0;
  errors = '';
  readonly #file: string;
  readonly #replica: () => Replica;
  #child: ChildProcess | undefined;

  constructor(file: string, replica: () => Replica) {
    this.#file = fileURLToPath(new URL(`${file}.ts`, import.meta.url));
    this.#replica = replica;
  }

  /** Resolves once it serves. */
  async start(): Promise<void> {
    const { url, caFile } = this.#replica();
    const start: AddOnStart = { url, caFile, token: adminToken, port: this.port };
    const child = spawn(process.execPath, [this.#file, JSON.stringify(start)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '' },
      timeout: 300_000,
    });
    this.#child = child;
    child.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString('utf8')));
    for await (const line of createInterface({ input: child.stdout })) {
      const [, port] = /^listening (\d+)$/.exec(line) ?? [];
      if (port === undefined) continue;
      this.port = Number(port);
      return;
    }
    throw new Error(`${this.#file} has ended: ${this.errors}`);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }
}
