// A server of several workers (`--workers`): each is a whole replica in a process of its own. The
// parent has what there is once: the port, the folder, its own etcd, the file of the audit log, and
// the greeting. docs/adr/0057-workers-are-replicas-behind-one-port.md says why.
import { namingProfile } from '../../../lib/api/vendor.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { limits } from '../../../lib/base/limits.ts';
import type { Logger } from '../../../lib/base/log.ts';
import type { ByteSink } from '../../../lib/audit/byte-sink.ts';
import type { Flags } from '../../../lib/config/flags.ts';
import type { Assembled } from '../assemble.ts';
import { DataDirectory, releaseOrWarn } from '../data-directory.ts';
import { greeting } from '../greeting.ts';
import { startLocalEtcd } from '../local-etcd.ts';
import type { LocalEtcd } from '../local-etcd.ts';
import { checkListening } from '../own-address.ts';
import { ConnectionSpread } from './connection-spread.ts';
import { MergedMetrics, acrossRules } from './merged-metrics.ts';
import type { ParentAnswers } from './messages.ts';
import type { WorkerProcess } from './worker-process.ts';
import { Workers } from './workers.ts';

/** @throws FlagError with a message for the user; `signal.reason`. */
export async function startWorkers(
  {
    flags,
    logger,
    count,
  }: { readonly flags: Flags; readonly logger: Logger; readonly count: number },
  signal: AbortSignal,
): Promise<Assembled> {
  const clock = systemClock;
  const startedAtMs = clock.monotonicMs();
  await using started = new AsyncDisposableStack();
  await checkListening(flags);
  const directory = DataDirectory.open(flags['data-dir']);
  started.defer(() => releaseOrWarn(directory, logger));
  const etcd = onceAsked(() => startLocalEtcd(directory, say, signal));
  started.defer(async () => (await etcd.asked?.catch(() => undefined))?.stop());
  const audit = new AuditLog(flags, logger);
  started.defer(() => audit.close());
  const spread = new ConnectionSpread();
  started.defer(() => spread.close());
  const metrics = new CollectedMetrics(flags);
  const workers: Workers = new Workers({
    ...{ count, spread, clock, logger },
    answers: {
      etcd: async () => {
        const { url, etcdctlPath } = await etcd.ask();
        return { url, etcdctlPath: etcdctlPath ?? null };
      },
      openAudit: audit.open,
      writeAudit: audit.write,
    },
    metrics: (path) => metrics.collect(path, workers),
    ended: (worker) => metrics.keep(worker),
    drainMs: flags['shutdown-delay-duration'] + flags['request-timeout'],
  });
  started.defer(() => workers.stop());
  const replace = (): void => {
    logger.info('all workers are replaced', { signal: 'SIGHUP' });
    void workers.replaceAll();
  };
  process.on('SIGHUP', replace);
  started.defer(() => void process.off('SIGHUP', replace));
  await workers.start(signal);
  const local = await etcd.asked;
  const running = started.move();
  const readyMs = clock.monotonicMs() - startedAtMs;
  const { url } = workers;
  return {
    url,
    greeting: greeting({ url, directory, flags, readyMs, etcd: local }),
    failed: Promise.race([workers.failed, ...(local === undefined ? [] : [local.ended])]),
    stop: () => running.disposeAsync(),
  };
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** `asked`: undefined when nobody did. */
function onceAsked(start: () => Promise<LocalEtcd>): {
  readonly asked: Promise<LocalEtcd> | undefined;
  ask(): Promise<LocalEtcd>;
} {
  let asked: Promise<LocalEtcd> | undefined;
  return {
    get asked() {
      return asked;
    },
    ask: () => (asked ??= start()),
  };
}

/** One writer for all workers: lines stay whole, and one process makes room for new ones. */
class AuditLog {
  readonly #flags: Flags;
  readonly #logger: Logger;
  #sink: Promise<ByteSink> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(flags: Flags, logger: Logger) {
    this.#flags = flags;
    this.#logger = logger;
  }

  /** @throws FlagError */
  readonly open: ParentAnswers['openAudit'] = async (path) => {
    this.#sink ??= this.#open(path);
    await this.#sink;
    return null;
  };

  /** @throws Error of the system */
  readonly write: ParentAnswers['writeAudit'] = async (lines) => {
    const sink = await this.#sink;
    const written = this.#last.then(() => sink?.write(Buffer.from(lines)));
    this.#last = written.catch(() => undefined); // whoever wrote is told
    await written;
    return null;
  };

  async close(): Promise<void> {
    await this.#last;
    await (await this.#sink?.catch(() => undefined))?.close();
  }

  async #open(path: string): Promise<ByteSink> {
    const { openAuditLog } = await import('../audit-log.ts');
    return openAuditLog({ flags: this.#flags, clock: systemClock, logger: this.#logger }, path);
  }
}

/** The texts of all workers as one, with the CPU and memory of this process. */
class CollectedMetrics {
  readonly #rules: ReturnType<typeof acrossRules>;
  /** By path: what workers had counted that have ended. */
  readonly #ended = new Map<string, MergedMetrics>();

  constructor(flags: Flags) {
    const naming = namingProfile(flags.naming);
    this.#rules = acrossRules((name) => naming.resolve(name));
  }

  async collect(path: string, { living, samples }: Workers): Promise<string> {
    const workers = living.filter(({ url }) => url !== undefined);
    const timeoutMs = limits.workerAnswerTimeoutMs;
    await Promise.all(
      workers.map(async (worker) => {
        // One that is busy is shown as it was: no counter goes back.
        const text = await worker.channel
          .ask('metrics', path, { timeoutMs })
          .catch(() => undefined);
        if (text !== undefined) worker.metrics = { ...worker.metrics, [path]: text };
      }),
    );
    const merged = new MergedMetrics(this.#rules);
    for (const worker of workers) merged.add(worker.metrics[path] ?? '');
    merged.addEnded(this.#ended.get(path)?.text ?? '');
    const { user, system } = process.cpuUsage();
    merged.addSample('process_cpu_seconds_total', (user + system) / 1e6);
    merged.addSample('process_resident_memory_bytes', process.memoryUsage.rss());
    for (const [key, value] of samples) merged.addSample(key, value);
    merged.addSample('process_start_time_seconds', Date.now() / 1_000 - process.uptime());
    return merged.text;
  }

  keep({ metrics }: WorkerProcess): void {
    for (const [path, text] of Object.entries(metrics)) {
      const ended = this.#ended.get(path) ?? new MergedMetrics(this.#rules);
      ended.addEnded(text);
      this.#ended.set(path, ended);
    }
  }
}
