// A little of everything that clients do, until it is told to end: reads, writes, watches, and
// requests that are refused.
import { setTimeout as sleep } from 'node:timers/promises';

/** Rounds of it at most, whatever happens. */
const roundsMax = 2_000;
const pauseMs = 50;
const stateFirst =
  'watch=1&timeoutSeconds=3&sendInitialEvents=true' +
  '&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

const userToken = 'mixed-load-token';
/** For the token file: somebody whom rules of RBAC allow little. */
export const userRow = `${userToken},mixed-load,2,""`;

/** Who asks: as an administrator, where no header says another. */
interface Asking {
  request(
    method: string,
    path: string,
    options?: {
      readonly body?: object;
      readonly headers?: { readonly authorization?: string; readonly 'content-type'?: string };
    },
  ): Promise<unknown>;
}

/**
 * Each round is asked by the next one. `token`: of that somebody. Resolves after the round in which
 * `signal` fires.
 */
export async function mixedLoad(
  askers: readonly Asking[],
  signal: AbortSignal,
  token = userToken,
): Promise<void> {
  const namespace = '/api/v1/namespaces/default';
  const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: '100000' } } };
  await askers[0]?.request('POST', `${namespace}/resourcequotas`, { body: quota });
  const round = async (asker: Asking, number: number): Promise<void> => {
    const configMaps = `${namespace}/configmaps`;
    const one = `${configMaps}/load-${String(number)}`;
    const metadata = { name: `load-${String(number)}` };
    const merge = { 'content-type': 'application/merge-patch+json' };
    const watching = number % 20 < 2 ? asker.request('GET', `${configMaps}?${stateFirst}`) : null;
    await asker.request('POST', configMaps, { body: { metadata } });
    await asker.request('PUT', one, { body: { metadata, data: { a: 'b' } } });
    await asker.request('PATCH', one, { body: { data: { a: 'c' } }, headers: merge });
    await asker.request('GET', one);
    await asker.request('GET', configMaps);
    await asker.request('GET', '/api/v1/pods?limit=10');
    await asker.request('GET', `${configMaps}/absent`);
    await asker.request('GET', configMaps, { headers: { authorization: 'Bearer wrong' } });
    const asUser = { headers: { authorization: `Bearer ${token}` } };
    await asker.request('GET', '/api', asUser);
    await asker.request('GET', configMaps, asUser);
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const pod = { metadata, spec: { ...spec, automountServiceAccountToken: false } };
    await asker.request('POST', `${namespace}/pods?dryRun=All`, { body: pod });
    await asker.request('DELETE', one);
    void watching?.catch(() => undefined); // ends by itself, or with who serves it
  };
  for (let number = 0; number < roundsMax && !signal.aborted; number++) {
    const asker = askers[number % askers.length];
    if (asker !== undefined) await round(asker, number);
    await sleep(pauseMs);
  }
}
