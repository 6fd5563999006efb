// Makes one TLS connection: looks the host up, or the proxy that it is behind, tries addresses one
// after the other, checks the certificate. Each step has a deadline of its own, so that a dead
// address is left for the next.
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { abortable } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import { AddressBook } from './addresses.ts';
import type { Address, Resolve } from './addresses.ts';
import type { CallFailure, Step } from './call-error.ts';
import type { ClientMetrics } from './client-metrics.ts';
import { serverProblem, uncheckedYet } from './server-check.ts';
import { dialFailure, placeText } from './socket-failure.ts';
import { indicationFor } from './target-settings.ts';
import type { TargetSettings } from './target-settings.ts';
import { openTunnel, viaProxy } from './tunnel.ts';

export interface Dialed {
  readonly socket: tls.TLSSocket;
  readonly address: Address;
}

export interface NotDialed {
  readonly failure: CallFailure;
  readonly cause: unknown;
}

/** Told each step of one dial as it begins; `address` is `IP:PORT`. */
export type OnStep = (step: Step, address?: string) => void;

interface Lookup {
  readonly host: string;
  readonly found: Promise<readonly Address[]>;
  readonly signal: AbortSignal;
}

export class Dialer {
  readonly addresses: AddressBook;
  readonly #clock: Clock;
  readonly #resolve: Resolve;
  readonly #metrics: ClientMetrics;
  /** One at a time: all that need it wait for the same one, also for one that does not end. */
  #lookup: Lookup | undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly resolve: Resolve;
    readonly metrics: ClientMetrics;
  }) {
    this.#clock = options.clock;
    this.#resolve = options.resolve;
    this.#metrics = options.metrics;
    this.addresses = new AddressBook(options.clock);
  }

  /** When no address can be used, the outcome of the one that was tried last. */
  async dial(settings: TargetSettings, onStep: OnStep): Promise<Dialed | NotDialed> {
    const endsAtMs = this.#clock.monotonicMs() + limits.clientCallTimeoutMs;
    onStep('resolve');
    const found = await this.#find(settings);
    if ('failure' in found) return found;
    let last: NotDialed | undefined;
    for (const address of this.addresses.inOrder(found)) {
      const outcome = await connectTo(address, settings, { clock: this.#clock, onStep });
      if ('socket' in outcome) return outcome;
      this.addresses.failed(address);
      last = outcome;
      if (!isDead(outcome.failure) || this.#clock.monotonicMs() >= endsAtMs) break;
    }
    return last ?? notFound(settings, undefined);
  }

  async #find(settings: TargetSettings): Promise<readonly Address[] | NotDialed> {
    const { host } = lookedUp(settings);
    const lookup =
      this.#lookup?.host === host ? this.#lookup : (this.#lookup = this.#startLookup(settings));
    try {
      return await lookup.found;
    } catch (cause) {
      if (!lookup.signal.aborted) return notFound(settings, cause);
      return { failure: { kind: 'timeout', step: 'resolve' }, cause };
    }
  }

  #startLookup(settings: TargetSettings): Lookup {
    const { host } = lookedUp(settings);
    const ending = new AbortController();
    const { signal } = ending;
    const cancel = this.#clock.after(limits.clientResolveTimeoutMs, () => ending.abort());
    const startMs = this.#clock.monotonicMs();
    const answer = this.#resolve(host, signal).finally(() => {
      cancel();
      const seconds = (this.#clock.monotonicMs() - startMs) / 1_000;
      this.#metrics.of(settings.authority).resolved(seconds);
      if (this.#lookup === lookup) this.#lookup = undefined;
    });
    const lookup = { host, signal, found: abortable(answer, signal) };
    return lookup;
  }
}

/** What connections are made to: the proxy knows where the target is. */
const lookedUp = ({ proxy, host, port }: TargetSettings): Pick<TargetSettings, 'host' | 'port'> =>
  proxy ?? { host, port };

/** Errors of the system have a code; those of other resolvers say themselves what is missing. */
function notFound(settings: TargetSettings, cause: unknown): NotDialed {
  const { host } = lookedUp(settings);
  const code = Error.isError(cause) && 'code' in cause ? String(cause.code) : 'ENOTFOUND';
  const reason =
    Error.isError(cause) && !('code' in cause)
      ? cause.message
      : `dial tcp: lookup ${host}: ${code === 'ENOTFOUND' ? 'no such host' : code}`;
  const isProxy = settings.proxy !== undefined;
  return { failure: { kind: 'unreachable', reason: isProxy ? viaProxy(reason) : reason }, cause };
}

/** Whether another address may do better: this one did not answer. */
const isDead = (failure: CallFailure): boolean =>
  failure.kind === 'unreachable' || (failure.kind === 'timeout' && failure.step === 'connect');

interface DialParts {
  readonly clock: Clock;
  readonly onStep: OnStep;
}

async function connectTo(
  address: Address,
  settings: TargetSettings,
  parts: DialParts,
): Promise<Dialed | NotDialed> {
  const { ip, port = lookedUp(settings).port } = address;
  // A name here would be looked up once more, past whatever was checked.
  invariant(isIP(ip) !== 0, `${ip} is an IP address`);
  const { proxy } = settings;
  if (proxy === undefined) return secure({ address, ip, port }, settings, parts);
  const tunnel = await openTunnel(settings, { proxy, ip, port, ...parts });
  if (!('socket' in tunnel)) return tunnel;
  return secure({ address, ip, port, through: tunnel.socket }, settings, parts);
}

interface At {
  readonly address: Address;
  readonly ip: string;
  readonly port: number;
  /** A way that is there already. */
  readonly through?: Socket;
}

function secure(
  { address, ip, port, through }: At,
  settings: TargetSettings,
  { clock, onStep }: DialParts,
): Promise<Dialed | NotDialed> {
  return new Promise((resolve, reject) => {
    let step: Step = through === undefined ? 'connect' : 'handshake';
    const place = placeText(ip, port);
    onStep(step, place);
    const socket = tls.connect({
      ...(through === undefined ? { host: ip, port } : { socket: through }),
      secureContext: settings.secureContext,
      servername: indicationFor(settings.serverName),
      ALPNProtocols: ['http/1.1'],
      ...uncheckedYet,
    });
    socket.setNoDelay(true).setKeepAlive(true, limits.tcpKeepAliveMs);
    const fail = (failure: CallFailure, cause?: unknown): void => {
      cancelTimer();
      socket.destroy();
      resolve({ failure, cause });
    };
    const outOfTime = (): void => fail({ kind: 'timeout', step });
    const stepMs =
      through === undefined ? limits.clientConnectTimeoutMs : limits.clientHandshakeTimeoutMs;
    let cancelTimer = clock.after(stepMs, outOfTime);
    const onError = (error: Error): void => {
      const failure = dialFailure(error, { ip, port, isConnected: step === 'handshake' });
      if (failure === undefined) reject(error);
      else fail(failure, error);
    };
    socket.once('connect', () => {
      cancelTimer();
      step = 'handshake';
      onStep(step, place);
      cancelTimer = clock.after(limits.clientHandshakeTimeoutMs, outOfTime);
    });
    socket.once('secureConnect', () => {
      cancelTimer();
      const is = { name: settings.serverName, nowMs: clock.nowMs() };
      const problem = serverProblem(socket, settings, is);
      if (problem !== undefined) {
        onError(problem);
        return;
      }
      socket.off('error', onError).on('error', ignore);
      resolve({ socket, address });
    });
    socket.on('error', onError);
  });
}

/** An error may come between two uses, when nobody waits: whoever comes next finds it closed. */
const ignore = (): void => undefined;
