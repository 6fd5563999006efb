// Contract of the calls to admission webhooks: what is asked of one, and how a call fails. It knows
// nothing of reviews: bytes go out, bytes come back; no log and no message has any of them.
import type { WebhookClientConfig } from '../../client/webhook-config.ts';

export interface WebhookCaller {
  /**
   * The body of an answer of status 200 to 299. The time that the call may take is the webhook's
   * own, and no more than is left; where failures are ignored, some is kept for the write itself.
   * @throws WebhookCallError, or `call.signal.reason` when that fires first
   */
  call(call: WebhookCall): Promise<Uint8Array>;
  /** Keeps no connection any more. Calls under way, and late ones, end as they would have. */
  close(): void;
}

export interface WebhookCall {
  readonly configuration: CalledConfiguration;
  readonly webhook: CalledWebhook;
  /** As metrics name it. */
  readonly type: 'admit' | 'validating';
  readonly body: Uint8Array;
  /** Of the request that is judged: fires when it ends, or its client leaves. */
  readonly signal: AbortSignal;
  /** Until the deadline of that request; Infinity where it has none. */
  readonly leftMs: number;
}

/** `metadata` of the configuration that the webhook is in. */
export interface CalledConfiguration {
  readonly name: string;
  /** '' for one that came from a file. */
  readonly uid: string;
}

/** What the call needs of a webhook, as API objects hold it. */
export interface CalledWebhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  /** Not given: 30. */
  readonly timeoutSeconds?: number;
  /** `Ignore`, or anything else for Fail. */
  readonly failurePolicy?: string;
}

/**
 * - timeout: the webhook did not answer within its time, or there was none left for it
 * - connection: it could not be found or reached, is not whom it should be, or hung up
 * - status: it answered with a status that is no success
 * - answer: a redirect, too large, or no HTTP
 * - overloaded: too many calls wait for it already
 * - circuit: it failed so often lately that it is not called now
 * - configuration: its client configuration is of no use
 */
export type WebhookCallFailureKind =
  'timeout' | 'connection' | 'status' | 'answer' | 'overloaded' | 'circuit' | 'configuration';

export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';
  readonly kind: WebhookCallFailureKind;
  /** Of an answer that is no success. */
  readonly status: number | undefined;

  /** @param cause what went wrong, for users: the message is `sayFailed` of it */
  constructor(
    webhook: string,
    failure: {
      readonly kind: WebhookCallFailureKind;
      readonly status?: number | undefined;
      readonly cause: string;
    },
    options?: ErrorOptions,
  ) {
    super(sayFailed(webhook, failure.cause), options);
    this.kind = failure.kind;
    this.status = failure.status;
  }
}

/** Upstream's words; what the API answers has `Internal error occurred: ` before them. */
const sayFailed = (webhook: string, cause: string): string =>
  `failed calling webhook "${webhook}": failed to call webhook: ${cause}`;
