// Flags of what is recorded of requests, and where.
import { optional, required } from './flag.ts';
import { bool, choice, durationMs, fraction, integer, path, text } from './flag-kinds.ts';

const section = 'Audit';
const anyInteger = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
const anyNumber = fraction(-Number.MAX_VALUE, Number.MAX_VALUE);
const mode = choice('batch', 'blocking', 'blocking-strict');
const modeHelp =
  'batch: requests do not wait, events that do not fit into the buffer are lost; blocking: ' +
  'answers wait until events are written; blocking-strict: requests that cannot be recorded ' +
  'fail, too.';
const bufferHelp = 'Events that may wait to be written, in mode batch.';
const sizeHelp = 'Events that are written together, in mode batch.';
const waitHelp = 'How long an event waits for others to be written with it, in mode batch.';
const throttleHelp = 'Whether the batches of mode batch are limited.';
const qpsHelp = 'Batches that are written in a second on average, where they are limited.';
const burstHelp = 'Batches that are written at once, where they are limited.';
const truncateHelp = 'Whether large events are truncated, and large batches split.';
const batchBytesHelp = 'Bytes of a batch, where they are limited; a larger one is split.';
const eventBytesHelp =
  'Bytes of an event, where they are limited: a larger one loses its objects, and one that is ' +
  'still larger is lost.';
const versionHelp = 'Version of the events; there is v1 alone.';

export const auditFlags = {
  'audit-policy-file': optional(
    section,
    path,
    'Policy in YAML or JSON: what is recorded of which requests. Without it nothing is.',
  ),

  'audit-log-path': optional(
    section,
    text,
    'File that events are written to, a line each; - is standard output.',
  ),
  'audit-log-format': required(
    section,
    choice('json', 'legacy'),
    'json',
    'Form of the lines: JSON, or text that holds a part of each event.',
  ),
  'audit-log-maxage': required(
    section,
    anyInteger,
    '0',
    'Days that rotated files are kept, by the time in their names; 0: for ever.',
  ),
  'audit-log-maxbackup': required(
    section,
    anyInteger,
    '0',
    'Rotated files that are kept; 0: all that are not too old.',
  ),
  'audit-log-maxsize': required(
    section,
    anyInteger,
    '0',
    'Megabytes of the file after which it is rotated; 0: 100.',
  ),
  'audit-log-compress': required(section, bool, 'false', 'Compress rotated files (gzip).'),
  'audit-log-mode': required(section, mode, 'blocking', modeHelp),
  'audit-log-batch-buffer-size': required(section, anyInteger, '10000', bufferHelp),
  'audit-log-batch-max-size': required(section, anyInteger, '1', sizeHelp),
  'audit-log-batch-max-wait': required(section, durationMs, '0s', waitHelp),
  'audit-log-batch-throttle-enable': required(section, bool, 'false', throttleHelp),
  'audit-log-batch-throttle-qps': required(section, anyNumber, '0', qpsHelp),
  'audit-log-batch-throttle-burst': required(section, anyInteger, '0', burstHelp),
  'audit-log-truncate-enabled': required(section, bool, 'false', truncateHelp),
  'audit-log-truncate-max-batch-size': required(section, anyInteger, '10485760', batchBytesHelp),
  'audit-log-truncate-max-event-size': required(section, anyInteger, '102400', eventBytesHelp),
  'audit-log-version': optional(section, text, versionHelp),

  'audit-webhook-config-file': optional(
    section,
    path,
    'kubeconfig file of a webhook that events are sent to, as lists of them.',
  ),
  'audit-webhook-initial-backoff': required(
    section,
    durationMs,
    '10s',
    'Wait before a list is sent for the second time; each further one is half as long again.',
  ),
  'audit-webhook-mode': required(section, mode, 'batch', modeHelp),
  'audit-webhook-batch-buffer-size': required(section, anyInteger, '10000', bufferHelp),
  'audit-webhook-batch-max-size': required(section, anyInteger, '400', sizeHelp),
  'audit-webhook-batch-max-wait': required(section, durationMs, '30s', waitHelp),
  'audit-webhook-batch-throttle-enable': required(section, bool, 'true', throttleHelp),
  'audit-webhook-batch-throttle-qps': required(section, anyNumber, '10', qpsHelp),
  'audit-webhook-batch-throttle-burst': required(section, anyInteger, '15', burstHelp),
  'audit-webhook-truncate-enabled': required(section, bool, 'false', truncateHelp),
  'audit-webhook-truncate-max-batch-size': required(
    section,
    anyInteger,
    '10485760',
    batchBytesHelp,
  ),
  'audit-webhook-truncate-max-event-size': required(section, anyInteger, '102400', eventBytesHelp),
  'audit-webhook-version': optional(section, text, versionHelp),
} as const;
