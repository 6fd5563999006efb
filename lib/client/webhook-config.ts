// `clientConfig` of a webhook, as API objects hold it: a URL, or a service that the caller resolves
// to addresses; with the CAs that are trusted.
import type { Address, Resolve } from './addresses.ts';
import { SettingsError, decodeBase64, makeSettings } from './target-settings.ts';
import type { TargetSettings } from './target-settings.ts';

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

/** Addresses of the endpoints behind a port of a service; rejects when there are none. */
export type ResolveService = (
  service: ServicePort,
  signal: AbortSignal,
) => Promise<readonly Address[]>;

export interface WebhookSettings {
  readonly settings: TargetSettings;
  readonly resolve: Resolve;
}

/**
 * @param resolve of hosts that are no services
 * @throws SettingsError that names the field
 */
export function webhookSettings(
  { url, service, caBundle = '' }: WebhookClientConfig,
  {
    resolve,
    resolveService,
  }: { readonly resolve: Resolve; readonly resolveService: ResolveService },
): WebhookSettings {
  const bundle = decodeBase64(caBundle, 'caBundle');
  const ca = bundle.trim() === '' ? {} : { ca: bundle };
  if (service === undefined) {
    if (url === undefined) throw new SettingsError('url or service is missing');
    return { settings: makeSettings({ url, ...ca }), resolve };
  }
  if (url !== undefined) throw new SettingsError('url and service exclude each other');
  const { namespace, name, port = 443 } = service;
  return {
    settings: makeSettings({ url: webhookUrl({ service }), ...ca }),
    resolve: (_host, signal) => resolveService({ namespace, name, port }, signal),
  };
}

/** As configured; that of a service has the name that its certificate needs. */
export function webhookUrl({ url = '', service }: WebhookClientConfig): string {
  if (service === undefined) return url;
  const { namespace, name, path = '/', port = 443 } = service;
  return `https://${name}.${namespace}.svc:${String(port)}${path}`;
}
