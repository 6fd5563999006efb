// A process under measurement, pinned to one core: started with the probe, asked over IPC, ended by
// its owner.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { productStart } from '../../scripts/product-start.ts';
import type { CpuAnswer, MemoryAnswer, ProbeQuestion, StallsAnswer } from './probe.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const probe = fileURLToPath(new URL('probe.ts', import.meta.url));
const startTimeoutMs = 60_000;
const answerTimeoutMs = 30_000;

/** The measured process has core 0 for itself; run.ts puts everything else on core 1. */
const pinning: readonly string[] =
  existsSync('/usr/bin/taskset') && availableParallelismOfMachine() > 1
    ? ['/usr/bin/taskset', '-c', '0']
    : [];

/** This process itself is pinned by run.ts, so its own parallelism says nothing. */
function availableParallelismOfMachine(): number {
  return process.platform === 'linux'
    ? readFileSync('/proc/cpuinfo', 'utf8').split('\nprocessor').length
    : availableParallelism();
}

/**
 * For experiments: `BENCH_NODE_FLAGS='--trace-gc' npm run bench -- get`; what such a flag prints is
 * shown at the end.
 */
const extraFlags = (process.env['BENCH_NODE_FLAGS'] ?? '').split(' ').filter((flag) => flag !== '');

export class MeasuredProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #waiting = new Map<
    number,
    { resolve(answer: object): void; reject(error: Error): void }
  >();
  #lastId = 0;
  #output = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()));
    child.on('message', (message: { id: number; answer?: object; error?: string }) => {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.answer === undefined) waiting?.reject(new Error(message.error));
      else waiting?.resolve(message.answer);
    });
    const collect = (chunk: Buffer): void => {
      this.#output += chunk.toString('utf8');
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
  }

  /** Resolves when the output matches `ready`; gives the match. */
  static async start(
    script: string,
    options: {
      readonly args: readonly string[];
      readonly nodeFlags?: readonly string[];
      /** Pauses are watched as soon as the process listens. */
      readonly watchStalls?: boolean;
      readonly ready: RegExp;
      /** Of the tree whose script it is; default: this one. Ends in a slash. */
      readonly folder?: string;
    },
  ): Promise<{ process: MeasuredProcess; match: RegExpExecArray }> {
    const product = productStart(options.folder);
    const command = [
      ...pinning,
      process.execPath,
      '--expose-gc',
      ...(options.nodeFlags ?? product.flags),
      ...extraFlags,
      `--import=${probe}`,
      `${options.folder ?? root}${script}`,
      ...options.args,
    ];
    const [file = '', ...args] = command;
    const child = spawn(file, args, {
      cwd: options.folder ?? root,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...process.env,
        ...product.environment,
        NODE_OPTIONS: '',
        BENCH_WATCH_STALLS: options.watchStalls === true ? '1' : '0',
      },
    });
    const started = new MeasuredProcess(child);
    const giveUpAt = performance.now() + startTimeoutMs;
    for (;;) {
      const match = options.ready.exec(started.#output);
      if (match !== null) return { process: started, match };
      if (child.exitCode !== null || performance.now() > giveUpAt) {
        child.kill('SIGKILL');
        throw new Error(`${script} did not start:\n${started.#output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get output(): string {
    return this.#output;
  }

  async cpuMicros(): Promise<number> {
    return ((await this.#ask({ ask: 'cpu' })) as CpuAnswer).micros;
  }

  /** CPU that the process used while `run` ran. */
  async cpuOf<T>(run: () => Promise<T>): Promise<{ result: T; micros: number }> {
    const before = await this.cpuMicros();
    const result = await run();
    return { result, micros: (await this.cpuMicros()) - before };
  }

  async memory(): Promise<MemoryAnswer> {
    return (await this.#ask({ ask: 'memory' })) as MemoryAnswer;
  }

  /** Since `watchStalls`. */
  async stalls(): Promise<StallsAnswer> {
    return (await this.#ask({ ask: 'stalls' })) as StallsAnswer;
  }

  async stallsOf<T>(run: () => Promise<T>): Promise<{ result: T; stalls: StallsAnswer }> {
    await this.#ask({ ask: 'watchStalls' });
    const result = await run();
    return { result, stalls: await this.stalls() };
  }

  async profileOf<T>(file: string, run: () => Promise<T>): Promise<T> {
    await this.#ask({ ask: 'startProfile' });
    const result = await run();
    await this.#ask({ ask: 'stopProfile', file });
    return result;
  }

  /** What was allocated while `run` ran and outlived a minor collection, by call stack. */
  async survivorsOf<T>(file: string, run: () => Promise<T>): Promise<T> {
    await this.#ask({ ask: 'startSurvivors' });
    const result = await run();
    await this.#ask({ ask: 'stopSurvivors', file });
    return result;
  }

  /** What the process gave to `onRun` of probe.ts. */
  async run(...args: readonly unknown[]): Promise<object> {
    return this.#ask({ ask: 'run', args });
  }

  async heapSnapshot(file: string): Promise<void> {
    await this.#ask({ ask: 'heapSnapshot', file });
  }

  /** SIGTERM, and SIGKILL when that takes too long. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 3_000);
    this.#child.kill('SIGTERM');
    await this.#exited;
    clearTimeout(timer);
    if (extraFlags.length > 0) console.log(this.#output);
  }

  #ask(question: ProbeQuestion): Promise<object> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no answer: ${question.ask}`)),
        answerTimeoutMs,
      );
      const settle = <T>(run: (value: T) => void) => {
        return (value: T): void => {
          clearTimeout(timer);
          run(value);
        };
      };
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
      this.#child.send({ ...question, id });
    });
  }
}
