// Changes what is stored behind the back of the servers: to what no client may write, but older
// releases stored, or a machine of many addresses would have.
import type { EtcdStorage } from '../lib/storage-etcd/etcd-storage.ts';

/** Of the same length, so that what the store knows of the text stays true. @throws Error */
export async function rewriteStored(
  etcd: EtcdStorage,
  key: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const { signal } = new AbortController();
  const { item } = await etcd.get(`/registry/${key}`, signal);
  const text = Buffer.from(item?.value ?? []).toString('latin1');
  if (item === undefined || !text.includes(from) || from.length !== to.length) {
    throw new Error(`${key} has no ${from} to become ${to}: ${text}`);
  }
  const value = Buffer.from(text.replaceAll(from, to), 'latin1');
  await etcd.put(`/registry/${key}`, value, { expected: item.modRevision }, signal);
}
