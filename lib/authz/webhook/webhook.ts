// The mode Webhook: a service outside decides. Its answers are kept for a time; what fails, an
// answer that makes no sense too, is decided by the failure policy.
import { createHash } from 'node:crypto';
import { signalOf } from '../../base/abort.ts';
import type { WaitEnd } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { ExpiringMap } from '../../base/expiring-map.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import type { User } from '../../base/user.ts';
import { askReview, resultOf } from '../../client/ask-review.ts';
import type { ReviewResult } from '../../client/ask-review.ts';
import { CallError } from '../../client/call-error.ts';
import type { Target } from '../../client/target.ts';
import type { Attributes, Authorizer, Decision } from '../authorizer.ts';
import type { MatchConditions } from './match-conditions.ts';
import type { ReviewCodec, ReviewStatus } from './review.ts';

export interface WebhookOptions {
  readonly name: string;
  readonly target: Target;
  readonly codec: ReviewCodec;
  readonly conditions: MatchConditions;
  readonly timeoutMs: number;
  /** How long answers are kept; 0: not at all. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly failurePolicy: FailurePolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: WebhookObserver;
}

/** What is said of a request that the webhook could not be asked about. */
export type FailurePolicy = 'NoOpinion' | 'Deny';

/** Of one webhook. */
export interface WebhookObserver {
  attempted(result: ReviewResult, seconds: number): void;
  /** A failure without an opinion: others decide. */
  failedOpen(result: ReviewResult): void;
  conditionsEvaluated(outcome: 'match' | 'excluded' | 'error', seconds: number): void;
}

const silent: Decision = { effect: 'noOpinion', reason: '' };
const noRules = 'webhook authorizer does not support user rule resolution';

export function webhookAuthorizer(options: WebhookOptions): Authorizer {
  const { conditions, failurePolicy, observer, clock, logger, name } = options;
  const kept = new ExpiringMap<Decision>({
    countMax: limits.webhookDecisionsMax,
    nowMs: () => clock.monotonicMs(),
  });
  const hasCache = options.authorizedTtlMs > 0 || options.unauthorizedTtlMs > 0;
  const failed = (error: string): Decision => ({
    effect: failurePolicy === 'Deny' ? 'deny' : 'noOpinion',
    reason: '',
    error,
  });

  async function ask(asked: Attributes, key: string | undefined, end: WaitEnd): Promise<Decision> {
    const signal = signalOf(end);
    const { target, codec, timeoutMs } = options;
    try {
      const status = await askReview(target, clock, {
        body: codec.encode(asked),
        decode: (body) => codec.decode(body),
        signal,
        timeoutMs,
        attempted: (ended, seconds) =>
          observer.attempted('error' in ended ? resultOf(ended.error) : 'success', seconds),
      });
      const decision = decisionOf(status);
      const ttlMs = status.allowed ? options.authorizedTtlMs : options.unauthorizedTtlMs;
      if (key !== undefined) kept.set(key, decision, ttlMs);
      return decision;
    } catch (error) {
      if (!(error instanceof CallError) || signal.aborted) throw error;
      logger.error('an authorization webhook failed', { webhook: name, error: error.message });
      if (failurePolicy === 'NoOpinion') observer.failedOpen(resultOf(error));
      return failed(error.message);
    }
  }

  /** undefined: it is to be asked. */
  function excluded(asked: Attributes): Decision | undefined {
    const fromMs = clock.monotonicMs();
    const outcome = conditions.match(asked);
    const seconds = (clock.monotonicMs() - fromMs) / 1_000;
    if (typeof outcome === 'string') {
      observer.conditionsEvaluated(outcome, seconds);
      return outcome === 'match' ? undefined : silent;
    }
    observer.conditionsEvaluated('error', seconds);
    return failed(outcome.errors.join(', '));
  }

  return {
    name: 'Webhook',
    authorize(asked, end) {
      if (!conditions.isEmpty) {
        const decision = excluded(asked);
        if (decision !== undefined) return decision;
      }
      const key = hasCache ? keyOf(asked) : undefined;
      return (key === undefined ? undefined : kept.get(key)) ?? ask(asked, key, end);
    },
    rulesFor: () => ({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: noRules,
    }),
  };
}

function decisionOf({ allowed, denied, reason, evaluationError }: ReviewStatus): Decision {
  const effect = denied ? 'deny' : allowed ? 'allow' : 'noOpinion';
  const error =
    denied && allowed
      ? 'webhook subject access review returned both allow and deny response'
      : evaluationError;
  return error === '' ? { effect, reason } : { effect, reason, error };
}

/** Texts of users, most of whom ask again and again as the same object. */
const userKeys = new WeakMap<User, string>();

/** Equal for equal questions alone; undefined: too large to be kept. */
function keyOf(asked: Attributes): string | undefined {
  const { verb, namespace, group, version, resource, subresource, name } = asked;
  const path = asked.isResourceRequest ? '' : asked.path;
  const { fieldSelector, labelSelector } = asked;
  const isSelecting = fieldSelector !== undefined || labelSelector !== undefined;
  const selectors = isSelecting ? JSON.stringify([fieldSelector, labelSelector]) : '';
  const texts =
    `${verb}${namespace}${group}${version}${resource}${subresource}` + `${name}${path}${selectors}`;
  if (texts.length >= limits.webhookDecisionBytesMax) return undefined;
  // Where each text ends: without it `ab` and `c` would be `a` and `bc`.
  const ends =
    `${verb.length},${namespace.length},${group.length},${version.length},${resource.length},` +
    `${subresource.length},${name.length},${path.length}`;
  const kind = asked.isResourceRequest ? 'resource' : 'path';
  return bounded(`${userKeyOf(asked.user)}${kind},${ends},${texts}`);
}

function userKeyOf(user: User): string {
  const known = userKeys.get(user);
  if (known !== undefined) return known;
  const key = bounded(JSON.stringify([user.name, user.uid, user.groups, user.extra]));
  userKeys.set(user, key);
  return key;
}

const bounded = (text: string): string =>
  text.length <= limits.webhookKeyLengthMax
    ? text
    : createHash('sha256').update(text).digest('base64');
