// What users are told of a call that failed: the familiar words, then who was called, where, how
// far it had come and after how long. Nothing that the webhook answered is part of it.
import { limits } from '../../base/limits.ts';
import { SkippedCallError } from '../../client/call-error.ts';
import type { CallFailure, CallPlace, Step, CallError } from '../../client/call-error.ts';
import { callFailureText } from '../../client/call-failure-text.ts';
import { WebhookCallError } from './caller.ts';
import type { WebhookCall, WebhookCallFailureKind } from './caller.ts';

const stepNames: Readonly<Record<Step, string>> = {
  credentials: 'credentials',
  queue: 'queue',
  resolve: 'resolve',
  connect: 'connect',
  proxy: 'proxy',
  handshake: 'TLS',
  send: 'send',
  header: 'wait',
  body: 'read',
};

const kinds: Readonly<Record<CallFailure['kind'], WebhookCallFailureKind>> = {
  credentials: 'configuration',
  timeout: 'timeout',
  unreachable: 'connection',
  tls: 'connection',
  closed: 'connection',
  overloaded: 'overloaded',
  tooLarge: 'answer',
  redirect: 'answer',
  badAnswer: 'answer',
  status: 'status',
};

/** Whether the webhook itself is in trouble, and not with this one request. */
export function isOutage({ failure }: CallError): boolean {
  const kind = kinds[failure.kind];
  return kind === 'timeout' || kind === 'connection';
}

export function failedCall(
  { webhook, configuration }: Pick<WebhookCall, 'webhook' | 'configuration'>,
  error: CallError,
): WebhookCallError {
  const { failure } = error;
  const cause = `${textOf(error)} (${[
    `configuration ${JSON.stringify(configuration.name)}`,
    ...placeTexts(error.place),
  ].join(', ')})`;
  if (error instanceof SkippedCallError) {
    const seconds = limits.admissionProbeMs / 1_000;
    const skipped = `not called now, its last calls failed and it is tried every ${seconds} s: `;
    return new WebhookCallError(
      webhook.name,
      { kind: 'circuit', cause: `${skipped}${cause}` },
      { cause: error },
    );
  }
  const status = failure.kind === 'status' ? failure.status : undefined;
  const kind = kinds[failure.kind];
  return new WebhookCallError(webhook.name, { kind, status, cause }, { cause: error });
}

/** As clients in Go say it, so that those who look for these words find them. */
function textOf(error: CallError): string {
  return error.failure.kind === 'timeout'
    ? `Post ${JSON.stringify(error.url)}: context deadline exceeded`
    : callFailureText(error);
}

const placeTexts = (place: CallPlace | undefined): readonly string[] =>
  place === undefined
    ? []
    : [
        ...(place.address === undefined ? [] : [`address ${place.address}`]),
        `step ${stepNames[place.step]}`,
        `${Math.ceil(place.ms)} ms`,
      ];
