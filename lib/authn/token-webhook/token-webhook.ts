// Asks a service outside about tokens: a TokenReview is posted to it, one of the same version comes
// back. What it says beyond that, and why it cannot be asked, stays in the log.
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import { askReview } from '../../client/ask-review.ts';
import { CallError } from '../../client/call-error.ts';
import type { Target } from '../../client/target.ts';
import type { JudgeToken, TokenVerdict } from './cached-tokens.ts';
import { readAnswer } from './review-answer.ts';
import type { ReviewAnswer } from './review-answer.ts';

export interface TokenWebhookOptions {
  readonly target: Pick<Target, 'call'>;
  /** Of the reviews: group and version. */
  readonly apiVersion: string;
  /** Whom tokens are for where the service names nobody. */
  readonly ownAudiences: readonly string[];
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  /** Told of each call; `code` is the status of its answer, or `noAnswerCode`. */
  readonly called: (code: string, seconds: number) => void;
}

export const noAnswerCode = '<error>';

export function tokenWebhook(options: TokenWebhookOptions): JudgeToken {
  const { ownAudiences, logger } = options;
  return async (token, audiences, signal) => {
    let answer: ReviewAnswer;
    try {
      answer = await ask(options, { token, audiences }, signal);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      logger.warn('the token webhook gives no answer', { error: error.message });
      return failed(`the token webhook gives no answer: ${error.reason}`);
    }
    return verdictOf(answer, { audiences, ownAudiences });
  };
}

const failed = (refusal: string): TokenVerdict => ({ refusal, isLasting: false });
const refused = (refusal: string): TokenVerdict => ({ refusal, isLasting: true });

/** A reason for its refusal means that it could not tell. */
function verdictOf(
  { user, audiences, error }: ReviewAnswer,
  asked: { readonly audiences: readonly string[]; readonly ownAudiences: readonly string[] },
): TokenVerdict {
  const meant = audiences.length === 0 ? asked.ownAudiences : audiences;
  const good = asked.audiences.filter((one) => meant.includes(one));
  if (user === undefined) {
    return error === '' ? refused('the token webhook does not know the token') : failed(error);
  }
  if (good.length === 0 && asked.audiences.length > 0) {
    return refused('the token is not meant for the audiences that are asked for');
  }
  return { user, audiences: good };
}

interface Asked {
  readonly token: string;
  readonly audiences: readonly string[];
}

/** @throws CallError of the last attempt, and the reason of `signal`. */
function ask(
  { target, clock, apiVersion, called }: TokenWebhookOptions,
  { token, audiences }: Asked,
  signal: AbortSignal,
): Promise<ReviewAnswer> {
  const review = { kind: 'TokenReview', apiVersion, metadata: {}, spec: { token, audiences } };
  return askReview(target, clock, {
    body: Buffer.from(JSON.stringify(review)),
    decode: (bytes) => readAnswer(bytes, apiVersion),
    signal,
    timeoutMs: limits.clientCallTimeoutMs,
    attempted: (ended, seconds) => called(codeOf(ended), seconds),
  });
}

function codeOf(ended: { readonly status: number } | { readonly error: unknown }): string {
  if ('status' in ended) return String(ended.status);
  const { error } = ended;
  const hasStatus = error instanceof CallError && 'status' in error.failure;
  return hasStatus ? String(error.failure.status) : noAnswerCode;
}
