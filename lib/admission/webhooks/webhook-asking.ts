// Asks one webhook about one request: the review, its call, and what the answer comes to under the
// webhook's failure policy, with warnings, annotations and metrics. Bodies are never logged.
import { randomUUID } from 'node:crypto';
import { internalError, StatusError } from '../../base/status.ts';
import type { Logger } from '../../base/log.ts';
import { limits } from '../../base/limits.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import type { Scheme } from '../../api/scheme.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { spanAttributes } from '../traced.ts';
import { WebhookCallError } from './caller.ts';
import type { WebhookCall, WebhookCaller } from './caller.ts';
import type { ConfiguredWebhook } from './configured-webhook.ts';
import { noDryRun, refusedBy } from './refused.ts';
import { InvalidAnswer, readAnswer, reviewBody } from './review.ts';
import type { ReviewAnswer } from './review.ts';
import type { CallEnd, WebhookMetrics } from './webhook-metrics.ts';

export interface AskingParts {
  readonly caller: WebhookCaller;
  readonly scheme: Scheme;
  readonly metrics: WebhookMetrics;
  readonly log: Logger;
  /** undefined: requests are not traced. */
  readonly tracing?: Tracing | undefined;
}

export interface Question {
  readonly webhook: ConfiguredWebhook;
  readonly request: AdmissionRequest;
  readonly type: WebhookCall['type'];
  /** As `reviewedRequest` makes it. */
  readonly reviewed: string;
  /** Key of the annotation that tells that it was passed over. */
  readonly failedOpenKey: string;
  /** Makes of an answer that allows what the phase needs. @throws as `ask` */
  readonly take?: (answer: ReviewAnswer) => void;
}

/** A failure that the webhook's policy decides about; the message is for users. */
export class WebhookFailed extends Error {
  readonly code: number;

  constructor(webhook: string, cause: string, code: number) {
    super(`failed calling webhook "${webhook}": ${cause}`);
    this.code = code;
  }
}

class Refused extends Error {
  readonly status: StatusError;

  constructor(status: StatusError) {
    super(status.message);
    this.status = status;
  }
}

const unavailable = 503;

/**
 * Returns where the request goes on.
 * @throws StatusError of a webhook that refuses, 500 of one that cannot be asked where its policy
 * is to fail, 400 where a dry run is not supported; the reason of the signal
 */
export async function ask(
  parts: AskingParts,
  question: Question,
  signal: AbortSignal,
): Promise<void> {
  const { webhook, request, type, failedOpenKey } = question;
  const startMs = performance.now();
  const ended = (end: Pick<CallEnd, 'code'> & Partial<CallEnd>): void =>
    parts.metrics.called(
      { name: webhook.name, type, operation: request.operation },
      {
        refusedBy: undefined,
        isFailedOpen: false,
        isCanceled: false,
        seconds: waited(question, performance.now() - startMs) / 1_000,
        ...end,
      },
    );
  try {
    const answer = await answerTo(parts, question, signal);
    question.take?.(answer);
  } catch (error) {
    if (error instanceof Refused) {
      ended({ code: error.status.code, refusedBy: 'no_error' });
      throw error.status;
    }
    const isEnded = signal.aborted;
    const failure = isEnded ? { message: '', code: unavailable } : failureOf(error);
    if (failure === undefined) {
      ended({ code: 0, refusedBy: 'apiserver_internal_error' });
      throw error;
    }
    const isFailedOpen = webhook.ignoresFailures;
    ended({
      code: failure.code,
      refusedBy: isFailedOpen ? undefined : 'calling_webhook_error',
      isCanceled: isEnded && !(signal.reason instanceof StatusError),
      isFailedOpen,
    });
    if (isEnded) throw signal.reason;
    if (!isFailedOpen) throw internalError(failure.message);
    parts.log.warn('an admission webhook was passed over', {
      webhook: webhook.name,
      configuration: webhook.configuration.name,
      error: failure.message,
    });
    request.annotate(failedOpenKey, webhook.name);
    return;
  }
  ended({ code: 200 });
}

/** @returns `ms`, which the request has waited for the webhook */
function waited({ request: { webhookTrail }, type }: Question, ms: number): number {
  if (webhookTrail === undefined) return ms;
  if (type === 'admit') webhookTrail.mutatingMs += ms;
  else webhookTrail.validatingMs = Math.max(webhookTrail.validatingMs, ms);
  return ms;
}

/** Undefined: no policy covers it. */
function failureOf(
  error: unknown,
): { readonly message: string; readonly code: number } | undefined {
  if (error instanceof WebhookFailed) return error;
  if (!(error instanceof WebhookCallError)) return undefined;
  return { message: error.message, code: error.status ?? unavailable };
}

/** @throws Refused, WebhookFailed, WebhookCallError, StatusError, the reason of the signal */
async function answerTo(
  { caller, scheme, tracing }: AskingParts,
  { webhook, request, type, reviewed }: Question,
  signal: AbortSignal,
): Promise<ReviewAnswer> {
  if (request.dryRun && !isHarmless(webhook)) throw noDryRun(webhook.name);
  const version = webhook.reviewVersion;
  if (version === undefined) {
    const known = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new WebhookFailed(webhook.name, `could not create admission objects: ${known}`, 400);
  }
  const uid = randomUUID();
  const call: WebhookCall = {
    configuration: webhook.configuration,
    webhook,
    type,
    body: reviewBody(version, uid, reviewed, scheme),
    signal,
    leftMs: request.webhookTrail?.leftMs() ?? Infinity,
  };
  const body = await (tracing === undefined
    ? caller.call(call)
    : tracedCall(tracing, caller, call, { uid, request }));
  const answer = read(body, { version, uid, isMutating: type === 'admit' }, scheme, webhook);
  tell(answer, webhook, request);
  if (!answer.isAllowed) throw new Refused(refusedBy(webhook.name, answer.status));
  return answer;
}

/** In the words of kube-apiserver. */
const spanNames = { admit: 'Call mutating webhook', validating: 'Call validating webhook' };

function tracedCall(
  tracing: Tracing,
  caller: WebhookCaller,
  call: WebhookCall,
  { uid, request }: { readonly uid: string; readonly request: AdmissionRequest },
): Promise<Uint8Array> {
  const { configuration, webhook, type } = call;
  return tracing.within(
    spanNames[type],
    () => ({
      configuration: configuration.name,
      webhook: webhook.name,
      ...spanAttributes(request),
      UID: uid,
    }),
    () => caller.call(call),
  );
}

const isHarmless = ({ sideEffects }: ConfiguredWebhook): boolean =>
  sideEffects === 'None' || sideEffects === 'NoneOnDryRun';

function read(
  body: Uint8Array,
  asked: Parameters<typeof readAnswer>[1],
  scheme: Scheme,
  { name }: ConfiguredWebhook,
): ReviewAnswer {
  try {
    return readAnswer(body, asked, scheme);
  } catch (error) {
    if (error instanceof InvalidAnswer) {
      const cause = `received invalid webhook response: ${error.message}`;
      throw new WebhookFailed(name, cause, unavailable);
    }
    if (!(error instanceof StatusError)) throw error;
    throw new WebhookCallError(
      name,
      { kind: 'answer', cause: `the answer is no AdmissionReview: ${error.message}` },
      { cause: error },
    );
  }
}

/** Keys of annotations that a request has from its webhooks: the first value of each stays. */
const toldKeys = new WeakMap<AdmissionRequest, Set<string>>();

/** Also of an answer that refuses. */
function tell(answer: ReviewAnswer, { name }: ConfiguredWebhook, request: AdmissionRequest): void {
  for (const text of answer.warnings.slice(0, limits.webhookWarningsMax)) request.warn(text);
  let told = toldKeys.get(request);
  for (const [key, value] of Object.entries(answer.auditAnnotations)) {
    const full = `${name}/${key}`;
    if (typeof value !== 'string' || qualifiedNameProblems(full).length > 0) continue;
    if (told === undefined) toldKeys.set(request, (told = new Set<string>()));
    if (told.has(full)) continue;
    told.add(full);
    request.annotate(full, value);
  }
}
