// The first contact with an etcd cluster: a start ends here, in words, when there is none.
import type { Logger } from '../../lib/base/log.ts';
import { limits } from '../../lib/base/limits.ts';
import { StatusError } from '../../lib/base/status.ts';
import { FlagError } from '../../lib/config/flags.ts';
import { diagnose } from '../../lib/storage-etcd/diagnosis.ts';
import type { EtcdTlsFiles } from '../../lib/storage-etcd/endpoint.ts';
import type { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import { isTooOld, supportsProgressRequests } from '../../lib/storage-etcd/version-gate.ts';

const { etcdReasonsAfterMs } = limits;

/**
 * Resolves once a majority of the members answers.
 * @throws FlagError that says of every member why it cannot be used: at once when waiting will not
 * help, else after `limits.etcdStartTimeoutMs`.
 */
export async function reachEtcd(
  storage: EtcdStorage,
  options: {
    readonly endpoints: readonly string[];
    readonly tls: EtcdTlsFiles;
    readonly logger: Logger;
    readonly signal: AbortSignal;
    /** A shorter one for tests. */
    readonly timeoutMs?: number;
  },
): Promise<void> {
  const { endpoints, tls, logger, signal, timeoutMs = limits.etcdStartTimeoutMs } = options;
  for (const waitMs of [etcdReasonsAfterMs, timeoutMs - etcdReasonsAfterMs]) {
    if (await answersWithin(storage, waitMs, signal)) {
      const warning = versionWarning(await storage.connection.version(signal));
      if (warning !== undefined) logger.warn(warning);
      return;
    }
    const found = await Promise.all(endpoints.map((url) => diagnose(url, tls)));
    const problems = endpoints.map((url, index) => {
      return `${url} ${found[index]?.problem ?? 'answers, but a majority of the members does not'}`;
    });
    const isLast = waitMs !== etcdReasonsAfterMs || found.every((one) => one?.isFinal === true);
    if (isLast) throw new FlagError(`--etcd-servers: etcd cannot be used: ${problems.join('; ')}`);
    logger.warn('etcd does not answer yet', { problems, giveUpSeconds: timeoutMs / 1_000 });
  }
}

/** @throws FlagError when etcd answers and refuses. */
async function answersWithin(
  storage: EtcdStorage,
  waitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const limit = AbortSignal.timeout(waitMs);
  try {
    await storage.currentRevision(AbortSignal.any([signal, limit]));
    return true;
  } catch (error) {
    if (limit.aborted) return false;
    if (!(error instanceof StatusError)) throw error;
    if (error.code >= 503) return false;
    throw new FlagError(`--etcd-servers: ${error.message}`, { cause: error });
  }
}

/** undefined: nothing to say of it. @throws FlagError */
export function versionWarning(version: string): string | undefined {
  if (isTooOld(version)) {
    throw new FlagError(
      `--etcd-servers: etcd ${version} is too old: use 3.5.24 or newer; 3.4 is the oldest that ` +
        'works',
    );
  }
  if (supportsProgressRequests(version)) return undefined;
  return (
    `etcd ${version} cannot be trusted with progress requests, so consistent reads go to etcd ` +
    'instead of memory: use 3.5.24 or newer'
  );
}
