// A little of everything that clients do, until it is told to end: reads, writes, watches, and
// requests that are refused.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Replica } from '../harness.ts';

/** Rounds of it at most, whatever happens. */
const roundsMax = 2_000;
const pauseMs = 50;
const stateFirst =
  'watch=1&timeoutSeconds=3&sendInitialEvents=true' +
  '&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

const userToken = 'mixed-load-token';
/** For the token file: somebody whom rules of RBAC allow little. */
export const userRow = `${userToken},mixed-load,2,""`;

/** Resolves after the round in which `signal` fires. */
export async function mixedLoad(replicas: readonly Replica[], signal: AbortSignal): Promise<void> {
  const namespace = '/api/v1/namespaces/default';
  const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: '100000' } } };
  await replicas[0]?.request('POST', `${namespace}/resourcequotas`, { body: quota });
  const round = async (replica: Replica, number: number): Promise<void> => {
    const configMaps = `${namespace}/configmaps`;
    const one = `${configMaps}/load-${String(number)}`;
    const metadata = { name: `load-${String(number)}` };
    const merge = { 'content-type': 'application/merge-patch+json' };
    const watching = number % 20 < 2 ? replica.request('GET', `${configMaps}?${stateFirst}`) : null;
    await replica.request('POST', configMaps, { body: { metadata } });
    await replica.request('PUT', one, { body: { metadata, data: { a: 'b' } } });
    await replica.request('PATCH', one, { body: { data: { a: 'c' } }, headers: merge });
    await replica.request('GET', one);
    await replica.request('GET', configMaps);
    await replica.request('GET', '/api/v1/pods?limit=10');
    await replica.request('GET', `${configMaps}/absent`);
    await replica.request('GET', configMaps, { headers: { authorization: 'Bearer wrong' } });
    const asUser = { headers: { authorization: `Bearer ${userToken}` } };
    await replica.request('GET', '/api', asUser);
    await replica.request('GET', configMaps, asUser);
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const pod = { metadata, spec: { ...spec, automountServiceAccountToken: false } };
    await replica.request('POST', `${namespace}/pods?dryRun=All`, { body: pod });
    await replica.request('DELETE', one);
    void watching?.catch(() => undefined); // ends by itself, or with its replica
  };
  for (let number = 0; number < roundsMax && !signal.aborted; number++) {
    const replica = replicas[number % replicas.length];
    if (replica !== undefined) await round(replica, number);
    await sleep(pauseMs);
  }
}
