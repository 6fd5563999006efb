// Writes under quotas, for suites: quotas are made with their status, as their controller leaves
// it, and all replicas know them then.
import { isObject } from '../../api/json-value.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { StatusError } from '../../base/status.ts';
import { serverUser } from '../../base/user.ts';
import type { Item } from '../../cacher/resource-view.ts';
import { internalClient } from '../internal-client.ts';
import type { Replica } from './registry-on-etcd.ts';

type Amounts = Readonly<Record<string, string>>;

export interface QuotaOf {
  readonly namespace: string;
  readonly name: string;
  readonly hard: Amounts;
  readonly used?: Amounts;
}

const client = internalClient(serverUser);
export const soon = (): AbortSignal => AbortSignal.timeout(60_000);

export async function makeQuota(replicas: readonly Replica[], quota: QuotaOf): Promise<void> {
  const { namespace, name, hard } = quota;
  await create(firstOf(replicas), 'resourcequotas', { namespace, name, spec: { hard } });
  const nothing = Object.fromEntries(Object.keys(hard).map((each) => [each, '0']));
  await setStatus(replicas, { used: nothing, ...quota });
}

/** As the controller of quotas would. */
export async function setStatus(
  replicas: readonly Replica[],
  { namespace, name, hard, used = {} }: QuotaOf,
): Promise<void> {
  const at = { resource: 'resourcequotas', namespace, name, subresource: 'status' };
  await patch(firstOf(replicas), at, { status: { hard, used } });
  await known(replicas);
}

/** Resolves once the memory of each replica has all quotas. */
export async function known(replicas: readonly Replica[]): Promise<void> {
  for (const replica of replicas) {
    const page = { limitCount: 1 };
    await replica.store('resourcequotas').view.list({}, { mode: 'latest' }, page, soon());
  }
}

/** What a quota says that is used. */
export async function usedOf(
  replica: Replica,
  namespace: string,
  name: string,
): Promise<JsonObject> {
  const { view } = replica.store('resourcequotas');
  const status = (await view.get({ namespace, name }, { mode: 'latest' }, soon()))?.object()[
    'status'
  ];
  return isObject(status) && isObject(status['used']) ? status['used'] : {};
}

export async function countOf(
  replica: Replica,
  resource: string,
  namespace: string,
): Promise<number> {
  const all = { limitCount: 0 };
  const { view } = replica.store(resource);
  return (await view.list({ namespace }, { mode: 'latest' }, all, soon())).items.length;
}

export function create(
  replica: Replica,
  resource: string,
  { namespace, name, ...more }: { namespace: string; name: string; [key: string]: JsonValue },
  signal = soon(),
): Promise<Item> {
  const object = { metadata: { name }, ...more };
  return client.create(replica.store(resource), { namespace, object }, signal);
}

export function patch(
  replica: Replica,
  at: { resource: string; namespace: string; name: string; subresource?: string },
  change: JsonValue,
): Promise<Item> {
  const { resource, namespace, name, subresource = '' } = at;
  const path = { namespace, name, subresource };
  return client.patch(replica.store(resource), { path, kind: 'merge', patch: change }, soon());
}

export async function remove(
  replica: Replica,
  at: { resource: string; namespace: string; name: string },
): Promise<void> {
  const path = { namespace: at.namespace, name: at.name, subresource: '' };
  await client.delete(replica.store(at.resource), { path }, soon());
}

/** `201`, or code and message of what was thrown. */
export async function outcomeOf(write: Promise<unknown>): Promise<string> {
  try {
    await write;
    return 'written';
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return `${String(error.code)} ${error.message}`;
  }
}

function firstOf([replica]: readonly Replica[]): Replica {
  if (replica === undefined) throw new Error('there are replicas');
  return replica;
}
