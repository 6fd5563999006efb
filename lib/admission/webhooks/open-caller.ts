// Calls admission webhooks over kept connections: one target for each client configuration, one
// line and one circuit for each webhook, so that none waits for another.
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import { Recent } from '../../base/recent.ts';
import { resolveBySystem } from '../../client/addresses.ts';
import type { Address } from '../../client/addresses.ts';
import { AnswerSlots } from '../../client/answer-slots.ts';
import { CallError } from '../../client/call-error.ts';
import type { BreakerRule } from '../../client/circuit-breaker.ts';
import { GuardedTarget } from '../../client/guarded-target.ts';
import { followIdentities } from '../../client/host-identities.ts';
import type { FollowedIdentities, HostIdentities } from '../../client/host-identities.ts';
import { HttpsTarget } from '../../client/https-target.ts';
import type { ClientParts } from '../../client/open-target.ts';
import { SettingsError } from '../../client/settings-error.ts';
import { decodeBase64, makeSettings } from '../../client/target-settings.ts';
import type { Identity } from '../../client/target-settings.ts';
import { webhookSettings, webhookUrl } from '../../client/webhook-config.ts';
import type { WebhookClientConfig, WebhookSettings } from '../../client/webhook-config.ts';
import { failedCall, isOutage } from './call-failure.ts';
import type { CallMetrics, CalledNow } from './call-metrics.ts';
import { callTimeMs, timeoutQuery } from './call-time.ts';
import { WebhookCallError } from './caller.ts';
import type { CalledConfiguration, WebhookCall, WebhookCaller } from './caller.ts';

export interface CallerParts {
  readonly calls: ClientParts;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: CallMetrics;
  /** `{kube}-apiserver-admission`, resolved. */
  readonly userAgent: string;
  /** `--admission-webhook-circuit-breaker`. */
  readonly breaksCircuits: boolean;
  /** Told whenever a circuit opens or closes. */
  readonly onCircuit?: OnCircuit;
  /** This server, where a webhook is its own service; undefined: it does not serve yet. */
  readonly own: () => OwnServer | undefined;
  /** `kubeConfigFile` of the configuration of the plugin: who the server is for which host. */
  readonly kubeconfigFile?: string | undefined;
}

/** This server as it calls itself. */
export interface OwnServer {
  readonly service: { readonly namespace: string; readonly name: string };
  readonly address: Required<Address>;
  /** PEM: whom it trusts to be itself. */
  readonly ca: string;
  readonly identity: Identity;
}

export type OnCircuit = (
  of: Pick<WebhookCall, 'type'> & {
    readonly webhook: string;
    readonly configuration: CalledConfiguration;
  },
  /** Why it is open; undefined: it is closed. */
  problem: string | undefined,
) => void;

/** One webhook, as it is called now. */
interface Guarded extends Omit<CalledNow, 'isOpen' | 'underWayCount' | 'connectionCount'> {
  readonly target: HttpsTarget;
  readonly guard: GuardedTarget;
  calledAtMs: number;
}

/** Of all calls of this process: their answers share its memory. */
const slots = new AnswerSlots(limits.admissionLargeAnswersMax);
const nobody: HostIdentities = () => ({});
const unread = (body: Uint8Array): Uint8Array => body;

class Caller implements WebhookCaller {
  readonly #parts: CallerParts;
  readonly #targets = new Recent<HttpsTarget>(limits.clientTargetsMax, (gone) => gone.close());
  readonly #guards = new Recent<Guarded>(limits.admissionGuardsMax, () => undefined);
  #identities: HostIdentities = nobody;
  /** Of the file of identities; undefined: there is none. */
  #reading: Promise<FollowedIdentities> | undefined;
  #isClosed = false;

  constructor(parts: CallerParts) {
    this.#parts = parts;
    parts.metrics.add(() => this.#calledNow());
    if (parts.kubeconfigFile === undefined) return;
    this.#reading = this.#readIdentities(parts.kubeconfigFile);
    this.#reading.catch(() => undefined); // Every call fails with it.
  }

  async call(call: WebhookCall): Promise<Uint8Array> {
    const { webhook, body, signal, leftMs } = call;
    const timeoutMs = callTimeMs(webhook, leftMs);
    if (timeoutMs <= 0) {
      const cause = 'context deadline exceeded: the request has no time left for it';
      throw new WebhookCallError(webhook.name, { kind: 'timeout', cause });
    }
    try {
      if (this.#reading !== undefined) await this.#reading;
      const answer = await this.#guardOf(call).call({
        body,
        signal,
        timeoutMs,
        query: timeoutQuery(timeoutMs),
        headers: { 'user-agent': this.#parts.userAgent },
        answerBytesMax: limits.admissionAnswerBytesMax,
        repeatsOnNew: true,
        slots,
        decode: unread,
      });
      return answer.body;
    } catch (error) {
      if (error instanceof CallError) throw failedCall(call, error);
      if (!(error instanceof SettingsError)) throw error;
      const failure = { kind: 'configuration', cause: error.message } as const;
      throw new WebhookCallError(webhook.name, failure, { cause: error });
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#targets.clear();
    this.#reading?.then(
      (followed) => followed.close(),
      () => undefined,
    );
  }

  #guardOf({ type, configuration, webhook }: WebhookCall): GuardedTarget {
    const target = this.#targetOf(webhook.clientConfig);
    const key = `${type} ${configuration.name} ${webhook.name}`;
    const known = this.#guards.get(key);
    const calledAtMs = this.#parts.clock.monotonicMs();
    if (known?.target === target) {
      known.calledAtMs = calledAtMs;
      return known.guard;
    }
    const { name } = webhook;
    const guard = new GuardedTarget(target, {
      clock: this.#parts.clock,
      url: webhookUrl(webhook.clientConfig),
      callsMax: limits.admissionCallsMax,
      pendingMax: limits.admissionPendingCallsMax,
      breaker: this.#parts.breaksCircuits ? breaker : undefined,
      observer: {
        begun: this.#observeQueue(name, type),
        circuit: (last) => this.#circuit({ type, webhook: name, configuration }, last),
      },
    });
    this.#guards.set(key, { name, type, target, guard, calledAtMs });
    return guard;
  }

  #observeQueue(name: string, type: string): (waitedMs: number) => void {
    const seconds = this.#parts.metrics.queueSeconds(name, type);
    return (waitedMs) => seconds.observe(waitedMs / 1_000);
  }

  #circuit(of: Parameters<OnCircuit>[0], last: CallError | undefined): void {
    const { log, onCircuit } = this.#parts;
    const fields = { webhook: of.webhook, configuration: of.configuration.name, type: of.type };
    if (last === undefined) {
      log.info('an admission webhook answers again', fields);
    } else {
      const reason = last.message;
      log.warn('an admission webhook is only tried now and then: its calls fail', {
        ...fields,
        reason,
      });
    }
    onCircuit?.(of, last?.message);
  }

  #targetOf(config: WebhookClientConfig): HttpsTarget {
    const key = keyOf(config);
    let target = this.#targets.get(key);
    if (target === undefined) {
      target = this.#open(config);
      this.#targets.set(key, target);
      if (this.#isClosed) target.close();
    }
    return target;
  }

  /** @throws SettingsError */
  #open(config: WebhookClientConfig): HttpsTarget {
    const { calls } = this.#parts;
    const { resolve = resolveBySystem, services, metrics, plugins, proxyFor } = calls;
    const identityOf = this.#identities;
    const own = this.#ownFor(config);
    const made =
      own === undefined
        ? webhookSettings(config, { resolve, services, identityOf, proxyFor })
        : ownSettings(config, own);
    return new HttpsTarget(made.settings, {
      clock: this.#parts.clock,
      resolve: made.resolve,
      ...{ metrics, plugins, tracing: calls.tracing },
      pool: {
        // The line of each webhook is bounded; several may share these connections.
        pendingMax: Infinity,
        idleMs: limits.admissionIdleConnectionMs,
        spreadCount: limits.admissionSpreadCount,
        ...(made.places === undefined ? {} : { places: made.places }),
      },
    });
  }

  #ownFor({ service }: WebhookClientConfig): OwnServer | undefined {
    if (service === undefined || (service.port ?? 443) !== 443) return undefined;
    const own = this.#parts.own();
    const isOwn = service.namespace === own?.service.namespace && service.name === own.service.name;
    return isOwn ? own : undefined;
  }

  /** Targets that have the identity of before are not called any more. */
  async #readIdentities(path: string): Promise<FollowedIdentities> {
    const use = (identities: HostIdentities): void => {
      this.#identities = identities;
      this.#targets.clear();
    };
    const followed = await followIdentities(path, this.#parts.calls, use);
    this.#identities = followed.current;
    return followed;
  }

  *#calledNow(): Iterable<CalledNow> {
    const forgetMs = this.#parts.clock.monotonicMs() - limits.admissionGuardIdleMs;
    for (const [key, { name, type, target, guard, calledAtMs }] of [...this.#guards.entries()]) {
      if (calledAtMs < forgetMs) this.#guards.delete(key);
      const { isOpen, underWayCount } = guard;
      yield { name, type, isOpen, underWayCount, connectionCount: target.connectionCount };
    }
  }
}

/** A key of a configuration holds its bundle: it is put together once, and hashed once. */
const keys = new WeakMap<WebhookClientConfig, string>();

function keyOf(config: WebhookClientConfig): string {
  const known = keys.get(config);
  if (known !== undefined) return known;
  const { url, service, caBundle } = config;
  const key = JSON.stringify([url, service, caBundle]);
  keys.set(config, key);
  return key;
}

/** A server knows itself, whatever the configuration says of it. */
function ownSettings(config: WebhookClientConfig, own: OwnServer): WebhookSettings {
  const bundle = decodeBase64(config.caBundle ?? '', 'caBundle');
  const source = { url: webhookUrl(config), ca: `${own.ca}\n${bundle}`, ...own.identity };
  return { settings: makeSettings(source), resolve: () => Promise.resolve([own.address]) };
}

const breaker: BreakerRule = {
  failuresMax: limits.admissionBreakerFailuresMax,
  withinMs: limits.admissionBreakerWithinMs,
  probeMs: limits.admissionProbeMs,
  counts: isOutage,
};

export const openWebhookCaller = (parts: CallerParts): WebhookCaller => new Caller(parts);
