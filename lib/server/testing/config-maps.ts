// Config maps that a test writes over a server, and what the answers to its writes hold.
import { fresh } from '../../registry/testing/verb-driver.ts';
import type { ApiAnswer, ApiOnEtcd } from './api-on-etcd.ts';

export const configMaps = '/api/v1/namespaces/n/configmaps';

export interface Written {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly finalizers?: readonly string[];
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly items?: readonly Written[];
}
export const written = ({ json }: ApiAnswer): Written => json as Written;

/** What a PATCH changes, and a PUT besides the name. */
export const change = { data: { k: '2' } };
export const changed = (name: string): object => ({ metadata: { name }, ...change });

/** Creates one of a name that no other test of the file uses, with the data `k: '1'`. */
export async function createConfigMap(
  api: ApiOnEtcd,
  metadata: object = {},
): Promise<{ readonly name: string; readonly path: string; readonly uid: string }> {
  const body = { metadata: { name: fresh(), ...metadata }, data: { k: '1' } };
  const { name, uid } = written(await api.send(`POST ${configMaps}`, { body })).metadata;
  return { name, uid, path: `${configMaps}/${name}` };
}

/** Code and reason of a Status, and of each of its causes the field and reason. */
export function failureOf({
  status,
  json,
}: ApiAnswer): readonly [code: number, reason: string | undefined, ...causes: string[]] {
  const { kind, code, reason, details } = json as {
    kind: string;
    code: number;
    reason?: string;
    details?: { causes?: { field?: string; reason: string }[] };
  };
  if (kind !== 'Status' || code !== status) throw new Error(`${String(status)} with a ${kind}`);
  const causes = details?.causes ?? [];
  return [code, reason, ...causes.map((one) => `${one.field ?? ''} ${one.reason}`)];
}
