// How calls of admission webhooks are counted and timed.
import type { Metrics } from '../../telemetry/metrics.ts';
import type { AdmissionOperation } from '../plugin.ts';
import type { WebhookCall } from './caller.ts';

export interface CalledFor {
  readonly name: string;
  readonly type: WebhookCall['type'];
  readonly operation: AdmissionOperation;
}

/** Who refused: the webhook itself, the failure to call it, or the server. */
export type Refuser = 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error';

export interface CallEnd {
  /** 200, that of a refusal or failure, or 0. */
  readonly code: number;
  /** undefined: the request goes on. */
  readonly refusedBy: Refuser | undefined;
  /** It failed, and goes on all the same. */
  readonly isFailedOpen: boolean;
  /** Its client left meanwhile: it says nothing about the webhook. */
  readonly isCanceled: boolean;
  readonly seconds: number;
}

export interface WebhookMetrics {
  called(of: CalledFor, end: CallEnd): void;
}

/** Webhooks may answer with any number. */
const codeMax = 600;

export function webhookMetrics({ series }: Pick<Metrics, 'series'>): WebhookMetrics {
  const times = series.apiserver_admission_webhook_admission_duration_seconds;
  const calls = series.apiserver_admission_webhook_request_total;
  const rejections = series.apiserver_admission_webhook_rejection_count;
  const failedOpen = series.apiserver_admission_webhook_fail_open_count;
  return {
    called({ name, type, operation }, { refusedBy, isFailedOpen, isCanceled, ...end }) {
      const code = String(Math.min(end.code, codeMax));
      const rejected = String(refusedBy !== undefined);
      times.child(name, operation, rejected, type).observe(end.seconds);
      calls.child(code, name, operation, rejected, type).value++;
      if (isCanceled) return;
      if (refusedBy !== undefined) {
        rejections.child(refusedBy, name, operation, code, type).value++;
      }
      if (isFailedOpen) failedOpen.child(name, type).value++;
    },
  };
}
