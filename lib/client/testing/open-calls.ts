// Targets and calls for tests, with everything filled in that a test does not care about.
import { load } from 'js-yaml';
import { systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { testMetrics } from '../../telemetry/testing/test-metrics.ts';
import { resolveBySystem } from '../addresses.ts';
import type { Resolve } from '../addresses.ts';
import { CallError } from '../call-error.ts';
import type { CallFailure } from '../call-error.ts';
import { ClientMetrics } from '../client-metrics.ts';
import { ExecPlugins } from '../exec-credentials.ts';
import { HttpsTarget } from '../https-target.ts';
import type { ClientParts } from '../open-target.ts';
import type { Answer, Call, Target } from '../target.ts';
import { makeSettings } from '../target-settings.ts';
import type { SettingsSource } from '../target-settings.ts';
import { hookTls } from './raw-server.ts';

export const metrics = testMetrics();
export const clientMetrics = new ClientMetrics(metrics.series);

/** What a server passes to all of its targets; there are no services. */
export const clientParts = (log: Logger = createLogger('error')): ClientParts => ({
  ...{ clock: systemClock, log, plugins: new ExecPlugins({ clock: systemClock, log }) },
  metrics: clientMetrics,
  parse(text) {
    try {
      return load(text);
    } catch {
      throw new Error('not YAML');
    }
  },
  services: {
    resolve: () => Promise.reject(new Error('no endpoints')),
    places: () => undefined,
  },
});

/** Trusts the CA of `hookTls` unless told otherwise. */
export async function openHook(
  url: string,
  options: Partial<SettingsSource> & {
    readonly clock?: Clock;
    readonly resolve?: Resolve;
    readonly metrics?: ClientMetrics;
  } = {},
): Promise<HttpsTarget> {
  const {
    clock = systemClock,
    resolve = resolveBySystem,
    metrics = clientMetrics,
    ...source
  } = options;
  const { ca } = await hookTls();
  const settings = makeSettings({ url, ca: ca.cert, ...source });
  return new HttpsTarget(settings, { clock, resolve, metrics });
}

const never = new AbortController().signal;
export const textOf = (body: Uint8Array): string => Buffer.from(body).toString();

/** Sends a small body; the answer is text. */
export const call = (
  target: Target,
  options: Partial<Call<string>> = {},
): Promise<Answer<string>> =>
  target.call({ body: Buffer.from('{}'), decode: textOf, signal: never, ...options });

/** What a call that must fail failed with. */
export async function failureOf(made: Promise<unknown>): Promise<CallFailure> {
  return (await errorOf(made)).failure;
}

export async function errorOf(made: Promise<unknown>): Promise<CallError> {
  const outcome = await made.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  if (outcome instanceof CallError) return outcome;
  throw new Error('the call must fail with a CallError', { cause: outcome });
}

/** Waits in real time until it is so; the test's own timeout is the bound. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
