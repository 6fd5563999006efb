// The webhook that converts the objects of one definition, as a target of calls: opened when it is
// first asked, and never by more than a few calls at once.
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { GuardedTarget } from '../../client/guarded-target.ts';
import { openTarget } from '../../client/open-target.ts';
import type { ClientParts } from '../../client/open-target.ts';
import type { Target } from '../../client/target.ts';
import { webhookUrl } from '../../client/webhook-config.ts';
import type { WebhookClientConfig } from '../../client/webhook-config.ts';

/** Versions of reviews that are spoken, and understood. */
export type ReviewVersion = 'v1' | 'v1beta1';

/** `spec.conversion.webhook` of a definition. */
export interface ConversionWebhookConfig {
  readonly clientConfig: WebhookClientConfig;
  /** By preference; one of them at least is known. */
  readonly conversionReviewVersions: readonly string[];
}

export interface ConversionWebhookParts extends ClientParts {
  /** Of reviews: `apiextensions` as the naming profile spells it. */
  readonly reviewGroup: string;
  /** Of a call; not given: `limits.clientCallTimeoutMs`. */
  readonly timeoutMs?: number;
}

export class ConversionWebhook {
  readonly reviewGroup: string;
  readonly reviewVersion: ReviewVersion;
  readonly clock: Clock;
  readonly #config: ConversionWebhookConfig;
  readonly #parts: ConversionWebhookParts;
  #target: Promise<Target> | undefined;
  #isClosed = false;

  constructor(config: ConversionWebhookConfig, parts: ConversionWebhookParts) {
    this.#config = config;
    this.#parts = parts;
    this.clock = parts.clock;
    this.reviewGroup = parts.reviewGroup;
    const known = config.conversionReviewVersions.find(isKnown);
    this.reviewVersion = known ?? 'v1';
  }

  /**
   * The body of the webhook's answer.
   * @throws CallError, SettingsError where the configuration is of no use
   */
  async ask(body: Uint8Array): Promise<Uint8Array> {
    const { timeoutMs = limits.clientCallTimeoutMs } = this.#parts;
    const target = await (this.#target ??= this.#open());
    const answer = await target.call({
      body,
      timeoutMs,
      query: `timeout=${String(Math.ceil(timeoutMs / 1_000))}s`,
      signal: never,
      decode: (bytes) => bytes,
      retryCount: 1, // Conversion changes nothing: it may arrive twice.
    });
    return answer.body;
  }

  /** Calls under way, and late ones, end as they would have. */
  close(): void {
    this.#isClosed = true;
    this.#target?.then(
      (target) => target.close(),
      () => undefined,
    );
  }

  async #open(): Promise<Target> {
    const { clientConfig } = this.#config;
    const target = await openTarget({ webhook: clientConfig }, this.#parts);
    if (this.#isClosed) target.close();
    return new GuardedTarget(target, {
      clock: this.clock,
      url: webhookUrl(clientConfig),
      callsMax: limits.conversionWebhookCallsMax,
      pendingMax: limits.clientPendingCallsMax,
      breaker: {
        failuresMax: limits.clientBreakerFailuresMax,
        withinMs: Infinity,
        probeMs: limits.clientBreakerProbeMs,
        counts: () => true,
      },
    });
  }
}

const isKnown = (version: string): version is ReviewVersion =>
  version === 'v1' || version === 'v1beta1';

/** What was begun for many is not ended by one of them. */
const never = new AbortController().signal;
