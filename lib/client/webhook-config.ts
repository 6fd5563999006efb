// `clientConfig` of a webhook, as API objects hold it: a URL, or a service that the caller resolves
// to addresses; with the CAs that are trusted.
import type { Address, Resolve } from './addresses.ts';
import type { Places } from './connection-pool.ts';
import type { ProxyFor } from './proxy.ts';
import { SettingsError } from './settings-error.ts';
import { decodeBase64, makeSettings } from './target-settings.ts';
import type { Identity, TargetSettings } from './target-settings.ts';

export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    /** 443 when not given. */
    readonly port?: number;
  };
  /** Base64 of PEM; empty, or of nothing but white space: the roots of the system. */
  readonly caBundle?: string;
}

export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Where the services of a cluster are. */
export interface ServicesOfCluster {
  /** Where connections to a port of a service are made; rejects when there is no such place. */
  resolve(service: ServicePort, signal: AbortSignal): Promise<readonly Address[]>;
  /** The same, of memory alone: the same object until it changes; undefined: unknown, or none. */
  places(service: ServicePort): Places | undefined;
}

export interface WebhookSettings {
  readonly settings: TargetSettings;
  readonly resolve: Resolve;
  /** Of a service alone. */
  readonly places?: () => Places | undefined;
}

/**
 * @param resolve of hosts that are no services
 * @param identityOf who the server is for `HOST:PORT`, where it is anybody
 * @throws SettingsError that names the field
 */
export function webhookSettings(
  { url, service, caBundle = '' }: WebhookClientConfig,
  {
    resolve,
    services,
    identityOf = nobody,
    proxyFor,
  }: {
    readonly resolve: Resolve;
    readonly services: ServicesOfCluster;
    readonly identityOf?: ((hostAndPort: string) => Identity) | undefined;
    /** Of hosts that are no services: the connections of those are made to where they are. */
    readonly proxyFor?: ProxyFor | undefined;
  },
): WebhookSettings {
  const bundle = decodeBase64(caBundle, 'caBundle');
  const ca = bundle.trim() === '' ? {} : { ca: bundle };
  if (service === undefined) {
    if (url === undefined) throw new SettingsError('url or service is missing');
    const { host, port } = makeSettings({ url });
    const proxy = proxyFor?.(url);
    const via = proxy === undefined ? {} : { proxy };
    const identity = identityOf(`${host}:${port}`);
    return { settings: makeSettings({ url, ...ca, ...via, ...identity }), resolve };
  }
  if (url !== undefined) throw new SettingsError('url and service exclude each other');
  const { namespace, name, port = 443 } = service;
  const identity = identityOf(`${name}.${namespace}.svc:${port}`);
  return {
    settings: makeSettings({ url: webhookUrl({ service }), ...ca, ...identity }),
    resolve: (_host, signal) => services.resolve({ namespace, name, port }, signal),
    places: () => services.places({ namespace, name, port }),
  };
}

const nobody = (): Identity => ({});

/** As configured; that of a service has the name that its certificate needs. */
export function webhookUrl({ url = '', service }: WebhookClientConfig): string {
  if (service === undefined) return url;
  const { namespace, name, path = '/', port = 443 } = service;
  return `https://${name}.${namespace}.svc:${String(port)}${path}`;
}
