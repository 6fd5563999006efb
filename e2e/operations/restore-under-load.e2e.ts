// A backup is taken and restored under load, by the commands of docs/operate/backup.md, without a
// restart of any replica.
import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { adminToken, TestCluster } from '../harness.ts';
import { restoredUnderLoad } from './restored.ts';

test.each([
  ['with its revision raised', ['--bump-revision=1000000', '--mark-compacted']],
  ['as it was', []],
])('a backup is restored under load, %s', async (_how, flags) => {
  const cluster = await TestCluster.start({ replicaCount: 3, tls: true });
  try {
    const { replicas, etcd } = cluster;
    const pids = replicas.map(({ pid }) => pid);
    const ca = readFileSync(cluster.replica(0).caFile, 'utf8');
    let backup = '';
    const { revision } = await restoredUnderLoad({
      replicas,
      identity: () => ({ ca, token: adminToken }),
      name: 'restored',
      backUp: async () => {
        backup = await etcd.saveSnapshot('backup.db');
      },
      restore: () =>
        etcd.restoreSnapshot(backup, undefined, [...flags, '--initial-cluster-token=restored-1']),
    });
    if (flags.length > 0) expect(revision).toBeGreaterThan(1_000_000);
    expect(replicas.map(({ pid }) => pid)).toEqual(pids);
  } finally {
    await cluster.stop();
  }
});
