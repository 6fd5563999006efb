// Metrics of outgoing calls, by host and method. Hosts come from users' webhooks and codes from
// whoever answers, so both are folded beyond a bound.
import { STATUS_CODES } from 'node:http';
import { limits } from '../base/limits.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { HistogramChild } from '../telemetry/series.ts';

/** What the calls to one target report. */
export interface TargetMetrics {
  /** One attempt; `status` undefined: it had no answer. */
  attempted(method: string, status: number | undefined): void;
  /** One repetition of a call. */
  repeated(method: string): void;
  /** One call with everything that belonged to it. */
  finished(
    method: string,
    sizes: { readonly seconds: number; readonly sentBytes: number; readonly receivedBytes: number },
  ): void;
  /** One look-up of the host's addresses. */
  resolved(seconds: number): void;
}

export class ClientMetrics {
  readonly #series: Metrics['series'];
  readonly #hosts = new Map<string, TargetMetrics>();

  constructor(series: Metrics['series']) {
    this.#series = series;
  }

  /** @param host with its port, as configured */
  of(host: string): TargetMetrics {
    const known = this.#hosts.get(host);
    if (known !== undefined) return known;
    if (this.#hosts.size >= limits.clientMetricHostsMax && host !== otherHosts) {
      return this.of(otherHosts);
    }
    const made = targetMetrics(this.#series, host);
    this.#hosts.set(host, made);
    return made;
  }
}

const otherHosts = 'other';

interface MethodChildren {
  readonly seconds: HistogramChild;
  readonly sentBytes: HistogramChild;
  readonly receivedBytes: HistogramChild;
}

function targetMetrics(series: Metrics['series'], host: string): TargetMetrics {
  const methods = new Map<string, MethodChildren>();
  const childrenOf = (method: string): MethodChildren => {
    let children = methods.get(method);
    if (children === undefined) {
      children = {
        seconds: series.rest_client_request_duration_seconds.child(host, method),
        sentBytes: series.rest_client_request_size_bytes.child(host, method),
        receivedBytes: series.rest_client_response_size_bytes.child(host, method),
      };
      methods.set(method, children);
    }
    return children;
  };
  return {
    attempted(method, status) {
      series.rest_client_requests_total.child(codeOf(status), host, method).value++;
    },
    repeated(method) {
      series.rest_client_request_retries_total.child(codeOf(undefined), host, method).value++;
    },
    finished(method, { seconds, sentBytes, receivedBytes }) {
      const children = childrenOf(method);
      children.seconds.observe(seconds);
      children.sentBytes.observe(sentBytes);
      children.receivedBytes.observe(receivedBytes);
    },
    resolved(seconds) {
      series.rest_client_dns_resolution_duration_seconds.child(host).observe(seconds);
    },
  };
}

function codeOf(status: number | undefined): string {
  if (status === undefined) return '<error>';
  return status in STATUS_CODES ? String(status) : `${Math.floor(status / 100)}xx`;
}
