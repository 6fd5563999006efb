// The file of the audit log as flags want it, or standard output.
import { streamSink } from '../../lib/audit/byte-sink.ts';
import type { ByteSink } from '../../lib/audit/byte-sink.ts';
import { LogFile } from '../../lib/audit/log-file.ts';
import type { Clock } from '../../lib/base/clock.ts';
import { limits } from '../../lib/base/limits.ts';
import type { Logger } from '../../lib/base/log.ts';
import type { Flags } from '../../lib/config/flags.ts';
import { orFileError } from './file-problem.ts';

interface AuditLogOptions {
  readonly flags: Flags;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/** @throws FlagError for a file that cannot be opened */
export const openAuditLog = (options: AuditLogOptions, path: string): ByteSink =>
  orFileError('audit-log-path', path, () => auditLog(options, path));

function auditLog({ flags, clock, logger }: AuditLogOptions, path: string): ByteSink {
  if (path === '-') return streamSink(process.stdout);
  const megabytes = flags['audit-log-maxsize'];
  return new LogFile(path, {
    bytesMax: (megabytes === 0 ? limits.auditLogMegabytes : megabytes) * 1024 * 1024,
    daysMax: flags['audit-log-maxage'],
    olderCountMax: flags['audit-log-maxbackup'],
    compress: flags['audit-log-compress'],
    clock,
    failed: (error) => logger.warn('an older audit log cannot be tidied up', { path, error }),
  });
}
