// What conversions by webhooks report, by definition and by how they ended.
import { limits } from '../../base/limits.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** Where a conversion failed, as the reference's metrics name it. */
export type ConversionFailure =
  'call' | 'malformed_response' | 'partial_response' | 'invalid_converted_object';

export interface ConversionEnd {
  /** Name of the definition. */
  readonly name: string;
  readonly fromVersion: string;
  readonly toVersion: string;
  readonly seconds: number;
  /** undefined: it succeeded. */
  readonly failure: ConversionFailure | undefined;
}

export class ConversionMetrics {
  readonly #series: Metrics['series'];
  readonly #names = new Set<string>();

  constructor(series: Metrics['series']) {
    this.#series = series;
  }

  ended({ name, fromVersion, toVersion, seconds, failure }: ConversionEnd): void {
    const series = this.#series;
    const labels =
      failure === undefined
        ? ['success', '']
        : ['failure', `conversion_webhook_${failure}_failure`];
    series.apiserver_conversion_webhook_request_total.child(...labels).value++;
    series.apiserver_conversion_webhook_duration_seconds.child(...labels).observe(seconds);
    series.apiserver_crd_conversion_webhook_duration_seconds
      .child(this.#nameOf(name), fromVersion, String(failure === undefined), toVersion)
      .observe(seconds);
  }

  /** Definitions are user data, and series are never dropped. */
  #nameOf(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= limits.conversionMetricNamesMax) return 'other';
    this.#names.add(name);
    return name;
  }
}
