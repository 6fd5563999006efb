// Pieces of PromQL that rules and dashboards share: selectors of the two scrape jobs, and which
// requests are reads and writes.

/** The jobs of the scrape configuration. */
export const apiserver = 'job="apiserver"';
export const etcd = 'job="etcd"';

/** Requests that the objectives are about: streams last as long as their clients want. */
const ended = 'subresource!~"proxy|attach|log|exec|portforward"';
export const verbs = {
  read: 'verb=~"LIST|GET"',
  write: 'verb=~"POST|PUT|PATCH|APPLY|DELETE|DELETECOLLECTION"',
} as const;
export type RequestClass = keyof typeof verbs;
export const requestClasses = ['read', 'write'] as const;

/** Share of requests that may fail or be slow. */
export const errorBudget = 0.001;

/** Seconds within which a request is good, by the scope of what it asks for. */
export const goodWithin: Readonly<Record<RequestClass, readonly (readonly [string, number])[]>> = {
  read: [
    ['scope=~"resource|"', 1],
    ['scope="namespace"', 5],
    ['scope="cluster"', 30],
  ],
  write: [['scope=~".*"', 1]],
};

/** A bound of a histogram: servers and releases of Prometheus write whole numbers in two ways. */
export const bound = (seconds: number): string => `le=~"${String(seconds)}(\\\\.0)?"`;

/** Requests a second, by cluster, that ended with a failure of the server. */
export const failed = (of: RequestClass, window: string): string =>
  'sum by (cluster) ' +
  `(rate(apiserver_request_total{${apiserver},${verbs[of]},code=~"5.."}[${window}]))`;

/** Requests a second, by cluster. */
export const all = (of: RequestClass, window: string): string =>
  `sum by (cluster) (rate(apiserver_request_total{${apiserver},${verbs[of]}}[${window}]))`;

/** Requests a second, by cluster, that took longer than is good. */
export function slow(of: RequestClass, window: string): string {
  const selector = `${apiserver},${verbs[of]},${ended}`;
  const name = 'apiserver_request_sli_duration_seconds';
  const good = goodWithin[of].map(
    ([scope, seconds]) => `rate(${name}_bucket{${selector},${scope},${bound(seconds)}}[${window}])`,
  );
  return (
    `(sum by (cluster) (rate(${name}_count{${selector}}[${window}]))\n` +
    `  - sum by (cluster) (\n    ${good.join('\n    or ')}\n  ))`
  );
}

/** Buckets of the objective's histogram, with the labels that are wanted. */
export const sliBuckets = (of: RequestClass, window: string, by: string): string =>
  `sum by (${by}, le) (rate(apiserver_request_sli_duration_seconds_bucket` +
  `{${apiserver},${verbs[of]},${ended}}[${window}]))`;

/**
 * That something was counted within 15 minutes. A counter that came with its first count has no
 * increase yet.
 */
export const happened = (selector: string, by: string): string =>
  `sum by (${by}) (increase(${selector}[15m])) > 0\n` +
  `or sum by (${by}) (${selector} unless ${selector} offset 15m) > 0`;
