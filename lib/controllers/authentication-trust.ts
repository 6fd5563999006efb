// Publishes in a config map of the system namespace whom this server believes, for the API servers
// behind it: its client CAs, and the CA, names and headers of front proxies. Every replica adds its
// own to what others have published; certificates go when they have expired.
import { X509Certificate } from 'node:crypto';
import { cloneJson, jsonEqual } from '../api/json-value.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { certificateBlocks } from '../base/certificate-bundle.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import { follow } from '../cacher/follow.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isDeleting, metaOf } from '../codec/object-meta.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';

/** Headers, prefixes and names as the flags have them. */
export interface FrontProxyTrust {
  /** PEM. */
  readonly ca: string;
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

export interface PublishedTrust {
  /** PEM. */
  readonly clientCa: string;
  /** undefined: no front proxy is believed. */
  readonly frontProxy: FrontProxyTrust | undefined;
}

export interface AuthenticationTrustOptions {
  readonly configMaps: ResourceStore;
  /** What this replica believes now. */
  readonly own: () => PublishedTrust;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

const name = 'extension-apiserver-authentication';

export class AuthenticationTrust implements Controller {
  readonly name = 'cluster_authentication_trust_controller';
  readonly #options: AuthenticationTrustOptions;
  readonly #queue: KeyedQueue;

  constructor(options: AuthenticationTrustOptions) {
    this.#options = options;
    const { clock, log, observer } = options;
    this.#queue = new KeyedQueue({ name: this.name, clock, log, observer }, (_key, running) =>
      this.#reconcile(running),
    );
  }

  /** What is believed has changed. */
  changed(): void {
    this.#queue.add(name);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { configMaps, naming, log } = this.#options;
    const { view } = configMaps;
    const select = { namespace: naming.systemNamespace, name, showsUnreadable: true };
    const changed = (): void => this.changed();
    const follower = { present: changed, absent: changed, synced: changed };
    await Promise.all([this.#queue.run(signal), follow(follower, { view, select, log }, signal)]);
  }

  /** From memory: what it does not know yet comes as an event, and adds the key again. */
  async #reconcile(signal: AbortSignal): Promise<Outcome> {
    const { configMaps, own, naming, clock } = this.#options;
    const namespace = naming.systemNamespace;
    const item = configMaps.view.peek({ namespace, name });
    if (item !== undefined && (item.corrupted || isDeleting(item.object()))) return 'done';
    const held = (item?.object()['data'] ?? {}) as Readonly<Record<string, string>>;
    const mine = dataOf(own());
    const data = combined(held, mine, clock.nowMs());
    if (item !== undefined && jsonEqual(held, data)) return 'done';
    try {
      await this.#write(item, data, signal);
    } catch (error) {
      const code = error instanceof StatusError ? error.code : 0;
      // Too much has come together: what others need they publish again.
      if (code === 413 || code === 422) await this.#write(item, combined({}, mine, 0), signal);
      // Another replica was first: an event tells what it wrote.
      else if (code !== 409) throw error;
    }
    return 'done';
  }

  async #write(
    item: Item | undefined,
    data: Record<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    const { configMaps, naming, client } = this.#options;
    const namespace = naming.systemNamespace;
    if (item === undefined) {
      const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data };
      await client.create(configMaps, { namespace, object }, signal);
      return;
    }
    const object = cloneJson(item.object()) as ApiObject;
    object['data'] = data;
    metaOf(object).resourceVersion = String(item.revision);
    const path = { namespace, name, subresource: '' };
    await client.update(configMaps, { path, object }, signal);
  }
}

const certificateKeys: readonly string[] = ['client-ca-file', 'requestheader-client-ca-file'];

function dataOf({ clientCa, frontProxy }: PublishedTrust): Record<string, string> {
  const data: Record<string, string> = { 'client-ca-file': clientCa };
  if (frontProxy === undefined) return data;
  return {
    ...data,
    'requestheader-client-ca-file': frontProxy.ca,
    'requestheader-allowed-names': JSON.stringify(frontProxy.allowedNames),
    'requestheader-username-headers': JSON.stringify(frontProxy.usernameHeaders),
    'requestheader-uid-headers': JSON.stringify(frontProxy.uidHeaders),
    'requestheader-group-headers': JSON.stringify(frontProxy.groupHeaders),
    'requestheader-extra-headers-prefix': JSON.stringify(frontProxy.extraPrefixes),
  };
}

/** What another replica has published stays beside what this one does; anything else goes. */
function combined(
  held: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
  nowMs: number,
): Record<string, string> {
  const all: Record<string, string> = {};
  for (const key of publishedKeys) {
    const [before = '', mine = ''] = [held[key], own[key]];
    if (before === '' && mine === '') continue;
    all[key] = certificateKeys.includes(key)
      ? certificatesOf([before, mine], nowMs)
      : JSON.stringify([...new Set([...textsOf(before), ...textsOf(mine)])]);
    if (all[key] === '') Reflect.deleteProperty(all, key);
  }
  return all;
}

const publishedKeys: readonly string[] = [
  ...certificateKeys,
  'requestheader-allowed-names',
  'requestheader-username-headers',
  'requestheader-uid-headers',
  'requestheader-group-headers',
  'requestheader-extra-headers-prefix',
];

/** Clocks of machines differ: a certificate is kept a little longer. */
const expirySlackMs = 5 * 60_000;

/** PEM of those that can be read and have not expired, each once. */
function certificatesOf(bundles: readonly string[], nowMs: number): string {
  const known = new Map<string, string>();
  for (const block of bundles.flatMap(certificateBlocks)) {
    try {
      const certificate = new X509Certificate(block);
      const isOver = certificate.validToDate.getTime() + expirySlackMs <= nowMs;
      if (!isOver) known.set(certificate.fingerprint256, certificate.toString());
    } catch {
      // Somebody else wrote it; nobody could use it.
    }
  }
  return [...known.values()].join('');
}

/** None, where somebody wrote something else. */
function textsOf(json: string): readonly string[] {
  try {
    const list = JSON.parse(json) as unknown;
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}
