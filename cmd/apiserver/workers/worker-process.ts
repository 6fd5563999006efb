// One worker as its parent sees it: a process of the same program with the same flags, a channel to
// it, and how it ended.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { Channel } from './channel.ts';
import type { ParentAnswers, StopReason, WorkerAnswers } from './messages.ts';
import { placeVariable } from './place.ts';
import type { WorkerPlace } from './place.ts';

/** How a worker ended. */
export interface WorkerEnd {
  /** What it said, else how the process ended. */
  readonly reason: string;
  /** 0: as it was told to. */
  readonly code: number;
}

export class WorkerProcess {
  readonly place: WorkerPlace;
  readonly channel: Channel<WorkerAnswers, ParentAnswers>;
  readonly ended: Promise<WorkerEnd>;
  readonly take = (socket: Socket): Promise<unknown> =>
    this.channel.ask('connection', null, { socket });
  /** Undefined until it serves. */
  url: string | undefined;
  /** Why it will end, in words for the user. */
  failure: string | undefined;
  /** By path: what it said last of its metrics. */
  metrics: Readonly<Record<string, string>> = {};
  readonly #child: ChildProcess;

  constructor(place: WorkerPlace, answersTo: (worker: WorkerProcess) => ParentAnswers) {
    this.place = place;
    const [, program = ''] = process.argv;
    this.#child = fork(program, process.argv.slice(2), {
      env: { ...process.env, [placeVariable]: JSON.stringify(place) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.channel = new Channel(pipeTo(this.#child), answersTo(this));
    this.ended = this.#end();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  stop(why: StopReason): void {
    this.channel.tell('stop', why);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #end(): Promise<WorkerEnd> {
    const { code, how } = await new Promise<{ code: number; how: string }>((resolve) => {
      this.#child.once('error', (error) => resolve({ code: 1, how: error.message }));
      this.#child.once('exit', (code, signal) => {
        resolve({ code: code ?? 1, how: `it ended by ${signal ?? `exit code ${String(code)}`}` });
      });
    });
    this.channel.end();
    return { reason: this.failure ?? how, code };
  }
}

function pipeTo(child: ChildProcess): ConstructorParameters<typeof Channel>[0] {
  child.on('error', () => undefined); // of a message to a process that ends: `exit` tells
  return {
    send: (message, socket) => {
      if (child.connected) child.send(message, socket, {}, () => undefined);
    },
    onMessage: (receive) =>
      void child.on('message', (message, handle) => receive(message, handle as Socket | undefined)),
  };
}
