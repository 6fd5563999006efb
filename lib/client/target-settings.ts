// What a target is called with: URL, trusted CAs, own certificate, Authorization header. Made whole
// or not at all, so that what is half written never comes into use. Errors show no secret.
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import tls from 'node:tls';
import { CertificateBundle, certificateBlocks } from '../base/certificate-bundle.ts';
import { execRequest } from './exec-config.ts';
import type { ExecConfig, ExecRequest } from './exec-config.ts';
import type { SentHeaders } from './impersonation.ts';
import type { ProxySettings } from './proxy.ts';
import { SettingsError } from './settings-error.ts';

/** Who a server is for the one that it calls. */
export interface Identity {
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
  readonly authorization?: string;
  /** Whom it acts as beside. */
  readonly headers?: SentHeaders;
  /** What is not said above is said by a program. */
  readonly exec?: ExecConfig;
}

/** PEM texts and secrets as configured. */
export interface SettingsSource extends Identity {
  readonly url: string;
  /** PEM, any number of certificates; not given: the roots of the system. */
  readonly ca?: string;
  /** Checked instead of the host of the URL. */
  readonly serverName?: string;
  readonly isServerUnchecked?: boolean;
  /** Not given: it is called directly. */
  readonly proxy?: ProxySettings;
}

export interface TargetSettings {
  /** As configured: for messages. */
  readonly url: string;
  /** Name or IP to look up, without brackets. */
  readonly host: string;
  readonly port: number;
  /** Host with port as configured, for labels and the Host header. */
  readonly authority: string;
  readonly path: string;
  readonly serverName: string;
  readonly isServerUnchecked: boolean;
  readonly secureContext: tls.SecureContext;
  /** Of the CAs that are trusted, made when needed; undefined: the roots of the system are. */
  readonly bundle: (() => CertificateBundle) | undefined;
  readonly authorization: string | undefined;
  /** That go with every request. */
  readonly headers: SentHeaders | undefined;
  readonly proxy: ProxySettings | undefined;
  /** Says the rest of who calls. */
  readonly exec: ExecRequest | undefined;
  /**
   * The same target for somebody whom the program has named.
   * @throws SettingsError
   */
  readonly calledAs: (identity: Identity) => TargetSettings;
}

/** @throws SettingsError that names what is wrong */
export function makeSettings(source: SettingsSource): TargetSettings {
  const { url, authorization } = source;
  const parsed = parseUrl(url);
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1');
  if (authorization !== undefined && !/^[\x21-\x7e]+ [\x21-\x7e]+$/.test(authorization)) {
    throw new SettingsError('the token holds nothing, or characters that no header may have');
  }
  return {
    url,
    host,
    port: parsed.port === '' ? 443 : Number(parsed.port),
    authority: /^https:\/\/([^/?#]+)/i.exec(url)?.[1] ?? parsed.host,
    path: parsed.pathname,
    serverName: source.serverName ?? host,
    isServerUnchecked: source.isServerUnchecked ?? false,
    secureContext: secureContextOf(source),
    bundle: source.ca === undefined ? undefined : bundleOf(source.ca),
    authorization,
    headers: source.headers,
    proxy: source.proxy,
    exec: execOf(source),
    calledAs(identity) {
      const { exec: _, ...known } = source;
      return makeSettings({ ...identity, ...known });
    },
  };
}

function execOf(source: SettingsSource): ExecRequest | undefined {
  const { exec, url, serverName, isServerUnchecked = false, ca, proxy } = source;
  return (
    exec &&
    execRequest(exec, { server: url, serverName, isServerUnchecked, ca, proxyUrl: proxy?.url })
  );
}

/** @throws SettingsError that names the field */
export function decodeBase64(text: string, field: string): string {
  const packed = text.replaceAll(/\s/g, '');
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) {
    throw new SettingsError(`${field} is not base64`);
  }
  return Buffer.from(packed, 'base64').toString('utf8');
}

function parseUrl(url: string): URL {
  const parsed = URL.parse(url);
  if (parsed === null) throw new SettingsError('the URL cannot be read');
  if (parsed.username !== '' || parsed.password !== '') {
    throw new SettingsError('the URL must not hold a user or password');
  }
  if (parsed.protocol !== 'https:') {
    throw new SettingsError(`the URL ${JSON.stringify(url)} is no https:// URL`);
  }
  if (/[?#]/.test(url)) {
    throw new SettingsError(`the URL ${JSON.stringify(url)} must not have a query or a fragment`);
  }
  return parsed;
}

function secureContextOf({ ca, clientCertificate }: SettingsSource): tls.SecureContext {
  const trusted = ca === undefined ? systemRoots() : certificatesOf(ca);
  if (clientCertificate === undefined) {
    return ca === undefined ? systemContext() : contextOf({ ca: trusted });
  }
  try {
    return contextOf({ ca: trusted, ...clientCertificate });
  } catch (cause) {
    const why = cause instanceof Error && 'reason' in cause ? ` (${String(cause.reason)})` : '';
    throw new SettingsError(
      `the client certificate and its key are no pair of PEM texts that can be used${why}`,
    );
  }
}

/** Any certificate that is trusted ends a path, as upstream: it need not be a root. */
const contextOf = (options: tls.SecureContextOptions): tls.SecureContext =>
  tls.createSecureContext({ allowPartialTrustChain: true, ...options });

function bundleOf(ca: string): () => CertificateBundle {
  let made: CertificateBundle | undefined;
  return () => (made ??= new CertificateBundle(ca));
}

/**
 * TLS itself takes what it can read of a bundle and stays silent about the rest.
 * @throws SettingsError when the text is not only whole certificates
 */
function certificatesOf(pem: string): string[] {
  const blocks = certificateBlocks(pem);
  const isWhole = pem.match(/-----(BEGIN|END) /g)?.length === 2 * blocks.length;
  if (blocks.length === 0 || !isWhole || !blocks.every(isCertificate)) {
    throw new SettingsError('the CA bundle is not one PEM certificate or more');
  }
  return blocks;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** Reading and trusting the hundreds of them takes tens of milliseconds, once. */
let roots: string[] | undefined;
let rootsContext: tls.SecureContext | undefined;
const systemRoots = (): string[] => (roots ??= tls.getCACertificates('system'));
const systemContext = (): tls.SecureContext => (rootsContext ??= contextOf({ ca: systemRoots() }));

/** The Server Name Indication, which no IP address may be. */
export const indicationFor = (name: string): string => (isIP(name) === 0 ? name : '');
