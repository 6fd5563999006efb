// Traces as --tracing-config-file asks for them. Their libraries are loaded where it is given.
import { hostname } from 'node:os';
import { readFileSync } from 'node:fs';
import { namingProfile } from '../../lib/api/vendor.ts';
import { systemClock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { openTracing } from '../../lib/telemetry/open-tracing.ts';
import type { Tracing } from '../../lib/telemetry/tracing.ts';
import { orFileError } from './file-problem.ts';
import { advertisedAddress, hostAndPort } from './own-address.ts';
import { serverIdHash } from './reload-observer.ts';
import { readTracingConfiguration } from './tracing-file.ts';

/** What is loaded only where it is wanted. */
interface Library {
  readonly openTracing: typeof openTracing;
}

/**
 * undefined: nothing is traced. What waits to be sent is sent when all that was started later has
 * ended.
 * @throws FlagError that names the field
 */
export async function givenTracing({
  flags,
  logger: log,
  started,
}: {
  readonly flags: Flags;
  readonly logger: Logger;
  readonly started: AsyncDisposableStack;
}): Promise<Tracing | undefined> {
  const path = flags['tracing-config-file'];
  if (path === undefined) return undefined;
  const configuration = orFileError('tracing-config-file', path, () =>
    readTracingConfiguration(readFileSync(path, 'utf8'), namingProfile(flags.naming)),
  );
  const library: Library = await import('../../lib/telemetry/open-tracing.ts');
  const address = hostAndPort(advertisedAddress(flags), flags['secure-port']);
  const instanceId = serverIdHash(address);
  const host = hostname();
  const opened = library.openTracing(configuration, { clock: systemClock, log, instanceId, host });
  started.defer(() => opened.close());
  return opened.tracing;
}
