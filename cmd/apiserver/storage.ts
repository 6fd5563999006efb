// etcd as this replica uses it: its own, or one that runs elsewhere.
import { Compactor } from '../../lib/storage-etcd/compaction.ts';
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import { createKeyspace } from '../../lib/storage-etcd/keys.ts';
import type { Keyspace } from '../../lib/storage-etcd/keys.ts';
import { SharedSecrets } from '../../lib/storage-etcd/shared-secrets.ts';
import type { Base } from './base.ts';
import { startLocalEtcd } from './local-etcd.ts';
import type { LocalEtcd } from './local-etcd.ts';
import { collectStorageSize, compactionObserver, storageMetrics } from './observers.ts';
import { reachEtcd } from './reach-etcd.ts';
import { checkNaming } from './shared-state.ts';

export interface OpenedStorage {
  readonly storage: EtcdStorage;
  readonly keyspace: Keyspace;
  readonly secrets: SharedSecrets;
  readonly compactor: Compactor;
  /** undefined: etcd is somebody else's. */
  readonly local: LocalEtcd | undefined;
  /** Fires when the start is given up, or when the local etcd ends. */
  readonly starting: AbortSignal;
}

/** Of workers the parent has it. */
function ownEtcd({ worker, directory, signal }: Base): Promise<LocalEtcd> {
  if (worker !== undefined) return worker.localEtcd();
  return startLocalEtcd(directory, (line) => void process.stderr.write(`${line}\n`), signal);
}

export async function openStorage(base: Base): Promise<OpenedStorage> {
  const { flags, logger, metrics, started, signal, tracing } = base;
  const external = flags['etcd-servers'];
  const local = external === undefined ? await ownEtcd(base) : undefined;
  if (local !== undefined) started.defer(() => local.stop());
  const ending = new AbortController();
  void local?.ended.then((error) => ending.abort(error));
  const starting = AbortSignal.any([signal, ending.signal]);
  const endpoints = external ?? [local?.url ?? ''];
  const tls = base.files.etcdTls;
  const transport = flags['etcd-transport'];
  const options = { endpoints, tls, transport, metrics: storageMetrics(metrics), tracing };
  const storage = new EtcdStorage(options);
  started.defer(() => storage.close());
  collectStorageSize(metrics, storage);
  await reachEtcd(storage, { endpoints, tls, logger, signal: starting });
  const keyspace = createKeyspace(flags['etcd-prefix']);
  const secrets = new SharedSecrets(storage, keyspace);
  await checkNaming(secrets, flags, starting);
  const intervalMs = flags['etcd-compaction-interval'];
  const countRound = intervalMs === 0 ? () => undefined : compactionObserver(metrics);
  const compactor = new Compactor(storage.connection, {
    intervalMs,
    onRound: countRound,
    onError(error) {
      countRound('failed');
      logger.warn('compaction failed; the next round tries again', { error });
    },
  });
  const closing = new AbortController();
  const compacting = compactor.run(closing.signal);
  started.defer(async () => {
    closing.abort(new Error('the server stops'));
    await compacting;
  });
  return { storage, keyspace, secrets, compactor, local, starting };
}
