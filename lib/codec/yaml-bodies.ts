// Large YAML bodies are read in a thread of their own, one after another, and go on as JSON. It
// starts with the first of them, ends when it has nothing to do, and keeps no process alive.
import { Worker } from 'node:worker_threads';
import { abortable } from '../base/abort.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import { requestEntityTooLarge, StatusError, tooManyRequests } from '../base/status.ts';
import type { YamlAnswer } from './yaml-thread.ts';

interface Waiting {
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
  readonly resolve: (json: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

export class YamlBodies {
  #worker: Worker | undefined;
  #current: Waiting | undefined;
  readonly #waiting: Waiting[] = [];
  #idle: NodeJS.Timeout | undefined;

  /**
   * The body, as JSON where it is long.
   * @throws StatusError 400 or 413 as `yamlAsJson`, 429 when too many wait, or the signal's reason.
   */
  async asJson(body: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    if (body.length <= limits.yamlTurnBytesMax) return body;
    signal.throwIfAborted();
    if (this.#waiting.length >= limits.yamlQueueMax) {
      throw tooManyRequests('too many large YAML bodies at once', 1);
    }
    const read = new Promise<Uint8Array>((resolve, reject) => {
      this.#waiting.push({ body, signal, resolve, reject });
    });
    this.#next();
    return abortable(read, signal);
  }

  /** Ends the thread; a body that comes later starts it again. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #next(): void {
    if (this.#current !== undefined) return;
    clearTimeout(this.#idle);
    do this.#current = this.#waiting.shift();
    while (this.#current?.signal.aborted === true);
    if (this.#current === undefined) {
      this.#idle = setTimeout(() => void this.close(), limits.yamlThreadIdleMs).unref();
      return;
    }
    this.#worker ??= this.#start();
    this.#worker.postMessage(this.#current.body);
  }

  #start(): Worker {
    const worker = new Worker(new URL('yaml-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: limits.yamlThreadHeapMiB },
    });
    worker.unref();
    worker.on('message', (answer: YamlAnswer) => {
      const { resolve, reject } = this.#take();
      if ('json' in answer) resolve(answer.json);
      else reject(new StatusError(answer.code, answer.reason as 'BadRequest', answer.message));
      this.#next();
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      this.#worker = undefined;
      const { reject } = this.#take();
      const isTooMuch = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      reject(isTooMuch ? requestEntityTooLarge('the YAML body holds too many values') : error);
      this.#next();
    });
    return worker;
  }

  #take(): Pick<Waiting, 'resolve' | 'reject'> {
    const current = this.#current;
    invariant(current !== undefined, 'the thread speaks of the body that it was given');
    this.#current = undefined;
    return current;
  }
}
