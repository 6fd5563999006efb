// Keeps the workers of one server: starts them, starts again what ended, replaces them one after
// the other, and ends all. Each has a slot; a slot is never without a worker but after a crash.
import { sleep } from '../../../lib/base/abort.ts';
import type { Clock } from '../../../lib/base/clock.ts';
import { pause } from '../../../lib/base/clock.ts';
import { limits } from '../../../lib/base/limits.ts';
import type { Logger } from '../../../lib/base/log.ts';
import { FlagError } from '../../../lib/config/flags.ts';
import type { ConnectionSpread } from './connection-spread.ts';
import type { ParentAnswers } from './messages.ts';
import { WorkerProcess } from './worker-process.ts';

export interface WorkersOptions {
  readonly count: number;
  readonly spread: ConnectionSpread;
  /** What every worker is answered, but for what is known here. */
  readonly answers: Pick<ParentAnswers, 'etcd' | 'openAudit' | 'writeAudit'>;
  /** One text of the texts of all at a path. */
  readonly metrics: (path: string) => Promise<string>;
  /** A worker has ended: what it had counted stays. */
  readonly ended: (worker: WorkerProcess) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a worker may take to drain. */
  readonly drainMs: number;
}

interface Slot {
  readonly index: number;
  /** Of workers that had ended by themselves. */
  restartCount: number;
  /** The worker that counts; undefined: it crashed, or is not there yet. */
  current: WorkerProcess | undefined;
  /** Crashes and failed starts in a row. */
  failureCount: number;
}

const { workerStartAttemptsMax, workerRestartFirstMs, workerRestartLastMs } = limits;
const { workerAskIntervalMs, workerAnswerTimeoutMs, workerSilencesMax } = limits;

export class Workers {
  /** Resolves when they cannot go on: what to tell the user. */
  readonly failed: Promise<FlagError>;
  readonly #options: WorkersOptions;
  readonly #slots: readonly Slot[];
  /** Also those that start, and those that have been replaced. */
  readonly #living = new Set<WorkerProcess>();
  readonly #stopping = new AbortController();
  #fail: (error: FlagError) => void = () => undefined;
  /** Starts after the first ones: one at a time. */
  #starts: Promise<unknown> = Promise.resolve();
  #replacing: Promise<void> | undefined;
  #isReplacingAgain = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.failed = new Promise((resolve) => (this.#fail = resolve));
    this.#slots = Array.from({ length: options.count }, (_, index) => ({
      index,
      restartCount: 0,
      current: undefined,
      failureCount: 0,
    }));
  }

  get living(): readonly WorkerProcess[] {
    return [...this.#living];
  }

  /**
   * The first one alone: it makes what all share. Resolves when all serve.
   * @throws FlagError in the words of the one that failed; `signal.reason`
   */
  async start(signal: AbortSignal): Promise<void> {
    const giveUp = (): void => {
      for (const worker of this.#living) worker.stop('SIGTERM');
    };
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const [first, ...others] = this.#slots;
      if (first !== undefined) await this.#fill(first);
      signal.throwIfAborted();
      await Promise.all(others.map((slot) => this.#fill(slot)));
      signal.throwIfAborted();
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    for (const slot of this.#slots) void this.#keep(slot);
  }

  /** Samples of `/metrics` that no worker knows. */
  get samples(): readonly (readonly [string, number])[] {
    const { spread } = this.#options;
    return this.#slots.flatMap(({ index, current, restartCount }) => {
      const labels = `{worker="${String(index)}"}`;
      const openCount = current === undefined ? 0 : spread.openCount(current.take);
      return [
        [`apiserver_worker_connections${labels}`, openCount] as const,
        [`apiserver_worker_restarts_total${labels}`, restartCount] as const,
      ];
    });
  }

  get url(): string {
    return this.#slots[0]?.current?.url ?? '';
  }

  /** Why not every worker but the one that asks serves; null: they do. */
  async othersFailure(asking: WorkerProcess): Promise<string | null> {
    const timeoutMs = workerAnswerTimeoutMs;
    const failures = await Promise.all(
      this.#slots.map(async ({ index, current }) => {
        const name = `worker ${String(index)}`;
        if (current === asking) return undefined;
        if (current?.url === undefined) return `${name} is being started`;
        try {
          const failure = await current.channel.ask('state', null, { timeoutMs });
          return failure === null ? undefined : `${name}: ${failure}`;
        } catch {
          return `${name} does not answer`;
        }
      }),
    );
    return failures.find((failure) => failure !== undefined) ?? null;
  }

  /** Each is replaced by a new one that serves before the old one drains. Never rejects. */
  replaceAll(): Promise<void> {
    this.#isReplacingAgain = this.#replacing !== undefined;
    this.#replacing ??= this.#replaceAll().finally(() => (this.#replacing = undefined));
    return this.#replacing;
  }

  /** Drains all at once; resolves when none lives. */
  async stop(): Promise<void> {
    const stopped = new Error('the server stops');
    this.#stopping.abort(stopped);
    for (const worker of this.#living) worker.stop('SIGTERM');
    await Promise.all([...this.#living].map((worker) => this.#endOf(worker)));
  }

  /** @throws FlagError when it does not come to serve */
  async #fill(slot: Slot): Promise<void> {
    slot.current = await this.#startOne(slot);
  }

  async #startOne({ index }: Slot): Promise<WorkerProcess> {
    const { count } = this.#options;
    let served = (): void => undefined;
    const serving = new Promise<undefined>((resolve) => (served = () => resolve(undefined)));
    const worker = new WorkerProcess({ index, count }, (asking) => this.#answersTo(asking, served));
    this.#living.add(worker);
    void worker.ended.then(() => {
      this.#living.delete(worker);
      void this.#options.spread.remove(worker.take);
      this.#options.ended(worker);
    });
    if (this.#stopping.signal.aborted) worker.stop('SIGTERM');
    const end = await Promise.race([serving, worker.ended]);
    if (end !== undefined) throw new FlagError(`${prefixOf(worker, index)}${end.reason}`);
    return worker;
  }

  #answersTo(worker: WorkerProcess, served: () => void): ParentAnswers {
    const { spread, metrics, answers } = this.#options;
    return {
      ...answers,
      listen: async (at) => {
        const port = await spread.listen(at);
        spread.add(worker.take);
        return port;
      },
      unlisten: async () => {
        await spread.remove(worker.take);
        if (this.#stopping.signal.aborted && !spread.hasTakers) spread.close();
        return null;
      },
      closed: (count) => {
        spread.closed(worker.take, count);
        return null;
      },
      others: () => this.othersFailure(worker),
      metrics,
      ready: (url) => {
        worker.url = url;
        served();
        return null;
      },
      failed: (reason) => {
        worker.failure = reason;
        return null;
      },
      last: (texts) => {
        worker.metrics = texts;
        return null;
      },
    };
  }

  /** As long as the server runs. */
  async #keep(slot: Slot): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const worker = slot.current;
      if (worker === undefined) return;
      const servedAtMs = clock.monotonicMs();
      this.#endIfSilent(worker).catch(() => undefined); // the server stops
      const { reason } = await worker.ended;
      if (signal.aborted) return;
      if (slot.current !== worker) continue; // it was replaced
      slot.current = undefined;
      if (clock.monotonicMs() - servedAtMs > limits.workerSteadyMs) slot.failureCount = 0;
      logger.error('a worker ended; another one takes its place', { worker: slot.index, reason });
      slot.restartCount++;
      await this.#restart(slot);
    }
  }

  /** One that hangs has connections that nobody serves: it ends, as if it had crashed. */
  async #endIfSilent(worker: WorkerProcess): Promise<void> {
    const { clock, logger } = this.#options;
    for (let silences = 0; silences < workerSilencesMax;) {
      await pause(clock, workerAskIntervalMs, this.#stopping.signal);
      if (!worker.isAlive) return;
      const asked = worker.channel.ask('state', null, { timeoutMs: workerAnswerTimeoutMs });
      silences = await asked.then(
        () => 0,
        () => silences + 1,
      );
    }
    logger.error('a worker does not answer and is killed', { worker: worker.place.index });
    worker.kill();
  }

  async #restart(slot: Slot): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopping;
    for (let attempt = 1; !signal.aborted; attempt++) {
      const waitMs = workerRestartFirstMs * 2 ** slot.failureCount;
      slot.failureCount++;
      await pause(clock, Math.min(waitMs, workerRestartLastMs), signal);
      try {
        await this.#inTurn(async () => {
          if (!signal.aborted) slot.current ??= await this.#startOne(slot);
        });
        return;
      } catch (error) {
        if (signal.aborted) return;
        const failure = error as FlagError;
        logger.error('a worker does not start', { worker: slot.index, reason: failure.message });
        if (attempt < workerStartAttemptsMax) continue;
        this.#fail(failure);
        return;
      }
    }
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    const mine = this.#starts.then(run);
    this.#starts = mine.catch(() => undefined);
    return mine;
  }

  async #replaceAll(): Promise<void> {
    const { logger } = this.#options;
    do {
      this.#isReplacingAgain = false;
      for (const slot of this.#slots) {
        if (this.#stopping.signal.aborted) return;
        try {
          await this.#replace(slot);
        } catch (error) {
          const { message: reason } = error as Error;
          logger.error('a new worker does not start: the present ones stay', { reason });
          break;
        }
      }
    } while (this.#isReplacingAgain);
  }

  async #replace(slot: Slot): Promise<void> {
    const { spread, logger } = this.#options;
    let old: WorkerProcess | undefined;
    await this.#inTurn(async () => {
      if (this.#stopping.signal.aborted) return;
      const next = await this.#startOne(slot);
      old = slot.current;
      slot.current = next;
      slot.failureCount = 0;
    });
    if (old === undefined) return;
    // One that hangs may never take the connections that are on their way to it.
    const ended = this.#endOf(old);
    await Promise.race([spread.remove(old.take), ended]);
    old.stop('replaced');
    await ended;
    logger.info('a worker is replaced', { worker: slot.index, pid: slot.current?.pid });
  }

  /** Resolves when it has ended: by force, when draining takes too long. */
  async #endOf(worker: WorkerProcess): Promise<void> {
    const waiting = new AbortController();
    const force = async (): Promise<void> => {
      await sleep(this.#options.drainMs + limits.workerStopMarginMs, waiting.signal);
      this.#options.logger.error('a worker does not end and is killed', {
        worker: worker.place.index,
      });
      worker.kill();
    };
    force().catch(() => undefined); // it ended in time
    await worker.ended;
    waiting.abort(new Error('it ended'));
  }
}

/** What a worker says of flags is as if there were one process. */
const prefixOf = ({ failure }: WorkerProcess, index: number): string =>
  failure === undefined ? `worker ${String(index)} does not start: ` : '';
