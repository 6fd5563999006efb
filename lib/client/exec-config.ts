// `exec` of a user of a client configuration: a program that says as whom the server calls. Pure:
// what is configured, what the program is told, and what its answer must be.
import { join } from 'node:path';
import { namingProfile } from '../api/vendor.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { SettingsError } from './settings-error.ts';

export interface ExecConfig {
  /** `client.authentication.…/v1` or `…/v1beta1`, in either spelling. */
  readonly apiVersion: string;
  /** A path, or the name of a program that is looked for in `PATH`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint: string;
  readonly providesClusterInfo: boolean;
  /** Of the extensions of the cluster: what the program is told beside the cluster. */
  readonly clusterConfig?: unknown;
}

/** What the program is told of the cluster. */
export interface ExecCluster {
  readonly server: string;
  readonly serverName: string | undefined;
  readonly isServerUnchecked: boolean;
  readonly ca: string | undefined;
  readonly proxyUrl: string | undefined;
}

/** One run of a program. */
export interface ExecRequest {
  readonly config: ExecConfig;
  /** What is added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
}

interface Form {
  readonly naming: NamingProfile;
  readonly version: 'v1' | 'v1beta1';
}

const forms: ReadonlyMap<string, Form> = new Map(
  [namingProfile('kubernetes'), namingProfile('svc')].flatMap((naming) =>
    (['v1', 'v1beta1'] as const).map((version) => [
      naming.resolve(`client.authentication.{v}/${version}`),
      { naming, version },
    ]),
  ),
);

type Fields = Readonly<Record<string, unknown>>;

/**
 * @param folder that a path is relative to
 * @throws SettingsError that names the field
 */
export function parseExec(exec: unknown, folder: string): ExecConfig {
  const fields = fieldsOf(exec, 'exec');
  const apiVersion = textAt(fields, 'apiVersion');
  const form = forms.get(apiVersion);
  if (form === undefined) {
    throw new SettingsError(`exec.apiVersion must be one of ${[...forms.keys()].join(', ')}`);
  }
  const command = textAt(fields, 'command');
  if (command === '') throw new SettingsError('exec.command is missing');
  checkMode(textAt(fields, 'interactiveMode'), form);
  const providesClusterInfo = fields['provideClusterInfo'] ?? false;
  if (typeof providesClusterInfo !== 'boolean') {
    throw new SettingsError('exec.provideClusterInfo must be true or false');
  }
  return {
    apiVersion,
    // A name alone is looked for in PATH.
    command: command.includes('/') && !command.startsWith('/') ? join(folder, command) : command,
    args: textsAt(fields, 'args'),
    env: Object.fromEntries(listAt(fields, 'env').map(variableOf)),
    installHint: textAt(fields, 'installHint'),
    providesClusterInfo,
  };
}

function checkMode(mode: string, { version }: Form): void {
  if (mode === '' && version === 'v1beta1') return; // IfAvailable
  if (mode === 'Never' || mode === 'IfAvailable') return;
  throw new SettingsError(
    mode === 'Always'
      ? 'exec.interactiveMode: Always is not supported, nobody sits at the server'
      : 'exec.interactiveMode must be Never or IfAvailable',
  );
}

function variableOf(entry: unknown): [name: string, value: string] {
  const variable = fieldsOf(entry, 'an entry of exec.env');
  const name = textAt(variable, 'name');
  if (!/^[^=\0]+$/.test(name)) throw new SettingsError('an entry of exec.env has no name');
  return [name, textAt(variable, 'value')];
}

/** The extension of a cluster that is meant for such programs; undefined: there is none. */
export function execClusterConfig(extensions: unknown): unknown {
  if (!Array.isArray(extensions)) return undefined;
  const names = new Set([...forms.values()].map(({ naming }) => nameOfExtension(naming)));
  const found = (extensions as readonly unknown[])
    .map((one) => fieldsOf(one, 'an entry of extensions'))
    .find(({ name }) => names.has(String(name)));
  return found?.['extension'];
}

const nameOfExtension = (naming: NamingProfile): string =>
  naming.resolve('client.authentication.{v}/exec');

export function execRequest(config: ExecConfig, cluster: ExecCluster): ExecRequest {
  const { apiVersion, env } = config;
  const about = config.providesClusterInfo ? { cluster: clusterOf(cluster, config) } : {};
  const info = { kind, apiVersion, spec: { ...about, interactive: false } };
  const variable = forms.get(apiVersion)?.naming.execInfoVariable ?? '';
  return { config, env: { ...env, [variable]: JSON.stringify(info) } };
}

const clusterOf = (cluster: ExecCluster, { clusterConfig }: ExecConfig): Fields => ({
  server: cluster.server,
  ...(cluster.serverName === undefined ? {} : { 'tls-server-name': cluster.serverName }),
  ...(cluster.isServerUnchecked ? { 'insecure-skip-tls-verify': true } : {}),
  ...(cluster.ca === undefined
    ? {}
    : { 'certificate-authority-data': Buffer.from(cluster.ca).toString('base64') }),
  ...(cluster.proxyUrl === undefined ? {} : { 'proxy-url': cluster.proxyUrl }),
  ...(clusterConfig === undefined ? {} : { config: clusterConfig }),
});

/** What a program answers; at least one of both. */
export interface ExecAnswer {
  readonly token: string | undefined;
  readonly clientCertificate: { readonly cert: string; readonly key: string } | undefined;
  /** Milliseconds since the epoch; Infinity: it does not expire. */
  readonly expiresMs: number;
}

const kind = 'ExecCredential';

/** @throws SettingsError that says what is wrong and shows nothing of `output` but its version */
export function readExecAnswer(output: string, { apiVersion }: ExecConfig): ExecAnswer {
  let data: unknown;
  try {
    data = JSON.parse(output);
  } catch {
    throw new SettingsError('its output is not JSON');
  }
  const answer = fieldsOf(data, 'its output');
  if (answer['kind'] !== kind) throw new SettingsError(`its output is not of kind ${kind}`);
  checkVersion(textAt(answer, 'apiVersion'), apiVersion);
  if (answer['status'] === undefined || answer['status'] === null) {
    throw new SettingsError('its output has no status');
  }
  const status = fieldsOf(answer['status'], 'status of its output');
  const token = textAt(status, 'token');
  const cert = textAt(status, 'clientCertificateData');
  const key = textAt(status, 'clientKeyData');
  if ((cert === '') !== (key === '')) {
    throw new SettingsError('its output has only one of clientCertificateData and clientKeyData');
  }
  if (token === '' && cert === '') {
    throw new SettingsError('its output has neither a token nor a certificate with its key');
  }
  return {
    token: token === '' ? undefined : token,
    clientCertificate: cert === '' ? undefined : { cert, key },
    expiresMs: timeOf(textAt(status, 'expirationTimestamp')),
  };
}

/** Programs answer in their own spelling, whatever they are asked in. */
function checkVersion(answered: string, configured: string): void {
  if (forms.get(answered)?.version === forms.get(configured)?.version) return;
  const shown = JSON.stringify(answered.slice(0, 100));
  throw new SettingsError(`it is configured for ${configured} and answers in ${shown}`);
}

function timeOf(text: string): number {
  if (text === '') return Infinity;
  const ms = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) throw new SettingsError('expirationTimestamp of its output is no time');
  return ms;
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SettingsError(`${what} must hold named fields`);
  }
  return value as Fields;
}

/** '' where it is not given. */
function textAt(fields: Fields, field: string): string {
  const value = (Object.hasOwn(fields, field) ? fields[field] : undefined) ?? '';
  if (typeof value !== 'string') throw new SettingsError(`${field} must be text`);
  return value;
}

function listAt(fields: Fields, field: string): readonly unknown[] {
  const value = fields[field] ?? [];
  if (!Array.isArray(value)) throw new SettingsError(`exec.${field} must be a list`);
  return value as readonly unknown[];
}

const textsAt = (fields: Fields, field: string): readonly string[] =>
  listAt(fields, field).map((one) => {
    if (typeof one !== 'string') throw new SettingsError(`exec.${field} must be a list of texts`);
    return one;
  });
