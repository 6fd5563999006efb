// How long one call of a webhook may take: what is left of the request is shared by all that it
// asks, and an optional webhook never takes what the request needs for itself.
import { limits } from '../../base/limits.ts';
import type { CalledWebhook } from './caller.ts';

/** Failures of its calls are no failures of the request. */
const isOptional = ({ failurePolicy }: Pick<CalledWebhook, 'failurePolicy'>): boolean =>
  failurePolicy === 'Ignore';

/** In milliseconds; 0 or less: there is no time for it. */
export function callTimeMs(
  webhook: Pick<CalledWebhook, 'failurePolicy' | 'timeoutSeconds'>,
  leftMs: number,
): number {
  const { timeoutSeconds } = webhook;
  const ownMs =
    timeoutSeconds === undefined ? limits.admissionCallTimeoutMs : timeoutSeconds * 1_000;
  return Math.min(ownMs, isOptional(webhook) ? leftMs - limits.admissionReserveMs : leftMs);
}

/** Its own time as it is told to the webhook: whole seconds, rounded up. */
export const timeoutQuery = (timeMs: number): string =>
  `timeout=${String(Math.ceil(timeMs / 1_000))}s`;
