// Signs `kubeconfig` of the config map `cluster-info` with every bootstrap token that may sign, so
// that who has a token knows whom to trust; signatures of other tokens are taken away
// (specification 3, Methods: detached JWS, HS256, the whole token is the key).
import { CompactSign } from 'jose';
import { cloneJson } from '../api/json-value.ts';
import type { JsonObject } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { readBootstrapToken } from '../authn/bootstrap-token-secret.ts';
import type { BootstrapToken } from '../authn/bootstrap-token-secret.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import { follow } from '../cacher/follow.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isDeleting, metaOf } from '../codec/object-meta.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';
import { bootstrapSecrets } from './bootstrap-token-cleaner.ts';

export interface BootstrapSignerOptions {
  readonly secrets: ResourceStore;
  readonly configMaps: ResourceStore;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

const name = 'cluster-info';
const signedKey = 'kubeconfig';
const signaturePrefix = 'jws-kubeconfig-';

export class BootstrapSigner implements Controller {
  readonly name = 'bootstrap_signer';
  readonly #options: BootstrapSignerOptions;
  #cancelWait: () => void = () => undefined;

  constructor(options: BootstrapSignerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { secrets, configMaps, naming, clock, log, observer } = this.#options;
    const queue: KeyedQueue = new KeyedQueue(
      { name: this.name, clock, log, observer },
      (_key, running) => this.#reconcile(queue, running),
    );
    const sign = (): void => queue.add(name);
    const follower = { present: sign, absent: sign, synced: sign };
    const clusterInfo = { namespace: naming.publicNamespace, name, showsUnreadable: true };
    await Promise.all([
      queue.run(signal),
      follow(follower, { view: configMaps.view, select: clusterInfo, log }, signal),
      follow(follower, { view: secrets.view, select: bootstrapSecrets(naming), log }, signal),
    ]);
    this.#cancelWait();
  }

  async #reconcile(queue: KeyedQueue, signal: AbortSignal): Promise<Outcome> {
    const { configMaps, naming, client } = this.#options;
    const namespace = naming.publicNamespace;
    const item = configMaps.view.peek({ namespace, name });
    if (item === undefined || item.corrupted || isDeleting(item.object())) return 'done';
    const data = (item.object()['data'] ?? {}) as Readonly<Record<string, string>>;
    const signed = data[signedKey];
    if (signed === undefined) return 'done';
    const signatures = await signaturesOf(signed, await this.#signers(queue, signal));
    if (holdsExactly(data, signatures)) return 'done';
    const object = cloneJson(item.object()) as ApiObject;
    object['data'] = withSignatures(data, signatures);
    metaOf(object).resourceVersion = String(item.revision);
    try {
      const path = { namespace, name, subresource: '' };
      await client.update(configMaps, { path, object }, signal);
    } catch (error) {
      // It is another one by now, of which an event tells.
      const code = error instanceof StatusError ? error.code : 0;
      if (code !== 404 && code !== 409) throw error;
    }
    return 'done';
  }

  /** The tokens that may sign now; looks again when the first of them expires. */
  async #signers(queue: KeyedQueue, signal: AbortSignal): Promise<readonly BootstrapToken[]> {
    const { secrets, naming, clock } = this.#options;
    const page = { limitCount: 0 };
    const at = { mode: 'any' } as const;
    const { items } = await secrets.view.list(bootstrapSecrets(naming), at, page, signal);
    const nowMs = clock.nowMs();
    const tokens = items
      .map((item) => readBootstrapToken(item, naming))
      .filter((token) => token?.canSign === true && token.expiresAtMs > nowMs)
      .filter((token) => token !== undefined);
    const nextMs = Math.min(...tokens.map(({ expiresAtMs }) => expiresAtMs - nowMs));
    this.#cancelWait();
    const delayMs = Math.min(nextMs, limits.bootstrapExpiryCheckMs);
    if (nextMs < Infinity) this.#cancelWait = clock.after(delayMs, () => queue.add(name));
    return tokens;
  }
}

/** By key of the config map. */
async function signaturesOf(
  signed: string,
  tokens: readonly BootstrapToken[],
): Promise<ReadonlyMap<string, string>> {
  const signatures = new Map<string, string>();
  for (const { id, secret } of tokens) {
    const jws = await new CompactSign(Buffer.from(signed))
      .setProtectedHeader({ alg: 'HS256', kid: id })
      .sign(Buffer.from(`${id}.${secret}`));
    const [header = '', , signature = ''] = jws.split('.');
    signatures.set(`${signaturePrefix}${id}`, `${header}..${signature}`);
  }
  return signatures;
}

const isSignature = (key: string): boolean => key.startsWith(signaturePrefix);

function holdsExactly(
  data: Readonly<Record<string, string>>,
  signatures: ReadonlyMap<string, string>,
): boolean {
  const held = Object.entries(data).filter(([key]) => isSignature(key));
  const isHeld = ([key, value]: readonly [string, string]): boolean =>
    signatures.get(key) === value;
  return held.length === signatures.size && held.every(isHeld);
}

const withSignatures = (
  data: Readonly<Record<string, string>>,
  signatures: ReadonlyMap<string, string>,
): JsonObject =>
  Object.fromEntries([...Object.entries(data).filter(([key]) => !isSignature(key)), ...signatures]);
