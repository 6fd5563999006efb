// Metrics of the calls of admission webhooks, of all that are called now.
import type { HistogramChild } from '../../telemetry/series.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** What is under way with one webhook. */
export interface CalledNow {
  readonly name: string;
  readonly type: string;
  readonly isOpen: boolean;
  readonly underWayCount: number;
  readonly connectionCount: number;
}

export class CallMetrics {
  readonly #series: Metrics['series'];
  readonly #sources: (() => Iterable<CalledNow>)[] = [];

  constructor({ series, beforeText }: Metrics) {
    this.#series = series;
    beforeText.add(() => {
      this.#collect();
      return Promise.resolve();
    });
  }

  /** Asked at each scrape. */
  add(source: () => Iterable<CalledNow>): void {
    this.#sources.push(source);
  }

  queueSeconds(name: string, type: string): HistogramChild {
    return this.#series.apiserver_admission_webhook_queue_seconds.child(name, type);
  }

  #collect(): void {
    const {
      apiserver_admission_webhook_circuit_open: open,
      apiserver_admission_webhook_inflight: inflight,
      apiserver_admission_webhook_connections: connections,
    } = this.#series;
    for (const series of [open, inflight, connections]) series.clear();
    for (const source of this.#sources) {
      for (const { name, type, isOpen, underWayCount, connectionCount } of source()) {
        open.child(name, type).value ||= Number(isOpen);
        inflight.child(name, type).value += underWayCount;
        connections.child(name).value += connectionCount;
      }
    }
  }
}
