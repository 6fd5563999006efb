// The command: flags → assemble → listen → drain on SIGTERM; nothing else.
import { limits } from '../../lib/base/limits.ts';
import { FlagError } from '../../lib/config/flags.ts';
import { helpText, parseFlags, swallowedFlags } from '../../lib/config/parse-flags.ts';
import { createLogger } from '../../lib/base/log.ts';
import type { Logger } from '../../lib/base/log.ts';
import type { ParsedFlags } from '../../lib/config/parse-flags.ts';
import { StatusError } from '../../lib/base/status.ts';
import { assemble } from './assemble.ts';
import type { Assembled } from './assemble.ts';
import { versionText } from './version.ts';
import { placeVariable, workerCount } from './workers/place.ts';
import type { WorkerLink } from './workers/worker-link.ts';

type Parsed = Omit<ParsedFlags, 'warnings'>;

const { sameSignalMs } = limits;

const stoppedEarly = 'stopped before it was ready';
/** undefined: this process was started by a user. */
const worker = process.env[placeVariable] === undefined ? undefined : await openWorkerLink();

async function main(): Promise<number> {
  const lost = swallowedFlags(process.env);
  if (lost !== undefined) throw new FlagError(lost);
  const argv = process.argv.slice(2);
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(helpText());
    return 0;
  }
  const { warnings, ...parsed } = parseFlags(argv);
  const { flags } = parsed;
  if (flags.version !== 'false') {
    process.stdout.write(versionText(flags.version));
    return 0;
  }
  const logger = createLogger(flags['log-level']);
  if (worker !== undefined) {
    await serveAsWorker(worker, parsed, logger);
    return 0;
  }
  for (const warning of warnings) logger.warn(warning);
  const starting = new AbortController();
  const stopSignal = nextSignal(() => starting.abort(new FlagError(stoppedEarly)));
  const server = await start(parsed, logger, starting.signal);
  process.stdout.write(server.greeting);
  const why = await Promise.race([stopSignal, server.failed]);
  if (typeof why === 'string') logger.info('shutting down', { signal: why });
  else logger.error('shutting down', { reason: why.message });
  await server.stop();
  if (typeof why !== 'string') throw why;
  return 0;
}

/** One process does all, unless several are asked for. */
async function start(parsed: Parsed, logger: Logger, signal: AbortSignal): Promise<Assembled> {
  const { flags } = parsed;
  const count = workerCount(flags);
  if (count === 1) return assemble(parsed, logger, signal);
  const { startWorkers } = await import('./workers/start-workers.ts');
  return startWorkers({ flags, logger, count }, signal);
}

async function openWorkerLink(): Promise<WorkerLink | undefined> {
  const { openLink } = await import('./workers/worker-link.ts');
  return openLink();
}

/** One of several, until its parent tells it to end. */
async function serveAsWorker(worker: WorkerLink, parsed: Parsed, logger: Logger): Promise<void> {
  const { index } = worker.place;
  const starting = new AbortController();
  void worker.stopped.then(() => starting.abort(new FlagError(stoppedEarly)));
  const own = logger.with({ worker: index });
  const server = await assemble({ ...parsed, worker }, own, starting.signal);
  worker.ready(server.url);
  const why = await worker.stopped;
  own.info('shutting down', { signal: why });
  await server.stop();
  await worker.last();
}

/** Resolves at the first SIGINT or SIGTERM; another one after a while ends the process at once. */
function nextSignal(onFirst: () => void): Promise<string> {
  return new Promise((resolve) => {
    let firstAtMs: number | undefined;
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        if (firstAtMs !== undefined && performance.now() - firstAtMs > sameSignalMs)
          process.exit(1);
        firstAtMs ??= performance.now();
        onFirst();
        resolve(name);
      });
    }
  });
}

main().then(
  (code) => process.exit(code),
  async (error: unknown) => {
    const isExpected = error instanceof FlagError || error instanceof StatusError;
    const text = Error.isError(error) ? (isExpected ? error.message : error.stack) : String(error);
    if (worker === undefined) process.stderr.write(`apiserver: ${text ?? ''}\n`);
    else await worker.failed(text ?? '').catch(() => undefined);
    process.exit(1);
  },
);
