// Callers and calls of webhooks for tests, with everything filled in that a test is not about.
import { systemClock } from '../../../base/clock.ts';
import { createLogger } from '../../../base/log.ts';
import { clientParts } from '../../../client/testing/open-calls.ts';
import { hookTls } from '../../../client/testing/raw-server.ts';
import type { WebhookClientConfig } from '../../../client/webhook-config.ts';
import { testMetrics } from '../../../telemetry/testing/test-metrics.ts';
import { CallMetrics } from '../call-metrics.ts';
import { WebhookCallError } from '../caller.ts';
import type { WebhookCall, WebhookCaller } from '../caller.ts';
import { openWebhookCaller } from '../open-caller.ts';
import type { CallerParts } from '../open-caller.ts';

export const metrics = testMetrics();
export const callMetrics = new CallMetrics(metrics);

export const openCaller = (parts: Partial<CallerParts> = {}): WebhookCaller =>
  openWebhookCaller({
    calls: clientParts(),
    clock: systemClock,
    log: createLogger('error'),
    metrics: callMetrics,
    userAgent: 'tests-admission',
    breaksCircuits: true,
    own: () => undefined,
    ...parts,
  });

const never = new AbortController().signal;

/** The CA of `hookTls` as webhooks have it. */
export async function caBundle(): Promise<string> {
  const { ca } = await hookTls();
  return Buffer.from(ca.cert).toString('base64');
}

export function callOf(
  clientConfig: WebhookClientConfig,
  changes: Partial<Omit<WebhookCall, 'webhook'>> & { readonly webhook?: object } = {},
): WebhookCall {
  const { webhook, ...others } = changes;
  return {
    configuration: { name: 'checks', uid: 'u-1' },
    webhook: { name: 'hook.example.com', clientConfig, timeoutSeconds: 10, ...webhook },
    type: 'validating',
    body: Buffer.from('{}'),
    signal: never,
    leftMs: 30_000,
    ...others,
  };
}

/** What a call that must fail failed with. */
export async function failedWith(made: Promise<unknown>): Promise<WebhookCallError> {
  const outcome = await made.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  if (outcome instanceof WebhookCallError) return outcome;
  throw new Error('the call must fail with a WebhookCallError', { cause: outcome });
}

/** Without what differs from run to run: ports and times. */
export const steady = (message: string): string =>
  message.replaceAll(/(127\.0\.0\.\d|localhost):\d+/g, '$1:PORT').replaceAll(/\d+ ms/g, 'N ms');
