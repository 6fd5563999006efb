// A client configuration file: which server is called, and as whom. Pure: takes the parsed file and
// tells which other files belong to it. What this client does not do is refused by name.
import { isAbsolute, join } from 'node:path';
import { execClusterConfig, parseExec } from './exec-config.ts';
import type { ExecConfig } from './exec-config.ts';
import { impersonationOf } from './impersonation.ts';
import type { SentHeaders } from './impersonation.ts';
import { parseProxy } from './proxy.ts';
import type { ProxySettings } from './proxy.ts';
import { SettingsError } from './settings-error.ts';
import { decodeBase64 } from './target-settings.ts';

/** A PEM text or token in the file itself, or the path of the file that holds it. */
export type Held =
  | { readonly text: string; readonly path?: undefined }
  | { readonly path: string; readonly text?: undefined };

export interface Kubeconfig {
  readonly server: string;
  readonly serverName: string | undefined;
  readonly isServerUnchecked: boolean;
  readonly ca: Held | undefined;
  readonly proxy: ProxySettings | undefined;
  readonly clientCertificate: { readonly cert: Held; readonly key: Held } | undefined;
  readonly token: Held | undefined;
  readonly basic: { readonly username: string; readonly password: string } | undefined;
  /** Whom it acts as. */
  readonly impersonation: SentHeaders | undefined;
  /** Of a user whom no token or password names. */
  readonly exec: ExecConfig | undefined;
}

/** Who calls. */
export type KubeconfigUser = Pick<
  Kubeconfig,
  'clientCertificate' | 'token' | 'basic' | 'impersonation' | 'exec'
>;

/** Users of a file by name; names are patterns of hosts. */
export interface KubeconfigUsers {
  readonly byName: ReadonlyMap<string, KubeconfigUser>;
  /** That of the current context. */
  readonly current: KubeconfigUser | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * @param folder that paths of the file are relative to
 * @throws SettingsError that names the field
 */
export function parseKubeconfig(data: unknown, folder: string): Kubeconfig {
  const file = fieldsOf(data, 'the file');
  const current = textOf(file, 'current-context');
  if (current === undefined) throw new SettingsError('current-context is missing');
  const context = entryOf(file, 'contexts', current, 'context');
  const clusterName = textOf(context, 'cluster');
  if (clusterName === undefined) {
    throw new SettingsError(`the context ${JSON.stringify(current)} names no cluster`);
  }
  const cluster = entryOf(file, 'clusters', clusterName, 'cluster');
  const userName = textOf(context, 'user');
  const user = userName === undefined ? {} : entryOf(file, 'users', userName, 'user');
  const clusterConfig = execClusterConfig(cluster['extensions']);
  const who = userOf(user, folder);
  const exec = who.exec && {
    ...who.exec,
    ...(clusterConfig === undefined ? {} : { clusterConfig }),
  };
  return { ...clusterOf(cluster, folder), ...who, exec };
}

/**
 * Of a file that is asked for identities alone: it needs no cluster and no context.
 * @throws SettingsError that names the field
 */
export function parseKubeconfigUsers(data: unknown, folder: string): KubeconfigUsers {
  const file = fieldsOf(data, 'the file');
  const byName = new Map<string, KubeconfigUser>();
  for (const one of listOf(file, 'users')) {
    const name = textOf(fieldsOf(one, 'an entry of users'), 'name');
    if (name === undefined) throw new SettingsError('an entry of users has no name');
    const user = entryOf(file, 'users', name, 'user');
    byName.set(name, userOf(user, folder));
  }
  const context = textOf(file, 'current-context');
  const userName =
    context === undefined
      ? undefined
      : textOf(entryOf(file, 'contexts', context, 'context'), 'user');
  if (userName === undefined) return { byName, current: undefined };
  entryOf(file, 'users', userName, 'user');
  return { byName, current: byName.get(userName) };
}

function clusterOf(
  cluster: Fields,
  folder: string,
): Pick<Kubeconfig, 'server' | 'serverName' | 'isServerUnchecked' | 'ca' | 'proxy'> {
  const server = textOf(cluster, 'server');
  if (server === undefined) throw new SettingsError('server of the cluster is missing');
  const isServerUnchecked = cluster['insecure-skip-tls-verify'] ?? false;
  if (typeof isServerUnchecked !== 'boolean') {
    throw new SettingsError('insecure-skip-tls-verify must be true or false');
  }
  const ca = heldOf(cluster, 'certificate-authority', folder);
  if (isServerUnchecked && ca !== undefined) {
    throw new SettingsError(
      'insecure-skip-tls-verify and certificate-authority exclude each other',
    );
  }
  // Nothing is ever asked for that is compressed.
  if (typeof (cluster['disable-compression'] ?? true) !== 'boolean') {
    throw new SettingsError('disable-compression must be true or false');
  }
  const proxyUrl = textOf(cluster, 'proxy-url');
  const proxy = proxyUrl === undefined ? undefined : parseProxy(proxyUrl, 'proxy-url');
  return { server, serverName: textOf(cluster, 'tls-server-name'), isServerUnchecked, ca, proxy };
}

function userOf(user: Fields, folder: string): KubeconfigUser {
  if ((user['auth-provider'] ?? '') !== '') {
    throw new SettingsError('auth-provider is not supported: use exec');
  }
  const cert = heldOf(user, 'client-certificate', folder);
  const key = heldOf(user, 'client-key', folder);
  if ((cert === undefined) !== (key === undefined)) {
    throw new SettingsError('client-certificate and client-key need each other');
  }
  const tokenFile = textOf(user, 'tokenFile');
  const tokenText = textOf(user, 'token');
  const username = textOf(user, 'username');
  if (username !== undefined && (tokenFile ?? tokenText) !== undefined) {
    throw new SettingsError('token and username exclude each other');
  }
  const token =
    tokenFile !== undefined
      ? { path: inFolder(folder, tokenFile) }
      : tokenText === undefined
        ? undefined
        : { text: tokenText };
  const exec = user['exec'] ?? undefined;
  const plugin = exec === undefined ? undefined : parseExec(exec, folder);
  return {
    impersonation: impersonationOf(user),
    exec: token === undefined && username === undefined ? plugin : undefined,
    clientCertificate: cert === undefined || key === undefined ? undefined : { cert, key },
    token,
    basic:
      username === undefined ? undefined : { username, password: textOf(user, 'password') ?? '' },
  };
}

/** `FIELD-data` in base64 goes before the path in `FIELD`. */
function heldOf(fields: Fields, field: string, folder: string): Held | undefined {
  const data = textOf(fields, `${field}-data`);
  if (data !== undefined) return { text: decodeBase64(data, `${field}-data`) };
  const path = textOf(fields, field);
  return path === undefined ? undefined : { path: inFolder(folder, path) };
}

const inFolder = (folder: string, path: string): string =>
  isAbsolute(path) ? path : join(folder, path);

function entryOf(file: Fields, list: string, name: string, field: string): Fields {
  for (const one of listOf(file, list)) {
    const entry = fieldsOf(one, `an entry of ${list}`);
    if (entry['name'] === name) {
      return fieldsOf(entry[field] ?? {}, `${field} of ${JSON.stringify(name)}`);
    }
  }
  throw new SettingsError(`${list} has no entry ${JSON.stringify(name)}`);
}

function listOf(file: Fields, list: string): readonly unknown[] {
  const entries = file[list] ?? [];
  if (!Array.isArray(entries)) throw new SettingsError(`${list} must be a list`);
  return entries as readonly unknown[];
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SettingsError(`${what} must hold named fields`);
  }
  return value as Fields;
}

/** Empty texts count as not given. */
function textOf(fields: Fields, field: string): string | undefined {
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new SettingsError(`${field} must be text`);
  return value;
}
