// Proxies that calls may go through: the one that a client configuration names, or the one that the
// environment has for a URL, by the rules of Go's httpproxy. No message quotes a user or password.
import { BlockList, isIP } from 'node:net';
import { SettingsError } from './settings-error.ts';

export interface ProxySettings {
  readonly scheme: 'http' | 'https' | 'socks5';
  /** Name or IP to look up, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly user: { readonly name: string; readonly password: string } | undefined;
  /** For messages: without user and password. */
  readonly url: string;
}

/** Of the URL of a target; undefined: it is called directly. */
export type ProxyFor = (url: string) => ProxySettings | undefined;

const ports = { http: 80, https: 443, socks5: 1080 } as const;

/**
 * @param what names it in errors: a field, or a variable of the environment
 * @throws SettingsError
 */
export function parseProxy(text: string, what: string): ProxySettings {
  const url = URL.parse(text);
  if (url === null || url.hostname === '') throw new SettingsError(`${what} is not a URL`);
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https' && scheme !== 'socks5') {
    throw new SettingsError(
      `${what} has the scheme ${JSON.stringify(scheme)}, it must be http, https or socks5`,
    );
  }
  const { username, password } = url;
  const isUser = username !== '' || password !== '';
  return {
    scheme,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? ports[scheme] : Number(url.port),
    user: isUser ? { name: unescaped(username), password: unescaped(password) } : undefined,
    url: `${scheme}://${url.host}`,
  };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Told only where the proxy is needed that nobody can use. */
export function environmentProxies(environment: Environment): ProxyFor {
  const of = (name: string): string => environment[name] || environment[name.toLowerCase()] || '';
  const isDirect = exceptions(of('NO_PROXY'));
  // Every call goes to https: what HTTP_PROXY says is for other URLs.
  const text = of('HTTPS_PROXY').replace(/^socks5h:/i, 'socks5:');
  if (text === '') return () => undefined;
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  let made: ProxySettings | undefined;
  return (target) => {
    const url = URL.parse(target);
    if (url === null) return undefined;
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isDirect(host, url.port === '' ? '443' : url.port)) return undefined;
    return (made ??= parseProxy(withScheme, 'HTTPS_PROXY of the environment'));
  };
}

type Matches = (host: string, port: string) => boolean;

const familyOf = (ip: string): 'ipv4' | 'ipv6' => (isIP(ip) === 4 ? 'ipv4' : 'ipv6');

/** Hosts that are called directly: this one, and those of NO_PROXY. */
function exceptions(noProxy: string): Matches {
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  const entries = noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '');
  const matches = entries.map(matcherOf);
  return (host, port) =>
    host === 'localhost' ||
    (isIP(host) !== 0 && loopback.check(host, familyOf(host))) ||
    matches.some((isMatch) => isMatch(host.toLowerCase(), port));
}

function matcherOf(entry: string): Matches {
  if (entry === '*') return () => true;
  const [network = '', bits = '', ...rest] = entry.split('/');
  const isNetwork =
    isIP(network) !== 0 &&
    /^\d{1,3}$/.test(bits) &&
    Number(bits) <= (isIP(network) === 4 ? 32 : 128);
  if (isNetwork && rest.length === 0) return ofNetwork(network, Number(bits));
  const split = /^(?:\[([^\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(entry);
  const name = split === null ? entry : (split[1] ?? split[2] ?? '');
  const onlyPort = split?.[3] ?? '';
  const isPort = (port: string): boolean => onlyPort === '' || onlyPort === port;
  if (name === '') return () => false;
  if (isIP(name) !== 0) {
    const isOne = ofNetwork(name, isIP(name) === 4 ? 32 : 128);
    return (host, port) => isPort(port) && isOne(host, port);
  }
  return ofDomain(name, isPort);
}

function ofNetwork(network: string, bits: number): Matches {
  const list = new BlockList();
  list.addSubnet(network, bits, familyOf(network));
  return (host) => isIP(host) !== 0 && list.check(host, familyOf(host));
}

/** `a.b` is itself and all below it; `.a.b` and `*.a.b` only what is below. */
function ofDomain(name: string, isPort: (port: string) => boolean): Matches {
  const domain = name.startsWith('*.') ? name.slice(1) : name;
  const suffix = ascii(domain.startsWith('.') ? domain : `.${domain}`);
  const itself = domain.startsWith('.') ? undefined : suffix.slice(1);
  return (host, port) => isPort(port) && (host.endsWith(suffix) || host === itself);
}

/** Names of other scripts as URLs have them. */
const ascii = (suffix: string): string => {
  const host = URL.parse(`https://x${suffix}`)?.hostname;
  return host === undefined ? suffix : host.slice(1);
};
