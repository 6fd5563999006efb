// Traces to a collector: OTLP over gRPC in the clear, in batches, out of a queue that is bounded.
// What a collector that does not answer loses is told in the log now and then. Loaded only where
// traces are asked for: the libraries are large.
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { createInsecureCredentials } from '@opentelemetry/otlp-grpc-exporter-base';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { limits } from '../base/limits.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { Tracing } from './tracing.ts';

export interface TracingConfiguration {
  /** As gRPC names targets: `dns://HOST:PORT` or `unix:///PATH`. */
  readonly target: string;
  /** Of requests without a trace of their own that is to be continued. */
  readonly samplingRatePerMillion: number;
}

export interface OpenedTracing {
  readonly tracing: Tracing;
  /** Sends what waits, for so long as a stop may take. */
  readonly close: () => Promise<void>;
}

export function openTracing(
  { target, samplingRatePerMillion }: TracingConfiguration,
  parts: {
    readonly clock: Clock;
    readonly log: Logger;
    /** Attributes of the resource `service`. */
    readonly instanceId: string;
    readonly host: string;
  },
): OpenedTracing {
  const tell = complaints(parts);
  diag.disable(); // It warns of every target that is no URL.
  const exporter = new OTLPTraceExporter({
    url: target,
    credentials: createInsecureCredentials(),
    timeoutMillis: limits.tracingExportTimeoutMs,
  });
  diag.setLogger(
    { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler((error) => tell(textOf(error)));
  const root =
    samplingRatePerMillion === 0
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(samplingRatePerMillion / 1_000_000);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'apiserver',
      'service.instance.id': parts.instanceId,
      'host.name': parts.host,
    }),
    sampler: new ParentBasedSampler({ root }),
    spanLimits: { attributeValueLengthLimit: limits.tracingAttributeCharactersMax },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: limits.tracingQueueSpansMax,
        maxExportBatchSize: limits.tracingBatchSpansMax,
        scheduledDelayMillis: limits.tracingBatchWaitMs,
        exportTimeoutMillis: limits.tracingExportTimeoutMs,
      }),
    ],
  });
  return {
    tracing: new Tracing(provider.getTracer('apiserver')),
    close: async () => {
      let cancel = ignore;
      const late = new Promise<void>((resolve) => {
        cancel = parts.clock.after(limits.tracingFlushMs, () => {
          tell('the last spans are lost: the collector does not take them in time');
          resolve();
        });
      });
      const sent = provider.shutdown().catch((error: unknown) => tell(textOf(error)));
      await Promise.race([sent, late]);
      cancel();
    },
  };
}

const ignore = (): void => undefined;

const textOf = (error: unknown): string => (Error.isError(error) ? error.message : String(error));

/** One line for all complaints of a while. */
function complaints({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
  let toldAtMs = -Infinity;
  let untoldCount = 0;
  return (reason: string): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs - toldAtMs < limits.tracingLogIntervalMs) {
      untoldCount++;
      return;
    }
    log.warn('traces are not delivered', { reason, untold: untoldCount });
    toldAtMs = nowMs;
    untoldCount = 0;
  };
}
