// What is recorded of requests, and where: the policy and the backends that flags name.
import { readFileSync } from 'node:fs';
import { Auditor } from '../../lib/audit/auditor.ts';
import { blockingBackend, truncatingBackend, unionBackend } from '../../lib/audit/backend.ts';
import type { AuditBackend, AuditObserver, EventWriter } from '../../lib/audit/backend.ts';
import { BatchBackend } from '../../lib/audit/batch.ts';
import { LogWriter } from '../../lib/audit/log-writer.ts';
import { LostEvents } from '../../lib/audit/lost-events.ts';
import { readPolicy } from '../../lib/audit/policy-file.ts';
import { WebhookWriter } from '../../lib/audit/webhook-writer.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';
import { openAuditLog } from './audit-log.ts';
import type { Base } from './base.ts';
import { openConfigured } from './client-parts.ts';
import { orFileError } from './file-problem.ts';
import { auditObserver } from './audit-observer.ts';

type BackendName = 'log' | 'webhook';

/**
 * undefined: nothing is recorded. What is recorded is written before the process ends.
 * @throws FlagError for a policy, file or number that cannot be used
 */
export async function openAudit(base: Base): Promise<Auditor | undefined> {
  const { flags, logger, clock, metrics, naming, scheme, started } = base;
  for (const name of ['log', 'webhook'] as const)
    checkFlags(flags, name, `${naming.auditGroup}/v1`);
  const { 'audit-log-path': path = '', 'audit-webhook-config-file': config } = flags;
  const policyFile = flags['audit-policy-file'];
  const isWanted = path !== '' || config !== undefined;
  if (policyFile === undefined) {
    if (isWanted) logger.warn('no audit events are written: there is no --audit-policy-file');
    return undefined;
  }
  const policy = orFileError('audit-policy-file', policyFile, () =>
    readPolicy(readFileSync(policyFile, 'utf8'), scheme),
  );
  if (!isWanted) {
    logger.warn('no audit events are written: no flag says where to');
    return undefined;
  }
  const lost = new LostEvents(logger, clock);
  const observer = auditObserver(metrics, lost);
  const backends: AuditBackend[] = [];
  if (path !== '') backends.push(backendOf(base, 'log', await logWriter(base, path), observer));
  if (config !== undefined) {
    backends.push(backendOf(base, 'webhook', await webhookWriter(base, config), observer));
  }
  const backend = unionBackend(backends);
  started.defer(async () => {
    await backend.close();
    lost.tell();
  });
  const keys = {
    decision: naming.decisionAuditAnnotation,
    latency: naming.latencyAuditAnnotation,
    reason: naming.reasonAuditAnnotation,
  };
  return new Auditor({ policy, backend, clock, observer, keys });
}

/** @throws FlagError */
function checkFlags(flags: Flags, name: BackendName, apiVersion: string): void {
  const refuse = (flag: keyof Flags, problem: string): never => {
    throw new FlagError(`--${flag}=${given(flags[flag])}: ${problem}`);
  };
  const positive = (flag: keyof Flags): void => {
    if (Number(flags[flag]) <= 0) refuse(flag, 'must be a positive number');
  };
  const version = flags[`audit-${name}-version`];
  if (version !== undefined && version !== apiVersion) {
    refuse(`audit-${name}-version`, `must be ${apiVersion}, there is no other one`);
  }
  if (flags[`audit-${name}-mode`] === 'batch') {
    positive(`audit-${name}-batch-buffer-size`);
    positive(`audit-${name}-batch-max-size`);
    if (flags[`audit-${name}-batch-throttle-enable`]) {
      positive(`audit-${name}-batch-throttle-qps`);
      positive(`audit-${name}-batch-throttle-burst`);
    }
  }
  if (flags[`audit-${name}-truncate-enabled`]) {
    const [event, batch] = [
      `audit-${name}-truncate-max-event-size`,
      `audit-${name}-truncate-max-batch-size`,
    ] as const;
    positive(event);
    if (flags[batch] < flags[event]) refuse(batch, `must not be less than --${event}`);
  }
  for (const flag of ['audit-log-maxage', 'audit-log-maxbackup', 'audit-log-maxsize'] as const) {
    if (flags[flag] < 0) refuse(flag, 'must not be less than 0');
  }
}

function backendOf(
  { flags, clock, naming }: Base,
  name: BackendName,
  writer: EventWriter,
  observer: AuditObserver,
): AuditBackend {
  const mode = flags[`audit-${name}-mode`];
  const truncates = flags[`audit-${name}-truncate-enabled`];
  const isThrottled = flags[`audit-${name}-batch-throttle-enable`];
  const batching = {
    bufferCountMax: flags[`audit-${name}-batch-buffer-size`],
    batchCountMax: flags[`audit-${name}-batch-max-size`],
    batchBytesMax: truncates ? flags[`audit-${name}-truncate-max-batch-size`] : Infinity,
    batchWaitMs: flags[`audit-${name}-batch-max-wait`],
    throttle: isThrottled
      ? {
          perSecond: flags[`audit-${name}-batch-throttle-qps`],
          burst: flags[`audit-${name}-batch-throttle-burst`],
        }
      : undefined,
  };
  const backend =
    mode === 'batch'
      ? new BatchBackend(writer, batching, { clock, observer })
      : blockingBackend(writer, { isStrict: mode === 'blocking-strict', observer });
  if (!truncates) return backend;
  const eventBytesMax = flags[`audit-${name}-truncate-max-event-size`];
  const annotation = naming.truncatedAuditAnnotation;
  return truncatingBackend(backend, { eventBytesMax, annotation, observer });
}

async function logWriter(base: Base, path: string): Promise<LogWriter> {
  const { flags, naming, worker } = base;
  const sink = worker === undefined ? openAuditLog(base, path) : await worker.auditLog(path);
  const apiVersion = `${naming.auditGroup}/v1`;
  return new LogWriter(sink, { format: flags['audit-log-format'], apiVersion });
}

async function webhookWriter(base: Base, config: string): Promise<WebhookWriter> {
  const { flags, clock, naming } = base;
  // Events of many requests are sent together: in the trace of none.
  const calls = { ...base.calls, tracing: undefined };
  const target = await openConfigured({ calls }, 'audit-webhook-config-file', config);
  return new WebhookWriter(target, {
    apiVersion: `${naming.auditGroup}/v1`,
    firstRetryMs: flags['audit-webhook-initial-backoff'],
    clock,
  });
}

const given = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
