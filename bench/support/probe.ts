// Loaded into measured processes with --import: answers the parent's questions about this process
// over IPC. Only benchmarks load it; the product carries nothing of it.
import { subscribe } from 'node:diagnostics_channel';
import { Session } from 'node:inspector/promises';
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

export type ProbeQuestion =
  | { readonly ask: 'cpu' }
  | { readonly ask: 'memory' }
  | { readonly ask: 'watchStalls' }
  | { readonly ask: 'stalls' }
  | { readonly ask: 'startProfile' }
  | { readonly ask: 'stopProfile'; readonly file: string }
  | { readonly ask: 'startSurvivors' }
  | { readonly ask: 'stopSurvivors'; readonly file: string }
  | { readonly ask: 'heapSnapshot'; readonly file: string }
  | { readonly ask: 'run'; readonly args: readonly unknown[] };

/** What a baseline process does when its parent says `run`. */
export type BaselineRun = (...args: never[]) => Promise<object>;
const runKey = Symbol.for('bench.run');
export function onRun(run: BaselineRun): void {
  (globalThis as unknown as Record<symbol, BaselineRun>)[runKey] = run;
}

/** CPU of the whole process since its start. */
export interface CpuAnswer {
  readonly micros: number;
}
/** After forced collections. */
export interface MemoryAnswer {
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** ArrayBuffers included. */
  readonly externalBytes: number;
  readonly arrayBufferBytes: number;
}
/**
 * Pauses of the event loop since `watchStalls`: as others see them, and the CPU that one turn of
 * the loop took, which does not count the time that another process had the core.
 */
export interface StallsAnswer {
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly cpuMaxMs: number;
}

const stallResolutionMs = 1;
const delays = monitorEventLoopDelay({ resolution: stallResolutionMs });
let session: Session | undefined;
let turnTimer: NodeJS.Timeout | undefined;
let cpuMaxMicros = 0;

/**
 * Timers run once a turn: what the thread used since the timer before is one turn, and at most 1 ms
 * of others.
 */
function watchTurns(): void {
  let last = process.threadCpuUsage();
  cpuMaxMicros = 0;
  turnTimer = setInterval(() => {
    const now = process.threadCpuUsage();
    cpuMaxMicros = Math.max(cpuMaxMicros, now.user + now.system - last.user - last.system);
    last = now;
  }, stallResolutionMs);
  turnTimer.unref();
}

async function answer(question: ProbeQuestion): Promise<object> {
  switch (question.ask) {
    case 'cpu': {
      const { user, system } = process.cpuUsage();
      return { micros: user + system } satisfies CpuAnswer;
    }
    case 'memory':
      return memory();
    case 'watchStalls':
      delays.reset();
      delays.enable();
      watchTurns();
      return {};
    case 'stalls':
      delays.disable();
      clearInterval(turnTimer);
      return {
        p99Ms: Math.max(0, delays.percentile(99) / 1e6 - stallResolutionMs),
        maxMs: Math.max(0, delays.max / 1e6 - stallResolutionMs),
        cpuMaxMs: cpuMaxMicros / 1e3,
      } satisfies StallsAnswer;
    case 'startProfile':
      session = new Session();
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: 200 });
      await session.post('Profiler.start');
      return {};
    case 'stopProfile': {
      const stopped = await session?.post('Profiler.stop');
      session?.disconnect();
      writeFileSync(question.file, JSON.stringify(stopped?.profile));
      return {};
    }
    case 'startSurvivors':
      session = new Session();
      session.connect();
      await session.post('HeapProfiler.startSampling', {
        samplingInterval: 16_384,
        includeObjectsCollectedByMajorGC: true,
      });
      return {};
    case 'stopSurvivors': {
      const stopped = await session?.post('HeapProfiler.stopSampling');
      session?.disconnect();
      writeFileSync(question.file, JSON.stringify(stopped?.profile));
      return {};
    }
    case 'run': {
      const run = (globalThis as unknown as Record<symbol, BaselineRun | undefined>)[runKey];
      if (run === undefined) throw new Error('this process runs nothing');
      return run(...(question.args as never[]));
    }
    case 'heapSnapshot': {
      const { writeHeapSnapshot } = await import('node:v8');
      writeHeapSnapshot(question.file);
      return {};
    }
  }
}

/**
 * Collects several times with pauses: freed pages go back to the system after the collection, not
 * in it.
 */
async function memory(): Promise<MemoryAnswer> {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error('start the process with --expose-gc');
  for (let round = 0; round < 4; round++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  return {
    rssBytes: rss,
    heapBytes: heapUsed,
    externalBytes: external,
    arrayBufferBytes: arrayBuffers,
  };
}

if (process.env['BENCH_WATCH_STALLS'] === '1') watchTurnsOnceListening();

/**
 * Loading modules is one long turn that nobody waits for: what counts begins with the socket that
 * stays. A server first listens for a moment to see whether it may; then all begins anew.
 */
function watchTurnsOnceListening(): void {
  subscribe('tracing:net.server.listen:asyncEnd', () => {
    clearInterval(turnTimer);
    watchTurns();
  });
}

process.on('message', (message: ProbeQuestion & { readonly id: number }) => {
  answer(message).then(
    (answered) => process.send?.({ id: message.id, answer: answered }),
    (error: unknown) => process.send?.({ id: message.id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(1));
process.channel?.unref();
