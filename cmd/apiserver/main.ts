// The command: flags → assemble → listen → drain on SIGTERM; nothing else.
import { limits } from '../../lib/base/limits.ts';
import { FlagError } from '../../lib/config/flags.ts';
import { helpText, parseFlags, swallowedFlags } from '../../lib/config/parse-flags.ts';
import { createLogger } from '../../lib/base/log.ts';
import { StatusError } from '../../lib/base/status.ts';
import { assemble } from './assemble.ts';
import { versionText } from './version.ts';

const { sameSignalMs } = limits;

async function main(): Promise<number> {
  const lost = swallowedFlags(process.env);
  if (lost !== undefined) throw new FlagError(lost);
  const argv = process.argv.slice(2);
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(helpText());
    return 0;
  }
  const { flags, texts, given, warnings } = parseFlags(argv);
  if (flags.version !== 'false') {
    process.stdout.write(versionText(flags.version));
    return 0;
  }
  const logger = createLogger(flags['log-level']);
  for (const warning of warnings) logger.warn(warning);
  const starting = new AbortController();
  const stopSignal = nextSignal(() => starting.abort(new FlagError('stopped before it was ready')));
  const server = await assemble({ flags, texts, given }, logger, starting.signal);
  process.stdout.write(server.greeting);
  const why = await Promise.race([stopSignal, server.failed]);
  if (typeof why === 'string') logger.info('shutting down', { signal: why });
  else logger.error('shutting down', { reason: why.message });
  await server.stop();
  if (typeof why !== 'string') throw why;
  return 0;
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
  (error: unknown) => {
    const isExpected = error instanceof FlagError || error instanceof StatusError;
    const text = Error.isError(error) ? (isExpected ? error.message : error.stack) : String(error);
    process.stderr.write(`apiserver: ${text ?? ''}\n`);
    process.exit(1);
  },
);
